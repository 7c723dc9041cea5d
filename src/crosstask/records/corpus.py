"""A corpus: tasks, the videos listed under them, and whatever is known of each video."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from crosstask.records.interval import StepInterval
from crosstask.records.label import StepLabel
from crosstask.records.narration import Narration
from crosstask.records.problem import InputError
from crosstask.records.task import Task
from crosstask.records.text_side import TextSide
from crosstask.records.video import Video, VideoKey

Array = npt.NDArray[np.generic]


class FeatureRows(Protocol):
    """Feature rows by video id: one row a second."""

    def __contains__(self, video_id: object) -> bool: ...
    def __iter__(self) -> Iterator[str]: ...
    def length(self, video_id: str) -> int:
        """T, the number of segments."""
        ...

    def rows(self, video_id: str) -> npt.NDArray[np.floating]:
        """(T, D), possibly memory-mapped: not to be written to."""
        ...

    def stack(self, video_ids: Sequence[str]) -> tuple[npt.NDArray[np.floating], dict[str, int]]:
        """(R, D) that holds the rows of these videos (and maybe others), and where each video's rows begin."""
        ...


@dataclass(frozen=True)
class NoFeatures:
    """The features of a corpus that has none."""

    def __contains__(self, video_id: object) -> bool:
        """Never."""
        return False

    def __iter__(self) -> Iterator[str]:
        """Nothing."""
        return iter(())

    def length(self, video_id: str) -> int:
        """Always refused."""
        raise InputError(f"video {video_id}: this corpus has no features")

    def rows(self, video_id: str) -> npt.NDArray[np.floating]:
        """Always refused."""
        raise InputError(f"video {video_id}: this corpus has no features; extract or download them first")

    def stack(self, video_ids: Sequence[str]) -> tuple[npt.NDArray[np.floating], dict[str, int]]:
        """Always refused."""
        raise InputError("this corpus has no features; extract or download them first")


def stack_rows(features: FeatureRows, video_ids: Sequence[str]) -> tuple[npt.NDArray[np.floating], dict[str, int]]:
    """The rows of some videos one after another in memory, and where each begins; half precision is kept."""
    arrays = [np.asarray(features.rows(video_id)) for video_id in video_ids]
    dtype = np.float16 if all(rows.dtype == np.float16 for rows in arrays) else np.float32
    starts = np.concatenate([[0], np.cumsum([len(rows) for rows in arrays])])
    widths = sorted({rows.shape[1] for rows in arrays})
    if len(widths) > 1:
        odd = next(v for v, rows in zip(video_ids, arrays, strict=True) if rows.shape[1] != arrays[0].shape[1])
        raise InputError(f"video {odd}: features of another width; found {widths} columns in one corpus, expected one number")
    return np.concatenate(arrays).astype(dtype, copy=False), {
        v: int(start) for v, start in zip(video_ids, starts[:-1], strict=True)
    }


