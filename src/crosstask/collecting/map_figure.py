"""The map of tasks as a picture: primary tasks as dots, related ones as rings, titles beside them."""

from collections.abc import Sequence
from pathlib import Path

from crosstask.collecting.task_map import TaskMap
from crosstask.records import Task


def draw_figure(path: Path, tasks: Sequence[Task], drawn: TaskMap) -> Path:
    """`path` (PNG or SVG by its ending), now holding the map."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13, 9), layout="constrained")
    axes = figure.subplots()
    colours = ["#1f77b4", "#d95f02", "#1b9e77", "#7570b3", "#a6761d", "#666666", "#e7298a", "#66a61e"]
    for task, (x, y), cluster in zip(tasks, drawn.places, drawn.clusters, strict=True):
        colour = colours[int(cluster) % len(colours)]
        face = colour if task.primary else "none"
        axes.scatter([x], [y], s=60 if task.primary else 30, facecolors=face, edgecolors=colour)
        axes.annotate(
            task.title, (x, y), xytext=(4, 3), textcoords="offset points", fontsize=8 if task.primary else 6, color=colour
        )
    axes.set(xticks=[], yticks=[], title="Tasks near each other share step words (filled: primary, ring: related)")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110, metadata={"Date": None} if path.suffix == ".svg" else {"Software": None})
    return path
