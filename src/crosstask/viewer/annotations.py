"""What a person marks in a run: `annotations/TASK_VIDEO.csv` in the published format, and `relevance.json`. One writer at a time."""

import json
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from crosstask.records import InputError, StepInterval, Task, VideoKey, parse_video_key, refuse_escaping_id
from crosstask.runs import RunFolder, refuse_outside
from crosstask.storage import blocking_lock, read_text, write_json
from crosstask.viewer.backend import RELEVANCES

FORMAT = 1  # version of relevance.json
LOCK_FILE = ".annotations.lock"  # of storage.locks for the path `annotations`


@dataclass(frozen=True)
class AnnotationStore:
    """Annotations and relevance judgements of a run, in its folder.

    `read_intervals` and `write_intervals` read and write one annotation file in the published format.
    """

    run: RunFolder
    read_intervals: Callable[[Path, Task], tuple[StepInterval, ...]]
    write_intervals: Callable[[Path, tuple[StepInterval, ...]], object]
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def _folder(self) -> Path:
        return refuse_outside(self.run.folder, self.run.folder / "annotations")

    def annotated_videos(self) -> frozenset[VideoKey]:
        """The videos of the run with a saved annotation."""
        try:
            names = {entry.name for entry in os.scandir(self._folder)}
        except FileNotFoundError:
            return frozenset()
        return frozenset(video.key for video in self.run.run.videos if f"{video.key}.csv" in names)

    def read_annotation(self, key: VideoKey, task: Task) -> tuple[StepInterval, ...] | None:
        """The saved intervals of a video, or None."""
        path = self._file(key)
        return self.read_intervals(path, task) if path.is_file() else None

    def save_annotation(self, key: VideoKey, intervals: tuple[StepInterval, ...]) -> str:
        """Write the intervals and return the file name inside the run folder; the last of several writers wins as a whole."""
        path = self._file(key)
        with self._exclusive():
            self.write_intervals(path, intervals)
        return f"annotations/{path.name}"

    def _file(self, key: VideoKey) -> Path:
        name = refuse_escaping_id(f"{key}.csv", "video")
        return refuse_outside(self.run.folder, self._folder / name)

    def read_relevance(self) -> Mapping[VideoKey, str]:
        """The relevance of each judged video."""
        path = refuse_outside(self.run.folder, self.run.folder / "relevance.json")
        if not path.is_file():
            return {}
        try:
            videos = json.loads(read_text(path, "utf-8"))["videos"]
            return {parse_video_key(key): relevance for key, relevance in videos.items() if relevance in RELEVANCES}
        except (ValueError, KeyError, TypeError, AttributeError):
            raise InputError("relevance.json: damaged; repair it or delete it, and mark the videos again") from None

    def save_relevance(self, key: VideoKey, relevance: str | None) -> None:
        """Save the relevance of one video, or remove it with None; judgements of other writers are kept."""
        with self._exclusive():
            videos = {str(video): kept for video, kept in self.read_relevance().items() if video != key}
            if relevance is not None:
                videos[str(key)] = relevance
            write_json(self.run.folder / "relevance.json", {"format": FORMAT, "videos": videos})

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        """A block with one writer at a time: threads exclude each other by a lock object, processes by a kernel lock."""
        refuse_outside(self.run.folder, self.run.folder / LOCK_FILE)
        with self.lock, blocking_lock(self.run.folder / "annotations", lambda process: None):
            yield
