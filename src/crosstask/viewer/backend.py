"""What the viewer is handed from outside: how to parse new steps, and how to keep what a person marked."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crosstask.records import Localization, StepInterval, Task, VideoKey
from crosstask.runs import RunFolder, RunVideo

RELEVANCES = ("relevant", "irrelevant")


@dataclass(frozen=True)
class Reparsed:
    """The parse of a video for an edited step list: (T, K) scores beside it, how it was made, and what to tell the person."""

    localization: Localization
    scores: npt.NDArray[np.floating]
    how: str  # 'model': scored anew from features; 'kept scores': only steps whose scores the run holds
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ViewerBackend:
    """Functions the viewer calls and does not own. `annotated` lists the videos that `read_annotation` would answer for."""

    reparse: Callable[
        [RunFolder, str, RunVideo, tuple[str, ...]], Reparsed
    ]  # whose kept scores, of which method, video, step names
    annotated: Callable[[], frozenset[VideoKey]]
    read_annotation: Callable[[VideoKey, Task], tuple[StepInterval, ...] | None]
    save_annotation: Callable[[VideoKey, tuple[StepInterval, ...]], str]  # returns the file's name inside the run folder
    read_relevance: Callable[[], Mapping[VideoKey, str]]
    save_relevance: Callable[[VideoKey, str | None], None]
    parses_new_steps: bool = False  # a model and features are at hand
