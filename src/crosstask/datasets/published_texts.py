"""`published.json` beside a corpus: descriptions and partial order of the steps, which the CrossTask layout has no place for.

    {TASK: {"descriptions": [TEXT, ..], "edges": [[A, B], ..]}}        one text per step; steps numbered from 1; A comes before B

Both parts are optional; other entries are ignored. Edges on a cycle say nothing about the order and are left out.
"""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from crosstask.datasets.text_files import read_json
from crosstask.records import InputError, Task
from crosstask.records.task import without_circles
from crosstask.storage import write_json

log = logging.getLogger(__name__)
FILE = "published.json"
_EXPECTED = 'expected {TASK: {"descriptions": [TEXT, ..], "edges": [[A, B], ..]}}, steps numbered from 1'


def with_published_texts(tasks: Mapping[str, Task], folder: Path) -> dict[str, Task]:
    """The tasks with what the file of the folder says about them; unchanged where there is no file."""
    path = folder / FILE
    if not path.is_file():
        return dict(tasks)
    value = read_json(path, _EXPECTED)
    if not isinstance(value, dict):
        raise InputError(f"{FILE}: found {str(value)[:40]!r}; {_EXPECTED}")
    return {task_id: _extended(task, value.get(task_id, {})) for task_id, task in tasks.items()}


def _extended(task: Task, entry: Any) -> Task:
    try:
        descriptions = tuple(str(text).strip() for text in entry.get("descriptions", ()))
        edges = tuple((int(a) - 1, int(b) - 1) for a, b in entry.get("edges", ()))
    except (AttributeError, TypeError, ValueError, OverflowError):
        raise InputError(f"{FILE}, task {task.id}: found {str(entry)[:60]!r}; {_EXPECTED}") from None
    order = without_circles(edges)
    if dropped := len(set(edges)) - len(order):
        log.info("%s, task %s: %d edges form a cycle and are left out", FILE, task.id, dropped)
    try:
        return replace(task, order=tuple(order), descriptions=descriptions)
    except InputError as error:
        raise InputError(f"{FILE}: {error}") from None


def write_published_texts(tasks: Iterable[Task], folder: Path) -> None:
    """Write the file, if any task has a partial order or descriptions."""
    entries = {
        task.id: {"title": task.title, "descriptions": list(task.descriptions), "edges": [[a + 1, b + 1] for a, b in task.order]}
        for task in tasks
        if task.order or task.descriptions
    }
    if entries:
        write_json(folder / FILE, entries)
