"""Procedure-planning lists of CrossTask: `[{"id": {"vid", "task" or "task_id", "legal_range": [[start s, end s, action]]}}]`.

An item is a clip; several clips come from one video, and their actions are merged without repeats. Actions are numbered over all tasks;
their names come from `actions.json` in the same folder (`["pour water", ..]` or `{"0": "pour water"}`), otherwise 'action 7'.
"""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from crosstask.datasets.named_steps import MAX_VIDEO_S, AnnotatedVideo, TaskNames, corpus_from_annotated_videos
from crosstask.datasets.text_files import read_json
from crosstask.records import Corpus, InputError, Interval, refuse_escaping_id

EXPECTED = 'expected a planning list [{"id": {"vid", "task", "legal_range": [[start, end, action]]}}]'
ACTION_NAMES_FILE = "actions.json"


def is_planning_list(value: Any) -> bool:
    """True if a JSON value has the layout of a planning list."""
    first = value[0] if isinstance(value, list) and value else None
    inner = first.get("id") if isinstance(first, dict) else None
    return isinstance(inner, dict) and "vid" in inner and "legal_range" in inner


def read_planning_list(path: Path) -> Corpus:
    """The corpus of a planning list, the actions of all clips of a video merged; `features/` in the same folder is used."""
    value = read_json(path, EXPECTED)
    if not isinstance(value, list):
        raise InputError(f"{path.name}: found no list; {EXPECTED}")
    names = _action_names(path.parent / ACTION_NAMES_FILE)
    actions: dict[tuple[str, str], set[tuple[Interval, str]]] = {}
    titles = TaskNames()
    for number, item in enumerate(value, start=1):
        try:
            entry = item["id"]
            video, title = refuse_escaping_id(entry["vid"], "video"), str(entry.get("task", entry.get("task_id", "unnamed")))
            rows = {_action(row, names) for row in entry["legal_range"]}
        except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(f"{path.name}, item {number}: found {str(item)[:60]!r}; {EXPECTED}") from None
        actions.setdefault((titles.id_of(title), video), set()).update(rows)
    videos = [
        AnnotatedVideo(task, video, tuple((name, interval) for interval, name in sorted(rows)))
        for (task, video), rows in sorted(actions.items())
    ]
    return corpus_from_annotated_videos("planning list", path.parent, videos, titles)


def _action(row: Any, names: Mapping[str, str]) -> tuple[Interval, str]:
    start_s, end_s, action = float(row[0]), float(row[1]), str(row[2])
    if not (math.isfinite(end_s) and 0 <= start_s < end_s < MAX_VIDEO_S):
        raise ValueError("invalid times")
    return Interval(start_s, end_s), names.get(action, f"action {action}" if action.isdecimal() else action).replace(",", " ")


def _action_names(path: Path) -> dict[str, str]:
    if not path.exists():
        return {}
    value = read_json(path, 'expected ["pour water", ..] or {"0": "pour water"}')
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return {str(number): str(name).strip() for number, name in pairs if str(name).strip()}
