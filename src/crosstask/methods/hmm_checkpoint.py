"""A training by the best recipe that was stopped goes on after its last safe round, to the same bytes."""

import hashlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import numpy.typing as npt

from crosstask.learning.hmm.em import Classes, EmSettings, EmState, HmmVideo, assign_folds
from crosstask.learning.hmm.task_prior import N_BINS, TaskPrior
from crosstask.methods.zhukov19_checkpoint import FORMAT, kept_bytes, read_kept, refuse_another
from crosstask.records import InputError
from crosstask.storage import write_bytes

log = logging.getLogger(__name__)
_SAMPLED_ROWS = 97


@dataclass
class HmmCheckpoint:
    """Keeps the rounds done in `path`, at most every few seconds, and takes them up again."""

    path: Path
    every_s: float = 5.0
    _description: Mapping[str, Any] = field(default_factory=dict)
    _kept_at: float = field(default_factory=monotonic)

    def resume(self, videos: Sequence[HmmVideo], classes: Classes, settings: EmSettings, sharing: str) -> EmState | None:
        """The rounds in the file when they belong to this very training, or None when there is no file."""
        chosen = {"recipe": "best", "sharing": sharing} | asdict(settings)
        del chosen["looks"]["noise"]  # read off the data, which are compared as such
        self._description = {"format": FORMAT, "settings": chosen, "data": fingerprint(videos, classes)}
        if not self.path.exists():
            return None
        arrays, kept = read_kept(self.path)
        refuse_another(self.path, kept, self._description)
        found = _rounds_from(arrays, kept)
        if found is None or not _is_sound(found, videos, classes, settings):
            raise InputError(f"{self.path}: damaged: its arrays do not fit this training; delete it to start anew")
        log.warning("resumed at epoch %d", found.rounds)
        return found

    def keep(self, done: EmState) -> None:
        """Write the rounds done, unless that was done a moment ago."""
        if monotonic() - self._kept_at >= self.every_s:
            backgrounds = [habits.background_length for habits in done.habits]
            about = {**self._description, "rounds": done.rounds, "background_lengths": backgrounds}
            write_bytes(self.path, kept_bytes(_arrays_of(done), about))
            self._kept_at = monotonic()

    def forget(self) -> None:
        """The training is over: the checkpoint goes."""
        self.path.unlink(missing_ok=True)


def fingerprint(videos: Sequence[HmmVideo], classes: Classes) -> str:
    """A digest of what is learnt from: words, windows, lengths, and a sample of each video's rows."""
    digest = hashlib.sha256(repr(classes.n_steps).encode())
    digest.update(np.ascontiguousarray(classes.word_kernel).tobytes())
    for video in videos:
        digest.update(f"{video.task} {video.rows.shape}".encode())
        digest.update(np.packbits(video.windows).tobytes())
        digest.update(np.ascontiguousarray(video.rows[::_SAMPLED_ROWS]).tobytes())
    return digest.hexdigest()


def _arrays_of(done: EmState) -> dict[str, npt.NDArray[np.generic]]:
    arrays: dict[str, npt.NDArray[np.generic]] = {"counts": done.counts, "sums": done.sums}
    for number, habits in enumerate(done.habits):
        for name in ("position", "length", "presence"):
            arrays[f"{name}.{number:04d}"] = np.ascontiguousarray(getattr(habits, name))
    return arrays


def _rounds_from(arrays: Mapping[str, npt.NDArray[Any]], kept: Mapping[str, Any]) -> EmState | None:
    try:
        habits = [
            TaskPrior(
                arrays[f"position.{i:04d}"].copy(),
                arrays[f"length.{i:04d}"].copy(),
                float(at),
                arrays[f"presence.{i:04d}"].copy(),
            )
            for i, at in enumerate(kept["background_lengths"])
        ]
        return EmState(int(kept["rounds"]), arrays["counts"].copy(), arrays["sums"].copy(), tuple(habits))
    except (KeyError, TypeError, ValueError, OverflowError):
        return None


def _is_sound(done: EmState, videos: Sequence[HmmVideo], classes: Classes, settings: EmSettings) -> bool:
    """Whether every array has the shape this training needs, and every number is one."""
    n_folds, n_classes = max(assign_folds(videos, settings.folds)) + 1, len(classes.word_kernel)
    if done.counts.shape != (n_folds, n_classes) or done.sums.shape != (n_folds, n_classes, videos[0].rows.shape[1]):
        return False
    numbers = [done.counts, done.sums, *(part for h in done.habits for part in (h.position, h.length, h.presence))]
    fits = [
        h.position.shape == (N_BINS, n + 1) and h.length.shape == h.presence.shape == (n,)
        for h, n in zip(done.habits, classes.n_steps, strict=False)
    ]
    return bool(
        0 < done.rounds <= settings.rounds
        and len(done.habits) == len(classes.n_steps)
        and all(fits)
        and all(part.dtype == np.float64 and np.isfinite(part).all() for part in numbers)
        and all(np.isfinite(h.background_length) and (h.position > 0).all() for h in done.habits)
    )
