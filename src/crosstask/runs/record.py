"""What a run is: tasks, videos with what is known of them, the compared methods, and their figures. Holds no clock: same run, same bytes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from crosstask.records import StepInterval, Task, VideoKey

FORMAT = 1


@dataclass(frozen=True)
class RunVideo:
    """A video of a run: its length, its media file (absolute, or relative to the run folder) and what is known of its steps."""

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
    results: Mapping[str, Any] = field(default_factory=dict)  # method -> what `evaluate --json` prints
    losses: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    version: str = ""
