"""The training videos as flat arrays for the kernels.

A row is *active* when some step may be put there: inside a window, or anywhere when there are none. Only active rows are ever read.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


class TaskArrays(NamedTuple):
    """Tasks: the numbers of their components, and their averaging matrices Â (K, m), all one after another."""

    n_steps: Ints
    first_component: Ints  # (tasks + 1,)
    components: Ints
    first_cell: Ints  # (tasks + 1,)
    averaging: npt.NDArray[np.float32]


class VideoArrays(NamedTuple):
    """Videos: where their rows lie, which are active, and which steps may be put there."""

    task: Ints
    n_segments: Ints
    first_row: Ints
    first_active: Ints  # (videos + 1,)
    active: npt.NDArray[np.int32]  # segments within the video
    first_allowed: Ints  # (videos + 1,)
    allowed: npt.NDArray[np.bool_]  # (active, K) of each video, one after another
    first_label: Ints  # (videos + 1,)


@dataclass(frozen=True)
class TaskOfSteps:
    """One task for the kernels: component numbers (m,) and averaging matrix (K, m)."""

    components: Ints
    averaging: npt.NDArray[np.floating]


@dataclass(frozen=True)
class TrainingVideo:
    """One video for the kernels: its task, where its rows begin, its length, and the allowed places (T, K), or None for all."""

    task: int
    first_row: int
    n_segments: int
    allowed: npt.NDArray[np.bool_] | None = None


def task_arrays(tasks: Sequence[TaskOfSteps]) -> TaskArrays:
    """All tasks as flat arrays."""
    averaging = [np.asarray(task.averaging, dtype=np.float32).ravel() for task in tasks]
    return TaskArrays(
        n_steps=np.array([len(task.averaging) for task in tasks], dtype=np.int64),
        first_component=_starts([len(task.components) for task in tasks]),
        components=np.concatenate([task.components for task in tasks]).astype(np.int64),
        first_cell=_starts([cells.size for cells in averaging]),
        averaging=np.concatenate(averaging),
    )


def video_arrays(videos: Sequence[TrainingVideo], tasks: TaskArrays) -> VideoArrays:
    """All videos as flat arrays; rows where nothing is allowed are left out."""
    active, allowed = [], []
    for video in videos:
        n_steps = int(tasks.n_steps[video.task])
        places = np.ones((video.n_segments, n_steps), np.bool_) if video.allowed is None else video.allowed
        kept = np.flatnonzero(places.any(axis=1))
        active.append(kept.astype(np.int32))
        allowed.append(places[kept].ravel())
    return VideoArrays(
        task=np.array([video.task for video in videos], dtype=np.int64),
        n_segments=np.array([video.n_segments for video in videos], dtype=np.int64),
        first_row=np.array([video.first_row for video in videos], dtype=np.int64),
        first_active=_starts([rows.size for rows in active]),
        active=np.concatenate(active),
        first_allowed=_starts([cells.size for cells in allowed]),
        allowed=np.concatenate(allowed),
        first_label=_starts([int(tasks.n_steps[video.task]) for video in videos]),
    )


def _starts(lengths: Sequence[int]) -> Ints:
    """Where each of several pieces begins when they stand one after another; the end of all is the last.

    >>> _starts([2, 3])
    array([0, 2, 5])
    """
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
