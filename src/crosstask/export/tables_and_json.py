"""CSV, the JSON of `localize`, and the JSON of ActivityNet."""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from typing import Any

from crosstask.export.localized_video import LocalizedVideo
from crosstask.records import MACHINE, PERSON, FoundStep

_PLAIN_ID = re.compile(r"[-\w]+")
COLUMNS = ("task", "video", "step", "moment_s", "start_s", "end_s", "score", "confidence", "p_shown", "shown")


def csv_table(videos: Sequence[LocalizedVideo]) -> str:
    """One row per step; absent steps have empty times. The column `by` is added where a person labelled some steps."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    labelled = any(video.denied or any(step.by == PERSON for step in video.steps) for video in videos)
    writer.writerow((*COLUMNS, "by") if labelled else COLUMNS)
    for video in videos:
        for row, by in _rows(video):
            writer.writerow((*_named(video), *row, by) if labelled else (*_named(video), *row))
    return text.getvalue()


def _rows(video: LocalizedVideo) -> Iterator[tuple[tuple[str, ...], str]]:
    """The cells after task and video, and who says so."""
    for step in video.steps:
        numbers = (step.moment_s, step.start_s, step.end_s, step.score, step.confidence, step.p_shown)
        times = ("" if number is None else f"{number:.6g}" for number in numbers)
        yield (_no_formula(step.name), *times, "yes" if step.shown else "no"), step.by
    for name in video.absent:
        yield (_no_formula(name), *[""] * 6, "no"), PERSON if name in video.denied else MACHINE


def _named(video: LocalizedVideo) -> tuple[str, str]:
    """Title and id; an id of letters, digits, '-' and '_', as YouTube's are, stays as it is, since '-abc' computes nothing."""
    video_id = video.key.video
    return _no_formula(video.title), video_id if _PLAIN_ID.fullmatch(video_id) else _no_formula(video_id)


def _no_formula(cell: str) -> str:
    """The cell with a leading quote if a spreadsheet would take it for a formula."""
    return f"'{cell}" if cell[:1] in "=+-@\t\r" else cell


def localize_json(videos: Sequence[LocalizedVideo]) -> list[dict[str, Any]]:
    """The JSON of `localize` for every video."""
    return [
        {"video": p.key.video, "task": p.key.task, "steps": [_step_json(step) for step in p.steps], "absent": list(p.absent)}
        for p in videos
    ]


def _step_json(step: FoundStep) -> dict[str, Any]:
    """The shape of a found step; a step with several intervals is exported once for each."""
    return {name: value for name, value in step.to_json().items() if name != "intervals"}


def activitynet(videos: Sequence[LocalizedVideo]) -> dict[str, Any]:
    """Detection results in the format of ActivityNet: label, score and segment by video."""
    results: dict[str, list[dict[str, Any]]] = {}
    for video in videos:
        found = [{"label": step.name, "score": step.score, "segment": [step.start_s, step.end_s]} for step in video.steps]
        results.setdefault(video.key.video, []).extend(found)
    return {"version": "VERSION 1.3", "results": results, "external_data": {"used": False, "details": "crosstask"}}
