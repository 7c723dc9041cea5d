"""The map of tasks as a picture: primary tasks as dots, related ones as rings, titles beside them."""

from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path

from crosstask.corpus_building.task_map import TaskMap, draw_map
from crosstask.records import Task
from crosstask.storage import write_bytes

FEWEST_TASKS = 3  # fewer make no map


def draw_task_map(run: Path, tasks: Mapping[str, Task], seed: int) -> Path | None:
    """`run/figures/map.svg`, the map of these tasks; None where they are too few to be near or far."""
    if len(tasks) < FEWEST_TASKS:
        return None
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped,unused-ignore]

    listed = [tasks[name] for name in sorted(tasks)]
    with threadpool_limits(1):  # sums of several threads come out in any order, and t-SNE makes much of the last digit
        drawn = draw_map(listed, seed)
    return draw_figure(run / "figures" / "map.svg", listed, drawn)


def draw_figure(path: Path, tasks: Sequence[Task], drawn: TaskMap) -> Path:
    """`path` (PNG or SVG by its ending), now holding the map."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13, 9) if len(tasks) > 20 else (8, 5), layout="constrained")
    axes = figure.subplots()
    axes.margins(x=0.15)  # room for titles at the right
    colours = ["#1f77b4", "#d95f02", "#1b9e77", "#7570b3", "#a6761d", "#666666", "#e7298a", "#66a61e"]
    for task, (x, y), cluster in zip(tasks, drawn.places, drawn.clusters, strict=True):
        colour = colours[int(cluster) % len(colours)]
        face = colour if task.primary else "none"
        axes.scatter([x], [y], s=60 if task.primary else 30, facecolors=face, edgecolors=colour)
        axes.annotate(
            task.title, (x, y), xytext=(4, 3), textcoords="offset points", fontsize=8 if task.primary else 6, color=colour
        )
    axes.set(xticks=[], yticks=[], title="Tasks near each other share step words (filled: primary, ring: related)")
    buffer, ending = BytesIO(), path.suffix.lstrip(".") or "png"
    with rc_context({"svg.hashsalt": "crosstask", "svg.fonttype": "none"}):  # the same map, the same bytes; titles stay text
        figure.savefig(buffer, format=ending, dpi=110, metadata={"Date": None} if ending == "svg" else {"Software": None})
    return write_bytes(path, buffer.getvalue())
