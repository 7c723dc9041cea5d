"""One change of labels, as a line of `labels.jsonl`, and the labels that hold after some changes.

A line is one JSON object:

    {"format": 1, "change": 3, "task": "latte", "video": "v1", "content": "0d5f2a91c4b7e630", "from": "review", "drawn": "random",
     "labels": [{"step": 2, "name": "stir coffee", "kind": "moment", "moment_s": 12.0, "interval": [10.0, 15.0], "right": false,
                 "confidence": 0.4}]}
    {"format": 1, "change": 4, "task": "latte", "video": "v1", "undoes": 3}

`content` is the digest of the video file, where it is known: a change is of every video of the task with this content, whatever its name, and of no
other. A change without one, as of earlier versions, has that of the next change of its video which has one, or else goes by the name of the video.
`step` counts from 1. `kind` is "moment" (`interval` is what is shown around it), "intervals" (a list [[start_s, end_s], ...]), "not shown", or
"none" (the label is removed). `drawn` says how the review chose the step, `right` whether the answer it showed was right and
`confidence` how sure the machine was of it. The label of a step is that of the last change of it that is not undone; a step is known by its name.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from crosstask.records import MAX_VIDEO_S, Interval, StepLabel, Task, VideoKey, refuse_escaping_id

FORMAT = 1  # version of labels.jsonl
DRAWS = ("gain", "random")
_MOST_NUMBER = 10**9  # of a change or a step; more is a slip


@dataclass(frozen=True)
class RunLabel:
    """The label of one step of a video in a run: its name then, what was said (None: the label is removed), and the interval shown."""

    step: int  # from 0
    name: str
    label: StepLabel | None
    interval: Interval | None = None  # around a moment
    right: bool | None = None  # True if the answer that the person saw was right
    confidence: float | None = None  # of that answer, where the machine gave it


@dataclass(frozen=True)
class Change:
    """A change of the labels of some steps of one video, or the undoing of an earlier one."""

    id: int
    key: VideoKey
    labels: tuple[RunLabel, ...] = ()
    source: str = ""
    drawn: str | None = None
    undoes: int | None = None
    content: str | None = None  # digest of the video file

    @property
    def steps(self) -> frozenset[int]:
        """The steps that it changes, from 0."""
        return frozenset(label.step for label in self.labels)


def change_to_line(change: Change) -> str:
    """The line of a change, without its end."""
    shape: dict[str, Any] = {"format": FORMAT, "change": change.id, "task": change.key.task, "video": change.key.video}
    if change.undoes is not None:
        return json.dumps(shape | {"undoes": change.undoes}, ensure_ascii=False, allow_nan=False)
    shape |= {"content": change.content} if change.content is not None else {}
    shape |= {"from": change.source, "labels": [_label_to_json(label) for label in change.labels]}
    if change.drawn is not None:
        shape["drawn"] = change.drawn
    return json.dumps(shape, ensure_ascii=False, allow_nan=False)


def _label_to_json(changed: RunLabel) -> dict[str, Any]:
    label = changed.label
    shape: dict[str, Any] = {"step": changed.step + 1, "name": changed.name, "kind": "none" if label is None else label.kind}
    if label is not None and label.moment_s is not None:
        shape["moment_s"] = label.moment_s
        if changed.interval is not None:
            shape["interval"] = [changed.interval.start_s, changed.interval.end_s]
    elif label is not None and label.intervals:
        shape["intervals"] = [[interval.start_s, interval.end_s] for interval in label.intervals]
    if changed.right is not None:
        shape["right"] = changed.right
    return shape if changed.confidence is None else shape | {"confidence": changed.confidence}


def change_from_line(line: str) -> Change:
    """The inverse of `change_to_line`; ValueError, KeyError or TypeError for anything else."""
    data = json.loads(line)
    if "\\u" in line:
        json.dumps(data, ensure_ascii=False).encode("utf-8")  # raises a ValueError for half of a character
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise ValueError(f"not a change of format {FORMAT}")
    key = VideoKey(refuse_escaping_id(data["task"], "task"), refuse_escaping_id(data["video"], "video"))
    number = _whole(data["change"])
    if "undoes" in data:
        return Change(number, key, undoes=_whole(data["undoes"]))
    if (drawn := data.get("drawn")) not in (None, *DRAWS):
        raise ValueError(f"'drawn' is {drawn!r:.40}; expected gain or random")
    content = data.get("content")
    if not (content is None or isinstance(content, str)):
        raise TypeError("'content' is text")
    return Change(number, key, tuple(map(_label_from_json, data["labels"])), str(data.get("from", "")), drawn, content=content)


def _label_from_json(data: dict[str, Any]) -> RunLabel:
    step, name, around, right = _whole(data["step"]) - 1, data["name"], data.get("interval"), data.get("right")
    if not isinstance(name, str) or not (right is None or isinstance(right, bool)):
        raise TypeError("the name of a step is text, 'right' is true or false")
    confidence = data.get("confidence")
    if confidence is not None and not (isinstance(confidence, float | int) and 0 <= confidence <= 1):
        raise ValueError("'confidence' is a number from 0 to 1")
    return RunLabel(step, name, _said(step, data), None if around is None else _interval(around), right, confidence)


def _said(step: int, data: dict[str, Any]) -> StepLabel | None:
    """The label of a step, None where it is removed."""
    kind = data["kind"]
    if kind == "moment":
        return StepLabel(step, moment_s=_second(data["moment_s"]))
    if kind == "intervals":
        intervals = tuple(sorted(map(_interval, data["intervals"])))
        if not intervals:
            raise ValueError("no interval is listed")
        return StepLabel(step, intervals=intervals)
    if kind not in ("not shown", "none"):
        raise ValueError(f"kind {kind!r:.40} is unknown")
    return StepLabel(step) if kind == "not shown" else None


def _whole(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= _MOST_NUMBER:
        raise ValueError(f"{value!r:.40} is not a number from 1")
    return value


def _second(value: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value <= MAX_VIDEO_S:
        raise ValueError(f"{value!r:.40} is not a time in seconds")
    return float(value)


def _interval(value: Any) -> Interval:
    start_s, end_s = map(_second, value)
    if start_s >= end_s:
        raise ValueError(f"an interval from {start_s:g} to {end_s:g} s")
    return Interval(start_s, end_s)


def live_changes(changes: Iterable[Change]) -> list[Change]:
    """The changes that are not undone, in order."""
    listed = list(changes)
    undone = {change.undoes for change in listed if change.undoes is not None}
    return [change for change in listed if change.undoes is None and change.id not in undone]


def with_contents(changes: Iterable[Change]) -> list[Change]:
    """The changes; one without a content has that of the next change of its video which has one."""
    later: dict[VideoKey, str] = {}
    found = []
    for change in reversed(list(changes)):
        if change.content is not None:
            later[change.key] = change.content
        found.append(replace(change, content=later.get(change.key)))
    return found[::-1]


def current_changes(
    changes: Iterable[Change], tasks: Mapping[str, Task], contents: Mapping[VideoKey, str | None] | None
) -> tuple[list[Change], list[Change]]:
    """The changes that are not undone, as changes of the videos and steps that there are now, and those or the parts of them that are of none.

    `contents` has the videos that there are now, with the digests of their files where these are known; None: this is not known at all. Of each
    change, the labels that hold have the number that their step has now.
    """
    held, unused = [], []
    videos_of: dict[tuple[str, str], list[VideoKey]] = {}
    for key, content in sorted((contents or {}).items()):
        if content is not None:
            videos_of.setdefault((key.task, content), []).append(key)
    for change in live_changes(with_contents(changes)):
        placed = [(label, _placed(label, tasks.get(change.key.task))) for label in change.labels]
        keys = [] if change.content is None else videos_of.get((change.key.task, change.content), [])
        if contents is None or (change.key in contents and None in (change.content, contents[change.key])):
            keys = keys or [change.key]  # known by its name alone
        labels = tuple(now for _, now in placed if now is not None)
        held += [replace(change, key=key, labels=labels) for key in keys if labels]
        lost = tuple(label for label, now in placed if now is None or not keys)
        unused += [replace(change, labels=lost)] if lost else []
    return held, unused


def _placed(label: RunLabel, task: Task | None) -> RunLabel | None:
    """The label with the number that its step has now; None where the task has no such step."""
    step = None if task is None else place_of(label.step, label.name, task)
    if step is None:
        return None
    return replace(label, step=step, label=None if label.label is None else replace(label.label, step=step))


def labels_after(changes: Iterable[Change]) -> dict[VideoKey, dict[int, RunLabel]]:
    """The labels that hold after some of `current_changes`: video -> step -> label."""
    said: dict[VideoKey, dict[int, RunLabel]] = {}
    for change in changes:
        said.setdefault(change.key, {}).update({label.step: label for label in change.labels})
    held = {
        key: {step: label for step, label in sorted(labels.items()) if label.label is not None} for key, labels in said.items()
    }
    return {key: labels for key, labels in held.items() if labels}


def place_of(step: int, name: str, task: Task) -> int | None:
    """The step of a task that a label with this step and name is of; None where it has no such step, or where a repeated name had another place."""
    if task.steps.count(name) == 1:
        return task.steps.index(name)
    return step if step < len(task.steps) and task.steps[step] == name else None
