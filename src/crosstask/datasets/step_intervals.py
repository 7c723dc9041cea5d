"""Annotations and narration windows: a file of each video, TASK_VIDEO.csv, with lines of step (from 1), start in s, end in s."""

import math
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from crosstask.datasets.text_files import csv_rows, read_text
from crosstask.records import InputError, Interval, StepInterval, Task, VideoKey, at_line, parse_video_key
from crosstask.storage import paths_in, write_text

_SHORTEST_S = 0.001  # ours: times are written to the millisecond, unless they would be 0


def read_step_intervals(path: Path, task: Task) -> tuple[StepInterval, ...]:
    """The step intervals of an annotation or constraint file; steps are numbered from 1 on disk, from 0 in memory."""
    return step_intervals_in(read_text(path), path, task)


def step_intervals_in(text: str, path: Path, task: Task) -> tuple[StepInterval, ...]:
    """The step intervals in the text of a file, which errors name."""
    return tuple(_step_interval(path, line, row, task) for line, row in csv_rows(path, text))


def _step_interval(path: Path, line: int, row: list[str], task: Task) -> StepInterval:
    try:
        step, start_s, end_s = int(row[0]), float(row[1]), float(row[2])
        if any(cell.strip() for cell in row[3:]):
            raise ValueError("seconds with a decimal comma would be read as other times")
    except (ValueError, IndexError):
        raise at_line(path, line, f"found {','.join(row)!r}; expected the numbers step,start,end, e.g. 2,10.5,14") from None
    if not 1 <= step <= len(task.steps):
        raise at_line(path, line, f"step {step} does not exist; '{task.title}' has {len(task.steps)}, numbered from 1")
    if not (math.isfinite(start_s) and math.isfinite(end_s) and start_s <= end_s and end_s > 0):
        raise at_line(path, line, f"runs from {row[1]} to {row[2]}; expected start before end, in seconds")
    return StepInterval(step - 1, Interval(max(0.0, start_s), end_s))


@dataclass(frozen=True)
class StepIntervalFiles(Mapping[VideoKey, tuple[StepInterval, ...]]):
    """Step intervals by video from the files `TASK_VIDEO.csv` of a folder, read lazily."""

    folder: Path
    tasks: Mapping[str, Task]
    renamed: Mapping[VideoKey, str] = field(default_factory=dict)  # key -> name of its file without .csv, where it is not the key

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(self._usable_names())

    def _usable_names(self) -> set[str]:
        return {path.name for path in paths_in(self.folder) if path.suffix == ".csv"}

    def path(self, key: VideoKey) -> Path:
        """Path of a video's file."""
        own = self.folder / f"{key}.csv"
        return self.folder / f"{self.renamed[key]}.csv" if key in self.renamed and own.name not in self._names else own

    def __contains__(self, key: object) -> bool:
        """True if the video has a file, and its task is known."""
        return isinstance(key, VideoKey) and key.task in self.tasks and self.path(key).name in self._names

    def __getitem__(self, key: VideoKey) -> tuple[StepInterval, ...]:
        """The step intervals of a video."""
        if key not in self:
            raise KeyError(key)
        return read_step_intervals(self.path(key), self.tasks[key.task])

    def __iter__(self) -> Iterator[VideoKey]:
        """The keys of the files that belong to a known task, sorted."""
        keys = {name: key for key, name in self.renamed.items()}
        for name in sorted(self._names):
            stem = name.removesuffix(".csv")
            if (key := key_of(stem, self.tasks)) is not None:
                yield keys.get(stem, key)

    def __len__(self) -> int:
        """Number of files that belong to a known task."""
        return sum(1 for _ in self)


def key_of(stem: str, tasks: Container[str]) -> VideoKey | None:
    """The video of one of the tasks whose file has this name; None for other files."""
    try:
        key = parse_video_key(stem, tasks)
    except InputError:
        return None
    return key if key.task in tasks else None


def write_step_intervals(path: Path, intervals: Iterable[StepInterval]) -> Path:
    """`path`, now holding the annotation or the windows of a video in the published format."""
    lines = (f"{s.step + 1},{_format_seconds(s.interval.start_s)},{_format_seconds(s.interval.end_s)}\n" for s in intervals)
    return write_text(path, "".join(lines))


def _format_seconds(value: float) -> str:
    digits = 3 if value == 0 or value >= _SHORTEST_S else 12  # an interval must not end at 0
    return f"{value:.{digits}f}".rstrip("0").rstrip(".")
