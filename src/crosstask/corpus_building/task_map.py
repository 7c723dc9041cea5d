"""The map of tasks: near each other when their steps share words."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crosstask.records import Task
from crosstask.text import stems_of_step

Floats = npt.NDArray[np.float64]


def component_distances(tasks: Sequence[Task]) -> Floats:
    """(tasks, tasks) cosine distances of how often each word stands in their steps."""
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
    """The tasks nearest to one, itself left out."""
    order = [other for other in np.argsort(distances[task], kind="stable") if other != task]
    return [tasks[other] for other in order[:n]]


@dataclass(frozen=True)
class TaskMap:
    """Places on a plane (tasks, 2), clusters (tasks,), and the commonest words of each cluster."""

    places: Floats
    clusters: npt.NDArray[np.int64]
    cluster_words: tuple[tuple[str, ...], ...]


def draw_map(tasks: Sequence[Task], seed: int = 0, n_clusters: int = 6) -> TaskMap:
    """t-SNE of the distances, and clusters of the distances themselves, named by their commonest words."""
    from sklearn.cluster import AgglomerativeClustering
    from sklearn.manifold import TSNE

    distances = component_distances(tasks)
    perplexity = min(15.0, max(2.0, (len(tasks) - 1) / 3))
    places = TSNE(metric="precomputed", init="random", perplexity=perplexity, random_state=seed).fit_transform(distances)
    n_clusters = min(n_clusters, len(tasks))
    clusters = AgglomerativeClustering(n_clusters, metric="precomputed", linkage="average").fit_predict(distances)
    words = tuple(_commonest([t for t, c in zip(tasks, clusters, strict=True) if c == i]) for i in range(n_clusters))
    return TaskMap(np.asarray(places, dtype=np.float64), np.asarray(clusters, dtype=np.int64), words)


def _commonest(tasks: Sequence[Task], n: int = 3) -> tuple[str, ...]:
    counts: dict[str, int] = {}
    for task in tasks:
        for word in {word for step in task.steps for word in stems_of_step(step)}:
            counts[word] = counts.get(word, 0) + 1
    return tuple(sorted(counts, key=lambda word: (-counts[word], word))[:n])
