"""The description of a run: tasks, videos with truth and windows, methods and their results. It has no date: the same run has the same bytes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from crosstask.records import StepInterval, Task, VideoKey

FORMAT = 1  # version of run.json and localizations.json


@dataclass(frozen=True)
class RunVideo:
    """A video of a run: number of segments, media file (absolute, or relative to the run folder), annotation and windows if known."""

    task: str
    id: str
    n_segments: int
    media: str | None = None
    truth: tuple[StepInterval, ...] | None = None
    windows: tuple[StepInterval, ...] | None = None

    @property
    def key(self) -> VideoKey:
        """Its (task, video) key."""
        return VideoKey(self.task, self.id)


@dataclass(frozen=True)
class Run:
    """The description of a run, `run.json`. The first method is the main one."""

    title: str
    kind: str  # demo, run, train or experiment
    command: str
    seed: int
    synthetic: bool
    tasks: Mapping[str, Task]
    videos: tuple[RunVideo, ...]
    methods: tuple[str, ...]
    results: Mapping[str, Any] = field(default_factory=dict)  # method -> the JSON of `evaluate`
    losses: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    version: str = ""
