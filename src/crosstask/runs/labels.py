"""The labels of a run folder: `labels.jsonl`, to which changes are appended and from which nothing is ever removed.

One process appends at a time (a kernel lock), a line is on disk before the call returns, and a line that a killed process left unfinished is
dropped by the next writer: it was never confirmed. Annotations that earlier versions saved, `annotations/TASK_VIDEO.csv`, count as intervals until
their video has a line here; its first line then repeats them.
"""

import errno
import os
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import Any

from crosstask.records import InputError, StepLabel, Task, VideoKey, parse_video_key
from crosstask.runs.label_changes import (
    Change,
    RunLabel,
    change_from_line,
    change_to_line,
    current_changes,
    labels_after,
    live_changes,
    place_of,
    with_contents,
)
from crosstask.runs.record import refuse_outside
from crosstask.storage import blocking_lock, file_signature, read_bytes

LABELS_FILE = "labels.jsonl"
REPLACED = "the video file was replaced"  # source of the change that says so; undone, what was said of the former file holds


@dataclass(frozen=True)
class LabelStore:
    """The labels of a run folder, for the tasks and the contents of the video files that there are now."""

    folder: Path
    tasks: Mapping[str, Task]
    contents: Mapping[VideoKey, str | None] | None = None  # of the videos that there are now; None: these are not known
    _lock: threading.Lock = field(default_factory=threading.Lock, compare=False, repr=False)
    _cache: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def path(self) -> Path:
        """The file of changes."""
        return refuse_outside(self.folder, self.folder / LABELS_FILE)

    def signature(self) -> tuple[object, ...]:
        """A value that changes with the labels."""
        return (file_signature(self.folder / LABELS_FILE), file_signature(self.folder / "annotations"))

    def changes(self) -> list[Change]:
        """All changes, in order; an unfinished last line is left out."""
        now = file_signature(self.folder / LABELS_FILE)
        if "changes" not in self._cache or self._cache["changes"][0] != now:
            self._cache["changes"] = (now, parse_changes(self._complete_bytes()))
        return list(self._cache["changes"][1])

    def current(self) -> list[Change]:
        """The changes that are not undone, with the videos and step numbers of now; those of other files and steps are left out."""
        return self._held()[0]

    def _content(self, key: VideoKey) -> str | None:
        return None if self.contents is None else self.contents.get(key)

    def _held(self) -> tuple[list[Change], list[Change]]:
        return current_changes(self.changes(), self.tasks, self.contents)

    def labels(self) -> dict[VideoKey, dict[int, RunLabel]]:
        """Video -> step of its task (from 0) -> label; labels of steps that the lists no longer have and of other video files are left out."""
        now = self.signature()
        if "labels" not in self._cache or self._cache["labels"][0] != now:
            self._cache["labels"] = (now, self._read_labels())
        return dict(self._cache["labels"][1])

    def _read_labels(self) -> dict[VideoKey, dict[int, RunLabel]]:
        found = labels_after(self.current())
        for key in self._annotated() - {change.key for change in self.changes()}:
            found[key] = {label.step: label for label in self._from_annotation(key)}
        return {key: labels for key, labels in found.items() if labels}

    def step_labels(self) -> dict[VideoKey, tuple[StepLabel, ...]]:
        """The labels as hard supervision for training: `Corpus.labels`."""
        return {
            key: tuple(label.label for label in labels.values() if label.label is not None)
            for key, labels in self.labels().items()
        }

    def unused(self) -> list[str]:
        """The labels whose task, step or video file is not there now: step and video of each."""
        said: dict[tuple[str, VideoKey], bool] = {}
        for change in self._held()[1]:
            said |= {(label.name, change.key): label.label is not None for label in change.labels}
        return sorted(f"'{name}' of {key}" for (name, key), is_label in said.items() if is_label)

    def history(self, key: VideoKey) -> list[Change]:
        """The changes of a video that are not undone, in order."""
        return [change for change in self.current() if change.key == key]

    def append(
        self,
        key: VideoKey,
        labels: Sequence[RunLabel],
        source: str,
        drawn: str | None = None,
        seen: int | None = None,
    ) -> Change:
        """The change that was written. With `seen`, the last change that the writer knew, a step that was changed since is refused."""
        return self.append_all({key: labels}, source, drawn, seen)[-1]

    def append_all(
        self,
        labels: Mapping[VideoKey, Sequence[RunLabel]],
        source: str,
        drawn: str | None = None,
        seen: int | None = None,
    ) -> list[Change]:
        """The changes that were written, one a video, all or none; otherwise as `append`."""
        with self._exclusive():
            changes = self.changes()
            if seen is not None:
                _refuse_stale([change for change in self.current() if change.id > seen], labels)
            changed, number = {change.key for change in changes}, count(_next_id(changes))
            annotated = self._annotated() - changed if labels.keys() - changed else set()
            added = []
            for key, of_video in labels.items():
                content = self._content(key)
                if key in annotated:
                    file = f"annotations/{key}.csv"
                    added.append(Change(next(number), key, self._from_annotation(key), file, content=content))
                added.append(Change(next(number), key, tuple(of_video), source, drawn, content=content))
            self._write(added)
        return added

    def undo(self, number: int) -> Change:
        """The change with this number, now undone: each of its steps has the label it had before, though of a file that was replaced since."""
        with self._exclusive():
            changes = self.changes()
            found = next((change for change in live_changes(with_contents(changes)) if change.id == number), None)
            if found is None:
                raise InputError(f"change {number} does not exist or is undone already; reload to see the labels as they are")
            added = [Change(_next_id(changes), found.key, undoes=number)]
            if found.source == REPLACED:
                earlier = [change for change in live_changes(with_contents(changes)) if change.id < found.id]
                said = self._said_of_former_files(found.key, found.content, earlier)
                removed = {(label.step, label.name) for label in found.labels}
                said = tuple(label for label in said if (label.step, label.name) in removed)
                added.append(replace(found, id=added[0].id + 1, labels=said, source="labels of the former file"))
            self._write(added)
        return found

    def _said_of_former_files(self, key: VideoKey, content: str | None, changes: Iterable[Change]) -> tuple[RunLabel, ...]:
        """The labels after some changes that are of the same name and of a file that its task has no more, the latest at the end."""
        present = self._contents_of_tasks.get(key.task, set())
        said: dict[tuple[int, str], RunLabel] = {}
        for change in changes:
            if change.key == key and change.content not in (content, None) and change.content not in present:
                for label in change.labels:
                    said.pop((label.step, label.name), None)
                    said[label.step, label.name] = label
        return tuple(label for label in said.values() if label.label is not None)

    def _labelled_steps(self, task: str, changes: Iterable[Change]) -> set[object]:
        """The steps that have a label after some changes of one file."""
        last = {self._step_of(task, label): label.label for change in changes for label in change.labels}
        return {step for step, label in last.items() if label is not None}

    def _step_of(self, task: str, label: RunLabel) -> object:
        """The number that the step of a label has now; of a step that is not there now, what the label calls it."""
        place = place_of(label.step, label.name, self.tasks[task]) if task in self.tasks else None
        return (label.step, label.name) if place is None else place

    @cached_property
    def _contents_of_tasks(self) -> dict[str, set[str | None]]:
        """The contents of the videos that each task has now."""
        found: dict[str, set[str | None]] = {}
        for key, content in (self.contents or {}).items():
            found.setdefault(key.task, set()).add(content)
        return found

    def note_replaced(self) -> dict[VideoKey, int]:
        """Append, once a video, which labels do not hold as its file was replaced; returns their number by video.

        Steps that are labelled in the file that is there now, as one of another name or place before, are left out: those labels hold.
        """
        changes = self.changes()
        noted, of_video = {(change.key, change.content) for change in changes}, dict[VideoKey, list[Change]]()
        of_content: dict[tuple[str, str | None], list[Change]] = {}
        for change in live_changes(with_contents(changes)):
            of_video.setdefault(change.key, []).append(change)
            of_content.setdefault((change.key.task, change.content), []).append(change)
        former, removed = dict[VideoKey, tuple[RunLabel, ...]](), dict[VideoKey, list[RunLabel]]()
        for key, content in sorted((self.contents or {}).items()):
            if key not in of_video or content is None or (key, content) in noted:
                continue
            if said := self._said_of_former_files(key, content, of_video[key]):
                held = self._labelled_steps(key.task, of_content.get((key.task, content), []))
                former[key] = said
                removed[key] = [RunLabel(one.step, one.name, None) for one in said if self._step_of(key.task, one) not in held]
        if removed:
            self.append_all(removed, REPLACED)
        return {key: len(labels) for key, labels in former.items()}

    def note_contents(self) -> None:
        """Append the content of each video with labels that earlier versions wrote without it."""
        changes = self.changes()
        without = {change.key for change in with_contents(changes) if change.content is None and change.undoes is None}
        keys = sorted(without | (self._annotated() - {change.key for change in changes}))
        if known := {key: () for key in keys if self._content(key) is not None}:
            self.append_all(known, "content of the video file")

    def _write(self, changes: Sequence[Change]) -> None:
        """Append lines and wait until they are on disk; if that fails, the file is as before. What could not be read again is refused."""
        lines = [change_to_line(change) for change in changes]
        try:
            parse_changes("\n".join(lines).encode("utf-8"))
        except InputError as error:
            raise InputError(f"this cannot be saved as a label: {error}") from None
        data = "".join(f"{line}\n" for line in lines).encode("utf-8")
        kept = self._complete_bytes()
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            end = min(len(kept), os.fstat(descriptor).st_size)
            data = kept[end:] + data  # the end of a last line that an editor left without one
            os.ftruncate(descriptor, end)
            try:
                if os.pwrite(descriptor, data, end) != len(data):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                os.fsync(descriptor)
            except OSError as error:
                os.ftruncate(descriptor, end)
                error.filename = str(self.path)
                raise
        finally:
            os.close(descriptor)

    def _complete_bytes(self) -> bytes:
        """The file up to the end of its last complete line; a last line without an end is complete if it can be read."""
        path = self.path
        if not path.exists():
            return b""
        data = read_bytes(path)
        end = data.rfind(b"\n") + 1
        try:
            change_from_line(data[end:].decode("utf-8"))
        except (ValueError, KeyError, TypeError, RecursionError, AttributeError):
            return data[:end]
        return data + b"\n"

    def _annotated(self) -> set[VideoKey]:
        """The videos with an annotation file."""
        try:
            names = [entry.name for entry in os.scandir(refuse_outside(self.folder, self.folder / "annotations"))]
        except (FileNotFoundError, NotADirectoryError):
            return set()
        stems = [name.removesuffix(".csv") for name in names if name.endswith(".csv") and "_" in name[1:-5]]
        keys = {parse_video_key(stem, self.tasks) for stem in stems}
        return {key for key in keys if key.task in self.tasks and (self.contents is None or key in self.contents)}

    def _from_annotation(self, key: VideoKey) -> tuple[RunLabel, ...]:
        """The annotated intervals of a video; a step without any has no label, since earlier versions did not ask about all steps."""
        from crosstask.datasets import read_step_intervals
        from crosstask.records import labels_from_annotation

        task = self.tasks[key.task]
        path = refuse_outside(self.folder, self.folder / "annotations" / f"{key}.csv")
        labels = labels_from_annotation(read_step_intervals(path, task), len(task.steps))
        return tuple(RunLabel(label.step, task.steps[label.step], label) for label in labels if label.shown)

    def _exclusive(self) -> Any:
        """A block with one writer at a time: threads by a lock object, processes by a kernel lock."""
        from contextlib import ExitStack

        stack = ExitStack()
        stack.enter_context(self._lock)
        try:
            refuse_outside(self.folder, self.folder / f".{LABELS_FILE}.lock")
            stack.enter_context(blocking_lock(self.folder / LABELS_FILE, lambda process: None))
        except BaseException:
            stack.close()
            raise
        return stack


