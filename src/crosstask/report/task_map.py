"""Which tasks lie nearest to each other by the words of their steps, as a table beside the map."""

from collections.abc import Mapping
from html import escape

from crosstask.corpus_building.task_map import component_distances, nearest_tasks
from crosstask.records import Task

MOST_ROWS = 40


def nearest_table(tasks: Mapping[str, Task], n: int = 3) -> str:
    """For each primary task the n nearest others, related ones where there are any; HTML."""
    listed = [tasks[name] for name in sorted(tasks)]
    primary = [i for i, task in enumerate(listed) if task.primary][:MOST_ROWS]
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
