"""The task map of a report, and a table of the nearest tasks by the words of their steps."""

from collections.abc import Mapping
from html import escape
from pathlib import Path

from crosstask.corpus_building.task_map import component_distances, nearest_tasks
from crosstask.records import Task
from crosstask.report.document import embedded_image

MAX_ROWS = 40  # of the table of nearest tasks
LARGEST_FIGURE_BYTES = 400_000  # larger maps are left out


def _nearest_table(tasks: Mapping[str, Task], n: int = 3) -> str:
    """A table with the n nearest tasks of each primary task, among the related tasks if there are any; HTML."""
    listed = [tasks[name] for name in sorted(tasks)]
    primary = [i for i, task in enumerate(listed) if task.primary][:MAX_ROWS]
    related = [i for i, task in enumerate(listed) if not task.primary]
    distances = component_distances(listed)
    rows = []
    for i in primary:
        among = [i, *related] if related else list(range(len(listed)))
        others, near = [listed[j] for j in among], distances[among][:, among]
        names = ", ".join(escape(task.title) for task in nearest_tasks(others, near, among.index(i), n))
        rows.append(f'<tr><td>{escape(listed[i].title)}</td><td class="words">{names}</td></tr>')
    kind = "nearest related tasks" if related else "nearest tasks"
    return f"<details><summary>{kind.capitalize()}</summary><table><tr><th>task</th><th>{kind}</th></tr>{''.join(rows)}</table></details>"


def map_section(folder: Path, tasks: Mapping[str, Task]) -> str:
    """The task map in `folder/figures`, if it is small enough to be embedded, and the nearest tasks of each task; HTML."""
    shown = "".join(
        embedded_image(path, "tasks near each other share step words")
        for path in sorted((folder / "figures").glob("map.*"))
        if _is_embeddable(path)
    )
    return f"<h2>Map of tasks</h2>{shown}{_nearest_table(tasks)}" if shown else ""


def _is_embeddable(path: Path) -> bool:
    return path.suffix in (".png", ".svg") and not path.is_symlink() and path.stat().st_size <= LARGEST_FIGURE_BYTES