@dataclass(frozen=True, repr=False)
class Corpus:
    """Tasks by id, rows of videos in file order, and lazy look-ups of what is known of each.

    Mappings may read files when asked; a key is absent where the corpus has nothing.
    """

    name: str
    tasks: Mapping[str, Task]
    videos: tuple[Video, ...]
    validation: frozenset[VideoKey] = frozenset()
    seconds: Mapping[str, int] = field(default_factory=dict)
    annotations: Mapping[VideoKey, tuple[StepInterval, ...]] = field(default_factory=dict)
    windows: Mapping[VideoKey, tuple[StepInterval, ...]] = field(default_factory=dict)
    subtitles: Mapping[str, Narration] = field(default_factory=dict)
    features: FeatureRows = field(default_factory=NoFeatures)
    folder: Path | None = None
    feature_spec: str = "unknown"
    labels: Mapping[VideoKey, tuple[StepLabel, ...]] = field(default_factory=dict)  # hard supervision that training may use
    text_side: TextSide | None = None  # of image-text features

    def __repr__(self) -> str:
        """Counts of tasks, videos and what is known of them, as far as it can be read now."""
        known = {}
        for name, look_up in (("annotations", self.annotations), ("narration windows", self.windows)):
            with suppress(InputError):  # windows that are being written
                known[name] = sum(video.key in look_up for video in self.videos)
        known = {
            "features": sum(video.id in self.features for video in self.videos),
            **known,
            "subtitles": sum(video.id in self.subtitles for video in self.videos),
        }
        parts = ", ".join(f"{count} with {name}" for name, count in known.items() if count)
        return f"Corpus '{self.name}': {len(self.tasks)} tasks, {len(self.videos)} videos{f' ({parts})' if parts else ''}"

    def _repr_html_(self) -> str:
        """A small table for notebooks: at most 30 tasks."""
        from html import escape

        counts: dict[str, int] = {}
        for video in self.videos:
            counts[video.task] = counts.get(video.task, 0) + 1
        rows = "".join(
            f"<tr><td>{escape(t.id)}</td><td>{escape(t.title)}</td><td>{len(t.steps)}</td><td>{counts.get(t.id, 0)}</td></tr>"
            for t in list(self.tasks.values())[:30]
        )
        head = "<tr><th>task</th><th>title</th><th>steps</th><th>videos</th></tr>"
        return f"<table><caption>{escape(repr(self))}</caption>{head}{rows}</table>"

    def task_of(self, video: Video) -> Task:
        """The task a video is listed under."""
        return self.tasks[video.task]

    def windows_of(self, video: Video) -> tuple[StepInterval, ...]:
        """The narration windows of a video, none where it has no entry; an error for a step that its task does not have."""
        return self._checked(self.windows.get(video.key, ()), video, "window")

    def annotation_of(self, video: Video) -> tuple[StepInterval, ...]:
        """The annotation of a video that has one; an error for a step that its task does not have."""
        return self._checked(self.annotations[video.key], video, "annotation")

    def _checked(self, found: Iterable[StepInterval], video: Video, what: str) -> tuple[StepInterval, ...]:
        """The intervals of a video; readers of files have checked them, a corpus made in Python may have others."""
        found, n_steps = tuple(found), len(self.task_of(video).steps)
        if unknown := [one.step for one in found if not 0 <= one.step < n_steps]:
            raise InputError(
                f"{what} of video {video.key}: step {unknown[0]} does not exist; expected 0 to {n_steps - 1}, and no entry for background"
            )
        return found

    def primary_tasks(self) -> list[Task]:
        """The tasks that are evaluated, in file order."""
        return [task for task in self.tasks.values() if task.primary]

    def videos_of(self, task_id: str) -> list[Video]:
        """The videos listed under a task, in file order."""
        return list(self._by_task.get(task_id, ()))

    @cached_property
    def _by_task(self) -> dict[str, list[Video]]:
        found: dict[str, list[Video]] = {}
        for video in self.videos:
            found.setdefault(video.task, []).append(video)
        return found

    def n_segments(self, video: Video) -> int:
        """T of a video: its feature rows, or the published count of seconds."""
        if video.id in self.features:
            return self.features.length(video.id)
        if video.id in self.seconds:
            return self.seconds[video.id]
        raise InputError(f"video {video.key}: length unknown; expected features for it, or a line in video_seconds.csv")

    def knows_length(self, video: Video) -> bool:
        """Whether T is known."""
        return video.id in self.features or video.id in self.seconds

    def only(self, videos: Iterable[Video]) -> "Corpus":
        """The same corpus with fewer (or reordered) videos."""
        return replace(self, videos=tuple(videos))

    def only_tasks(self, task_ids: Iterable[str]) -> "Corpus":
        """The same corpus with some tasks and their videos."""
        kept = set(task_ids)
        tasks = {task_id: task for task_id, task in self.tasks.items() if task_id in kept}
        return replace(self, tasks=tasks, videos=tuple(v for v in self.videos if v.task in kept))

    def without_windows(self) -> "Corpus":
        """The same corpus, narration forgotten."""
        return replace(self, windows={})
