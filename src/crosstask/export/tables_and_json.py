"""CSV, the JSON of `localize`, and the JSON of ActivityNet."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from crosstask.export.localized_video import LocalizedVideo
from crosstask.records import PERSON, FoundStep
from crosstask.storage import csv_text, no_formula, stable_json

_PLAIN_ID = re.compile(r"[-\w]+")
COLUMNS = ("task", "video", "step", "moment_s", "start_s", "end_s", "score", "confidence", "p_shown", "shown")


def csv_table(videos: Sequence[LocalizedVideo]) -> Iterator[str]:
    """One row per step, in pieces; absent steps have empty times. The column `by` is added where a person labelled some steps."""
    labelled = any(step.by == PERSON for video in videos for step in (*video.steps, *video.absent))
    yield csv_text([(*COLUMNS, "by") if labelled else COLUMNS])
    for video in videos:
        rows = [(*_named(video), *row, by) if labelled else (*_named(video), *row) for row, by in _rows(video)]
        yield csv_text(rows)


def _rows(video: LocalizedVideo) -> Iterator[tuple[tuple[str, ...], str]]:
    """The cells after task and video, and who says so."""
    for step in video.steps:
        numbers = (step.moment_s, step.start_s, step.end_s, step.score, step.confidence, step.p_shown)
        times = ("" if number is None else f"{number:.6g}" for number in numbers)
        yield (no_formula(step.name), *times, "yes" if step.shown else "no"), step.by
    for step in video.absent:
        yield (no_formula(step.name), *[""] * 6, "no"), step.by


def _named(video: LocalizedVideo) -> tuple[str, str]:
    """Title and id; an id of letters, digits, '-' and '_', as YouTube's are, stays as it is, since '-abc' computes nothing."""
    video_id = video.key.video
    return no_formula(video.title), video_id if _PLAIN_ID.fullmatch(video_id) else no_formula(video_id)


def localize_json(videos: Sequence[LocalizedVideo]) -> Iterator[dict[str, Any]]:
    """The JSON of `localize` for every video."""
    return (
        {
            "video": p.key.video,
            "task": p.key.task,
            "steps": [_step_json(step) for step in p.steps],
            "absent": [step.name for step in p.absent],
        }
        for p in videos
    )


def _step_json(step: FoundStep) -> dict[str, Any]:
    """The shape of a found step; a step with several intervals is exported once for each."""
    return {name: value for name, value in step.to_json().items() if name != "intervals"}


def activitynet(videos: Sequence[LocalizedVideo]) -> Iterator[str]:
    """Detection results in the format of ActivityNet, in pieces: label, score and segment by video."""
    by_id: dict[str, list[FoundStep]] = {}
    for video in videos:
        by_id.setdefault(video.key.video, []).extend(video.steps)
    found = (
        (name, [{"label": s.name, "score": s.score, "segment": [s.start_s, s.end_s]} for s in by_id[name]])
        for name in sorted(by_id)
    )
    shell = {"version": "VERSION 1.3", "external_data": {"used": False, "details": "crosstask"}}
    return json_with(shell, "results", found)


def json_list(items: Iterable[Any]) -> Iterator[str]:
    """The text of `stable_json` for a list of items, in pieces: tens of thousands of videos are never in memory at once.

    >>> "".join(json_list([{"a": 1}, 2])) == stable_json([{"a": 1}, 2]), "".join(json_list([]))
    (True, '[]\\n')
    """
    yield from _joined(("[", "]"), (_indented(item, "  ") for item in items))
    yield "\n"


def json_with(shell: Mapping[str, Any], name: str, pairs: Iterable[tuple[str, Any]]) -> Iterator[str]:
    """The text of `stable_json` for an object with one member more, an object of sorted pairs, in pieces.

    >>> "".join(json_with({"z": 1}, "of", [("a", [2]), ("b", 3)])) == stable_json({"z": 1, "of": {"a": [2], "b": 3}})
    True
    """
    before, after = stable_json({**shell, name: {}}).split(f'"{name}": {{}}')
    yield f'{before}"{name}": '
    members = (f"    {json.dumps(key, ensure_ascii=False)}: {_indented(value, '    ').lstrip()}" for key, value in pairs)
    yield from _joined(("{", "  }"), members)
    yield after


def _joined(brackets: tuple[str, str], items: Iterable[str]) -> Iterator[str]:
    """The items between brackets, one a line; an empty pair of brackets without any."""
    yield brackets[0]
    n_items = 0
    for n_items, item in enumerate(items, start=1):
        yield f",\n{item}" if n_items > 1 else f"\n{item}"
    yield f"\n{brackets[1]}" if n_items else brackets[1].strip()


def _indented(value: Any, by: str) -> str:
    """The lines of a value as stable JSON, indented; a line break inside a text is escaped in JSON."""
    return by + stable_json(value).rstrip("\n").replace("\n", f"\n{by}")
