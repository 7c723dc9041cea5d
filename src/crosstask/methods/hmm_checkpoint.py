"""Checkpoints of EM: an interrupted training of the default method resumes after its last saved iteration and ends with the same bytes."""

import hashlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import numpy.typing as npt

from crosstask.learning.hmm.class_means import FactoredKernel
from crosstask.learning.hmm.em import EmRun, EmState
from crosstask.learning.hmm.statistics import ClassIndex, HmmVideo, assign_folds
from crosstask.learning.hmm.task_prior import N_BINS, TaskPrior
from crosstask.methods.zhukov19_checkpoint import FORMAT, kept_bytes, read_kept, refuse_another, update_with_rows
from crosstask.records import InputError
from crosstask.storage import write_bytes

log = logging.getLogger(__name__)


@dataclass
class HmmCheckpoint:
    """Saves the state of EM to `path`, at most every `every_s` seconds, and resumes from it."""

    path: Path
    every_s: float = 5.0
    _description: Mapping[str, Any] = field(default_factory=dict)
    _saved_at: float = field(default_factory=monotonic)

    def resume(self, videos: Sequence[HmmVideo], runs: Sequence[EmRun], sharing: str) -> list[EmState]:
        """The states in the file if they belong to this training: of the runs that ended, and of one that did not; none without a file."""
        chosen = [asdict(run.settings) for run in runs]
        for settings in chosen:
            del settings["mean_prior"]["noise"]  # computed from the data, which are compared by their fingerprint
        about = {"method": "hmm", "sharing": sharing, "runs": chosen}
        self._description = {"format": FORMAT, "settings": about, "data": fingerprint(videos, [run.classes for run in runs])}
        if not self.path.exists():
            return []
        arrays, kept = read_kept(self.path)
        refuse_another(self.path, kept, self._description)
        found = _states_from(arrays, kept)
        if not _are_sound(found, videos, runs):
            raise InputError(f"{self.path}: damaged: its arrays do not fit this training; delete it to start anew")
        log.warning("resumed at epoch %d", sum(state.iterations for state in found))  # one epoch is one iteration of EM
        return found

    def save(self, states: Sequence[EmState]) -> None:
        """Write the states of the runs so far, unless some were written less than `every_s` ago."""
        if monotonic() - self._saved_at >= self.every_s:
            backgrounds = [[prior.background_duration for prior in state.priors] for state in states]
            done = [state.iterations for state in states]
            about = {**self._description, "iterations": done, "background_durations": backgrounds}
            write_bytes(self.path, kept_bytes(_arrays_of(states), about))
            self._saved_at = monotonic()

    def delete(self) -> None:
        """Delete the checkpoint: the training is complete."""
        self.path.unlink(missing_ok=True)


def fingerprint(videos: Sequence[HmmVideo], indices: Sequence[ClassIndex]) -> str:
    """A digest of the training data: kernels, windows, labels, lengths, and all rows."""
    digest = hashlib.sha256(repr([classes.n_steps for classes in indices]).encode())
    for classes in indices:
        kernel = classes.kernel.factor.toarray() if isinstance(classes.kernel, FactoredKernel) else classes.kernel
        digest.update(np.ascontiguousarray(kernel).tobytes())
        if classes.directions is not None:
            digest.update(np.ascontiguousarray(classes.directions).tobytes())
    for video in videos:
        digest.update(f"{video.task} {video.rows.shape}".encode())
        digest.update(np.packbits(video.windows).tobytes())
        if video.known is not None:
            for part in (video.known.inside, video.known.outside, video.known.labelled):
                digest.update(np.packbits(part).tobytes())
        update_with_rows(digest, video.rows)
    return digest.hexdigest()


def _arrays_of(states: Sequence[EmState]) -> dict[str, npt.NDArray[np.generic]]:
    arrays: dict[str, npt.NDArray[np.generic]] = {}
    for run, state in enumerate(states):
        arrays |= {f"{run}.counts": state.counts, f"{run}.sums": state.sums}
        for number, prior in enumerate(state.priors):
            for name in ("position", "duration", "presence"):
                arrays[f"{run}.{name}.{number:04d}"] = np.ascontiguousarray(getattr(prior, name))
    return arrays


def _states_from(arrays: Mapping[str, npt.NDArray[Any]], kept: Mapping[str, Any]) -> list[EmState]:
    """The states in a file; none where a part is missing."""
    try:
        pairs = enumerate(zip(kept["iterations"], kept["background_durations"], strict=True))
        return [_state_from(arrays, run, int(done), backgrounds) for run, (done, backgrounds) in pairs]
    except (KeyError, TypeError, ValueError, OverflowError):
        return []


def _state_from(arrays: Mapping[str, npt.NDArray[Any]], run: int, iterations: int, backgrounds: Sequence[float]) -> EmState:
    priors = [
        TaskPrior(
            arrays[f"{run}.position.{i:04d}"].copy(),
            arrays[f"{run}.duration.{i:04d}"].copy(),
            float(background_duration),
            arrays[f"{run}.presence.{i:04d}"].copy(),
        )
        for i, background_duration in enumerate(backgrounds)
    ]
    return EmState(iterations, arrays[f"{run}.counts"].copy(), arrays[f"{run}.sums"].copy(), tuple(priors))


def _are_sound(states: Sequence[EmState], videos: Sequence[HmmVideo], runs: Sequence[EmRun]) -> bool:
    """True if the states are those of the first runs, all but the last one complete, and each fits its run."""
    complete = all(state.iterations == run.settings.iterations for state, run in zip(states[:-1], runs, strict=False))
    fit = all(_is_sound(state, videos, run) for state, run in zip(states, runs, strict=False))
    return 0 < len(states) <= len(runs) and complete and fit


def _is_sound(state: EmState, videos: Sequence[HmmVideo], run: EmRun) -> bool:
    """True if every array has the shape that this training needs, and all values are finite."""
    classes, settings = run
    kinds = 1 + any(video.known is not None for video in videos)
    shape = (kinds, max(assign_folds(videos, settings.folds, settings.fold_seed)) + 1, len(classes.kernel))
    if state.counts.shape != shape or state.sums.shape != (*shape, videos[0].rows.shape[1]):
        return False
    arrays = [state.counts, state.sums, *(part for p in state.priors for part in (p.position, p.duration, p.presence))]
    fits = [
        p.position.shape == (N_BINS, n + 1) and p.duration.shape == p.presence.shape == (n,)
        for p, n in zip(state.priors, classes.n_steps, strict=False)
    ]
    return bool(
        0 < state.iterations <= settings.iterations
        and len(state.priors) == len(classes.n_steps)
        and all(fits)
        and all(part.dtype == np.float64 and np.isfinite(part).all() for part in arrays)
        and all(np.isfinite(p.background_duration) and (p.position > 0).all() for p in state.priors)
    )