def parse_changes(data: bytes) -> list[Change]:
    """The changes in the bytes of `labels.jsonl`; blank lines are skipped."""
    found: list[Change] = []
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            change = change_from_line(line.decode("utf-8"))
        except (ValueError, KeyError, TypeError, RecursionError, AttributeError) as error:
            raise InputError(
                f"{LABELS_FILE}, line {number}: damaged ({' '.join(str(error).split())[:120]}); correct or remove this line"
            ) from None
        if found and change.id <= found[-1].id:
            raise InputError(f"{LABELS_FILE}, line {number}: change {change.id} after {found[-1].id}; expected rising numbers")
        found.append(change)
    return found


def _refuse_stale(since: Iterable[Change], labels: Mapping[VideoKey, Sequence[RunLabel]]) -> None:
    """An error if one of these changes is of a step that is to be labelled."""
    steps = {(key, label.step) for key, of_video in labels.items() for label in of_video}
    if changed := sorted(step for change in since for step in change.steps if (change.key, step) in steps):
        raise InputError(
            f"step {changed[0] + 1} was labelled somewhere else meanwhile, perhaps in another window; "
            "nothing was saved: reload the page to see that label, then change it if it is wrong"
        )


def _next_id(changes: Sequence[Change]) -> int:
    return changes[-1].id + 1 if changes else 1
