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

    def resume(self, videos: Sequence[HmmVideo], runs: Sequence[EmRun], sharing: str) -> dict[int, EmState]:
        """The states in the file by number of their run, if they belong to this training; none without a file."""
        chosen = [asdict(run.settings) for run in runs]
        for settings in chosen:
            del settings["mean_prior"]["noise"]  # computed from the data, which are compared by their fingerprint
        about = {"method": "hmm", "sharing": sharing, "runs": chosen}
        self._description = {"format": FORMAT, "settings": about, "data": fingerprint(videos, [run.classes for run in runs])}
        if not self.path.exists():
            return {}
        arrays, kept = read_kept(self.path)
        refuse_another(self.path, kept, self._description)
        found = _states_from(arrays, kept)
        if not _are_sound(found, videos, runs):
            raise InputError(f"{self.path}: damaged: its arrays do not fit this training; delete it to start anew")
        log.warning("resumed at epoch %d", sum(state.iterations for state in found.values()))  # one epoch is one iteration of EM
        return found

    def save(self, states: Mapping[int, EmState]) -> None:
        """Write the states of the runs so far, by their number, unless some were written less than `every_s` ago."""
        if monotonic() - self._saved_at >= self.every_s:
            backgrounds = {run: [prior.background_duration for prior in state.priors] for run, state in states.items()}
            done = {run: state.iterations for run, state in states.items()}
            about = {**self._description, "iterations": done, "background_durations": backgrounds}
            write_bytes(self.path, kept_bytes(_arrays_of(states), about))
            self._saved_at = monotonic()


def fingerprint(videos: Sequence[HmmVideo], indices: Sequence[ClassIndex]) -> str:
    """A digest of the training data: kernels, windows, labels, lengths, and all rows."""
    digest = hashlib.sha256(repr([classes.n_steps for classes in indices]).encode())
    for classes in indices:
        factor = classes.kernel.factor if isinstance(classes.kernel, FactoredKernel) else None
        for part in (classes.kernel,) if factor is None else (factor.data, factor.indices, factor.indptr):
            digest.update(np.ascontiguousarray(part).tobytes())
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


def _arrays_of(states: Mapping[int, EmState]) -> dict[str, npt.NDArray[np.generic]]:
    arrays: dict[str, npt.NDArray[np.generic]] = {}
    for run, state in sorted(states.items()):
        arrays |= {f"{run}.counts": state.counts, f"{run}.sums": state.sums}
        for number, prior in enumerate(state.priors):
            for name in ("position", "duration", "presence"):
                arrays[f"{run}.{name}.{number:04d}"] = np.ascontiguousarray(getattr(prior, name))
    return arrays


def _states_from(arrays: Mapping[str, npt.NDArray[Any]], kept: Mapping[str, Any]) -> dict[int, EmState]:
    """The states in a file; none where a part is missing."""
    try:
        backgrounds = kept["background_durations"]
        return {int(run): _state_from(arrays, int(run), int(done), backgrounds[run]) for run, done in kept["iterations"].items()}
    except (KeyError, TypeError, ValueError, OverflowError, AttributeError):
        return {}


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


def _are_sound(states: Mapping[int, EmState], videos: Sequence[HmmVideo], runs: Sequence[EmRun]) -> bool:
    """True if there are states, and each fits its run."""
    return bool(states) and all(run in range(len(runs)) and _is_sound(state, videos, runs[run]) for run, state in states.items())


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
