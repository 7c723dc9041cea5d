"""What a person marks in a run: labels of steps (`labels.jsonl`, see `runs/labels.py`) and relevance (`relevance.json`). One writer at a time.

Saving the labels of a video also writes `annotations/TASK_VIDEO.csv`, all its shown steps in the published format, for other programs.
"""

import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from crosstask.records import FoundStep, InputError, Interval, StepInterval, StepLabel, Task, VideoKey, refuse_escaping_id
from crosstask.runs import Change, RunFolder, RunLabel, confirmed, label_of, refuse_outside
from crosstask.runs.relevance import read_relevance, save_relevance
from crosstask.storage import blocking_lock, file_signature, raise_if_disk_failed

LOCK_FILE = ".annotations.lock"  # of storage.locks for the path `annotations`


@dataclass(frozen=True)
class AnnotationStore:
    """Labels and relevance judgements of a run, in its folder; `write_intervals` writes one annotation file in the published format.

    `content_of` computes the digest of a video file: nothing is saved of a file that is no longer the one of the run.
    """

    run: RunFolder
    write_intervals: Callable[[Path, tuple[StepInterval, ...]], object]
    content_of: Callable[[Path], str] | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def annotated_videos(self) -> frozenset[VideoKey]:
        """The videos of the run with a label."""
        return frozenset(key for key in self.run.labels.labels() if key in self.run.n_segments)

    def read_annotation(self, key: VideoKey, task: Task) -> tuple[StepInterval, ...] | None:
        """The labelled intervals of a video, for a moment the one shown around it; None without a label."""
        labels = self.run.labels.labels().get(key)
        if labels is None:
            return None
        return tuple(StepInterval(step, interval) for step, label in labels.items() for interval in _intervals_of(label))

    def save_annotation(
        self, key: VideoKey, intervals: tuple[StepInterval, ...], steps: Collection[int] | None = None, seen: int | None = None
    ) -> str:
        """Label the steps (all by default) with their intervals, or as not shown; returns the annotation file inside the run folder."""
        self._raise_if_changed(key)
        labelled = range(len(self.run.run.tasks[key.task].steps)) if steps is None else sorted(set(steps))
        labels = [
            self._label(key, step, StepLabel(step, intervals=tuple(s.interval for s in intervals if s.step == step)))
            for step in labelled
        ]
        path = self._file(key)
        change = self.run.labels.append(key, labels, "viewer", seen=seen)
        self._write(key)
        self._refresh(self._videos_of(change) - {key})
        return f"annotations/{path.name}"

    def label_step(
        self, key: VideoKey, step: int, said: StepLabel | None, drawn: str | None = None, seen: int | None = None
    ) -> Change:
        """The change that labels one step, or removes its label with None."""
        self._raise_if_changed(key)
        change = self.run.labels.append(key, [self._label(key, step, said)], "review" if drawn else "viewer", drawn, seen)
        self._refresh(self._videos_of(change))
        return change

    def confirm_step(
        self, key: VideoKey, step: int, drawn: str | None = None, seen: int | None = None, answer: StepLabel | None = None
    ) -> Change:
        """The change that labels one step with the answer that is shown; an error if the person saw another `answer`."""
        now = confirmed(step, self._found(key, step))
        if answer is not None and answer != now:
            raise InputError(
                f"step {step + 1} has another answer since this page was loaded; nothing was saved: look at it again"
            )
        return self.label_step(key, step, now, drawn, seen)

    def undo(self, number: int) -> Change:
        """The change with this number, now undone."""
        self.run.raise_if_remade()
        change = self.run.labels.undo(number)
        self._refresh(self._videos_of(change))
        return change

    def _raise_if_changed(self, key: VideoKey) -> None:
        """An error if the run was made again, or if the file of the video is another than that of the run: the person saw something else."""
        self.run.raise_if_remade()
        video = next((video for video in self.run.run.videos if video.key == key), None)
        path = None if video is None else self.run.media(video)
        if video is None or video.content is None or path is None or self.content_of is None:
            return
        content_of = self.content_of
        try:
            content = self.run.remember(f"content of {key}", file_signature(path), lambda: content_of(path))
        except OSError as error:
            raise_if_disk_failed(error)
            return  # the file is gone, and nothing was watched
        if content != video.content:
            raise InputError(f"{path.name} was replaced after the run; nothing was saved: repeat `crosstask run`")

    def _label(self, key: VideoKey, step: int, said: StepLabel | None) -> RunLabel:
        return label_of(step, self._found(key, step), said, self.run.n_segments[key])

    def _found(self, key: VideoKey, step: int) -> FoundStep:
        """The step as the run shows it now."""
        task = self.run.run.tasks[key.task]
        if not 0 <= step < len(task.steps):
            raise InputError(f"step {step + 1} does not exist; the task has {len(task.steps)}, numbered from 1")
        found = self._steps(key)
        return found[step] if step < len(found) else FoundStep(task.steps[step], 0.0, 0.0, 0.0, 1.0, shown=False)

    def _steps(self, key: VideoKey) -> list[FoundStep]:
        found = self.run.localizations.get(next(iter(self.run.run.methods), ""), {}).get(key)
        return [] if found is None else found.steps

    def _videos_of(self, change: Change) -> set[VideoKey]:
        """The videos that a change is of: those of its task with the file that it is of, whatever its name was then."""
        contents = self.run.contents.items()
        same = {key for key, content in contents if (key.task, content) == (change.key.task, change.content)}
        return same or ({change.key} & self.run.n_segments.keys())

    def _refresh(self, keys: Collection[VideoKey]) -> None:
        """Rewrite the annotation files of videos, where there are any, with the steps as they are now."""
        for key in sorted(keys):
            if self._file(key).is_file():
                self._write(key)

    def refresh_all(self) -> None:
        """Rewrite the annotation files of all videos with labels: their steps may have other numbers, labels or answers."""
        labels = self.run.labels
        self._refresh(({change.key for change in labels.changes()} | labels.labels().keys()) & self.run.n_segments.keys())

    def _write(self, key: VideoKey) -> None:
        """Write the annotation file of a video: its shown steps as they are now, whatever other pages and processes said meanwhile."""
        with self._exclusive():
            self.write_intervals(self._file(key), tuple(self._shown_intervals(key)))

    def _shown_intervals(self, key: VideoKey) -> Iterator[StepInterval]:
        steps, labels = self._steps(key), self.run.labels.labels().get(key, {})
        for k in range(len(self.run.run.tasks[key.task].steps)):
            if k >= len(steps):  # the run has no answer, perhaps a label
                yield from (StepInterval(k, interval) for interval in (_intervals_of(labels[k]) if k in labels else ()))
            elif steps[k].shown:
                found = steps[k].intervals or (Interval(steps[k].start_s, steps[k].end_s),)
                yield from (StepInterval(k, interval) for interval in found)

    def _file(self, key: VideoKey) -> Path:
        name = refuse_escaping_id(f"{key}.csv", "video")
        folder = refuse_outside(self.run.folder, self.run.folder / "annotations")
        return refuse_outside(self.run.folder, folder / name)

    def read_relevance(self) -> Mapping[VideoKey, str]:
        """The relevance of each judged video."""
        signature, run = file_signature(self.run.folder / "relevance.json"), self.run
        return run.remember("relevance", signature, lambda: read_relevance(run.folder, run.contents, run.run.tasks))

    def save_relevance(self, key: VideoKey, relevance: str | None) -> None:
        """Save the relevance of one video, or remove it with None; judgements of other writers are kept."""
        self._raise_if_changed(key)
        refuse_outside(self.run.folder, self.run.folder / LOCK_FILE)
        with self.lock:
            save_relevance(self.run.folder, {key: relevance}, self.run.contents)

    @contextmanager
    def _exclusive(self) -> Iterator[None]:
        """A block with one writer at a time: threads exclude each other by a lock object, processes by a kernel lock."""
        refuse_outside(self.run.folder, self.run.folder / LOCK_FILE)
        with self.lock, blocking_lock(self.run.folder / "annotations", lambda process: None):
            yield


def _intervals_of(label: RunLabel) -> tuple[Interval, ...]:
    if label.label is None or label.label.moment_s is None:
        return () if label.label is None else label.label.intervals
    return (label.interval or Interval(label.label.moment_s, label.label.moment_s + 1.0),)
