"""The functions passed to the viewer: localization of edited step lists, and reading and saving annotations."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from crosstask.records import Localization, StepInterval, Task, VideoKey
from crosstask.runs import Change, RunFolder, RunVideo


@dataclass(frozen=True)
class EditedLocalization:
    """The localization of an edited step list in a video, its scores (T, K), how it was computed, and notes for the user."""

    localization: Localization
    scores: npt.NDArray[np.floating]
    how: str  # 'model': scored from features; 'kept scores': only steps whose scores are stored in the run
    notes: tuple[str, ...] = ()


class Learning(Protocol):
    """Learning from labels in the background; every method returns the state, in the shape `LearningShape`."""

    def start(self) -> dict[str, Any]:
        """Begin, unless a training is running."""
        ...

    def state(self) -> dict[str, Any]:
        """What happens now, and what the proposal would move."""
        ...

    def accept(self) -> dict[str, Any]:
        """Put the proposal in place."""
        ...

    def undo(self) -> dict[str, Any]:
        """Discard the proposal, or undo the last accepted one."""
        ...


@dataclass(frozen=True)
class ViewerBackend:
    """Functions that the viewer calls. `annotated_videos` lists the videos for which `read_annotation` is not None."""

    localize_steps: Callable[[RunFolder, str, RunVideo, tuple[str, ...]], EditedLocalization]  # run, method, video, step names
    annotated_videos: Callable[[], frozenset[VideoKey]]
    read_annotation: Callable[[VideoKey, Task], tuple[StepInterval, ...] | None]
    save_annotation: Callable[..., str]  # key, intervals, steps, last change seen; returns the file's name inside the run folder
    label_step: Callable[..., Change]  # key, step, label or None, drawn, last change seen
    confirm_step: Callable[..., Change]  # key, step, drawn, last change seen, answer seen
    undo: Callable[[int], Change]  # number of the change
    read_relevance: Callable[[], Mapping[VideoKey, str]]
    save_relevance: Callable[[VideoKey, str | None], None]
    learning: Learning | None = None  # None: not possible here, `why_not_learning` says why
    why_not_learning: str = ""
    labels_changed: Callable[[], None] = lambda: None  # called after every change of labels
    finish: Callable[[], None] = lambda: None  # called when the server ends
    localizes_new_steps: bool = False  # True if a model and features are available
