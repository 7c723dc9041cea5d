"""The task map: tasks whose steps share words are close together; distances, t-SNE positions, clusters and the figure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from crosstask.records import InputError, Task
from crosstask.storage import figure_bytes, write_bytes
from crosstask.text import stems_of_step

Floats = npt.NDArray[np.float64]
FEWEST_TASKS = 3  # for a map
_COLOURS = ("#1f77b4", "#d95f02", "#1b9e77", "#7570b3", "#a6761d", "#666666", "#e7298a", "#66a61e")


def component_distances(tasks: Sequence[Task]) -> Floats:
    """(tasks, tasks): cosine distances of the counts of stems in their steps."""
    words = sorted({word for task in tasks for step in task.steps for word in stems_of_step(step)})
    number = {word: i for i, word in enumerate(words)}
    counts = np.zeros((len(tasks), len(words)))
    for row, task in zip(counts, tasks, strict=True):
        for step in task.steps:
            for word in stems_of_step(step):
                row[number[word]] += 1
    counts /= np.linalg.norm(counts, axis=1, keepdims=True)
    return np.clip(1 - counts @ counts.T, 0, None)


def nearest_tasks(tasks: Sequence[Task], distances: Floats, task: int, n: int = 3) -> list[Task]:
    """The n tasks nearest to task number `task`, without itself."""
    order = [other for other in np.argsort(distances[task], kind="stable") if other != task]
    return [tasks[other] for other in order[:n]]


@dataclass(frozen=True)
class TaskMap:
    """Positions in the plane (tasks, 2), clusters (tasks,), and the most frequent stems of each cluster."""

    positions: Floats
    clusters: npt.NDArray[np.int64]
    cluster_words: tuple[tuple[str, ...], ...]


def compute_task_map(tasks: Sequence[Task], seed: int = 0, n_clusters: int = 6) -> TaskMap:
    """t-SNE positions and agglomerative clusters from the distances, with the most frequent stems of each cluster."""
    from sklearn.cluster import AgglomerativeClustering
    from sklearn.manifold import TSNE

    if len(tasks) < FEWEST_TASKS:
        raise InputError(f"{len(tasks)} tasks cannot be placed on a map; expected at least {FEWEST_TASKS}")
    distances = component_distances(tasks)
    perplexity = min(15.0, max(2.0, (len(tasks) - 1) / 3))
    positions = TSNE(metric="precomputed", init="random", perplexity=perplexity, random_state=seed % 2**32).fit_transform(
        distances
    )
    n_clusters = min(n_clusters, len(tasks))
    clusters = AgglomerativeClustering(n_clusters, metric="precomputed", linkage="average").fit_predict(distances)
    words = tuple(_most_frequent_stems([t for t, c in zip(tasks, clusters, strict=True) if c == i]) for i in range(n_clusters))
    return TaskMap(np.asarray(positions, dtype=np.float64), np.asarray(clusters, dtype=np.int64), words)


def _most_frequent_stems(tasks: Sequence[Task], n: int = 3) -> tuple[str, ...]:
    counts: dict[str, int] = {}
    for task in tasks:
        for word in {word for step in task.steps for word in stems_of_step(step)}:
            counts[word] = counts.get(word, 0) + 1
    return tuple(sorted(counts, key=lambda word: (-counts[word], word))[:n])


def draw_task_map(run: Path, tasks: Mapping[str, Task], seed: int) -> Path | None:
    """Draw the map of these tasks to `run/figures/map.svg` and return the path; for fewer than FEWEST_TASKS there is none, also of an earlier run."""
    path = run / "figures" / "map.svg"
    if len(tasks) < FEWEST_TASKS:
        path.unlink(missing_ok=True)
        return None
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped,unused-ignore]

    listed = [tasks[name] for name in sorted(tasks)]
    with threadpool_limits(1):  # several threads add in any order, and t-SNE amplifies rounding errors
        task_map = compute_task_map(listed, seed)
    return draw_map_figure(path, listed, task_map)


def draw_map_figure(path: Path, tasks: Sequence[Task], task_map: TaskMap) -> Path:
    """Draw the map to `path` (PNG or SVG by its suffix) and return it: primary tasks as filled circles, related ones as rings."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13, 9) if len(tasks) > 20 else (8, 5), layout="constrained")
    axes = figure.subplots()
    axes.margins(x=0.15)  # room for titles at the right
    for task, (x, y), cluster in zip(tasks, task_map.positions, task_map.clusters, strict=True):
        colour = _COLOURS[int(cluster) % len(_COLOURS)]
        face = colour if task.primary else "none"
        axes.scatter([x], [y], s=60 if task.primary else 30, facecolors=face, edgecolors=colour)
        axes.annotate(
            task.title, (x, y), xytext=(4, 3), textcoords="offset points", fontsize=8 if task.primary else 6, color=colour
        )
    axes.set(xticks=[], yticks=[], title="Tasks near each other share step words (filled: primary, ring: related)")
    ending = path.suffix.lstrip(".") or "png"
    metadata = {"Date": None} if ending == "svg" else {"Software": None}
    svg = {"svg.hashsalt": "crosstask", "svg.fonttype": "none"}  # the same map has the same bytes; titles remain text
    return write_bytes(path, figure_bytes(figure, ending, 110, metadata, **svg))
