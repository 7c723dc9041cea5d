"""Plain tables and JSON: CSV, our own JSON, and ActivityNet's."""

import csv
import io
from collections.abc import Sequence
from typing import Any

from crosstask.export.parses import Parse

COLUMNS = ("task", "video", "step", "second", "start_s", "end_s", "score", "shown")


def csv_table(parses: Sequence[Parse]) -> str:
    """One row per step; absent steps stand without times."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for parse in parses:
        for step in parse.steps:
            times = (step.second, f"{step.start_s:g}", f"{step.end_s:g}", f"{step.score:.6g}")
            writer.writerow((parse.title, parse.key.video, _plain(step.step), *times, "yes" if step.shown else "no"))
        for name in parse.absent:
            writer.writerow((parse.title, parse.key.video, _plain(name), "", "", "", "", "no"))
    return text.getvalue()


def _plain(cell: str) -> str:
    """A cell that a spreadsheet will not take for a formula."""
    return f"'{cell}" if cell[:1] in "=+-@\t\r" else cell


def plain_json(parses: Sequence[Parse]) -> list[dict[str, Any]]:
    """The documented shape of `localize --json`, for every video."""
    return [
        {"video": p.key.video, "task": p.key.task, "steps": [vars(step) | {} for step in p.steps], "absent": list(p.absent)}
        for p in parses
    ]


def activitynet(parses: Sequence[Parse]) -> dict[str, Any]:
    """ActivityNet's detection results: label, score and segment by video."""
    results: dict[str, list[dict[str, Any]]] = {}
    for parse in parses:
        found = [{"label": step.step, "score": step.score, "segment": [step.start_s, step.end_s]} for step in parse.steps]
        results.setdefault(parse.key.video, []).extend(found)
    return {"version": "VERSION 1.3", "results": results, "external_data": {"used": False, "details": "crosstask"}}
