"""CSV, the JSON of `localize`, and the JSON of ActivityNet."""

import csv
import io
import re
from collections.abc import Sequence
from typing import Any

from crosstask.export.localized_video import LocalizedVideo

_PLAIN_ID = re.compile(r"[-\w]+")
COLUMNS = ("task", "video", "step", "moment_s", "start_s", "end_s", "score", "confidence", "p_shown", "shown")


def csv_table(videos: Sequence[LocalizedVideo]) -> str:
    """One row per step; absent steps have empty times."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for video in videos:
        for step in video.steps:
            numbers = (step.moment_s, step.start_s, step.end_s, step.score, step.confidence, step.p_shown)
            times = ("" if number is None else f"{number:.6g}" for number in numbers)
            writer.writerow((*_named(video), _no_formula(step.name), *times, "yes" if step.shown else "no"))
        for name in video.absent:
            writer.writerow((*_named(video), _no_formula(name), *[""] * 6, "no"))
    return text.getvalue()


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
        {"video": p.key.video, "task": p.key.task, "steps": [vars(step) | {} for step in p.steps], "absent": list(p.absent)}
        for p in videos
    ]


def activitynet(videos: Sequence[LocalizedVideo]) -> dict[str, Any]:
    """Detection results in the format of ActivityNet: label, score and segment by video."""
    results: dict[str, list[dict[str, Any]]] = {}
    for video in videos:
        found = [{"label": step.name, "score": step.score, "segment": [step.start_s, step.end_s]} for step in video.steps]
        results.setdefault(video.key.video, []).extend(found)
    return {"version": "VERSION 1.3", "results": results, "external_data": {"used": False, "details": "crosstask"}}
