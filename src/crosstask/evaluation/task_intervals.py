"""Intervals and tests whose unit is the task, for results of few tasks and few people.

A result is a table of counts: task -> group -> (hits, present steps). The recall of a task pools its groups, the mean is over tasks. Two methods are
compared on the same videos. *Interval*: tasks are drawn with replacement, and within each drawn task its groups (people) with replacement;
percentiles of the mean difference. *Test*: if neither method were better, the difference of a task could as well have had the other sign; the p-value
is the share of sign patterns whose mean is at least as far from zero as the one found. Neither treats overlapping splits or seeds as independent samples.
"""

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

Counts = Mapping[str, Mapping[str, tuple[float, float]]]  # task -> group -> (hits, present)
CONFIDENCE = 0.95
DRAWS = 4000  # of the bootstrap; the ends of the interval then vary by about a tenth of a point
_MAX_EXACT = 14  # tasks up to which all sign patterns are counted
_PATTERNS = 20_000  # drawn otherwise


def recall_by_task(counts: Counts) -> dict[str, float]:
    """Recall of each task with a present step.

    >>> recall_by_task({"a": {"P1": (1, 2), "P2": (2, 2)}})
    {'a': 0.75}
    """
    sums = {task: np.sum(list(groups.values()), axis=0) for task, groups in counts.items() if groups}
    return {task: float(hits / present) for task, (hits, present) in sorted(sums.items()) if present}


def task_difference(first: Counts, second: Counts, seed: int = 0) -> dict[str, Any]:
    """Mean over tasks of first - second with its 95 % interval, the p-value of the sign-flip test, and the tasks won."""
    a, b = recall_by_task(first), recall_by_task(second)
    tasks = sorted(a.keys() & b.keys())
    by_task = {task: a[task] - b[task] for task in tasks}
    if not tasks:
        return {"mean": None, "low": None, "high": None, "p": None, "tasks": {}, "tasks_won": 0, "of_tasks": 0}
    low, high = _bootstrap(first, second, tasks, np.random.default_rng([seed, 1])) if len(tasks) > 1 else (None, None)
    return {
        "mean": float(np.mean(list(by_task.values()))),
        "low": low,
        "high": high,
        "p": sign_flip_p(np.array(list(by_task.values())), np.random.default_rng([seed, 2])),
        "tasks": by_task,
        "tasks_won": sum(value > 0 for value in by_task.values()),
        "of_tasks": len(tasks),
    }


def mean_recall(counts: Counts, seed: int = 0) -> dict[str, Any]:
    """Mean recall over tasks with its 95 % interval, and the recall of each task."""
    nothing = {task: {group: (0.0, present) for group, (_, present) in groups.items()} for task, groups in counts.items()}
    found = task_difference(counts, nothing, seed)
    return {key: found[key] for key in ("mean", "low", "high", "tasks")}


def _bootstrap(first: Counts, second: Counts, tasks: list[str], rng: np.random.Generator) -> tuple[float, float]:
    """Percentiles of the mean difference, tasks drawn first and groups within them."""
    differences = np.empty((len(tasks), DRAWS))  # of each task, over draws of its groups
    for row, task in zip(differences, tasks, strict=True):
        groups = sorted(first[task].keys() & second[task].keys())
        hits = np.array([first[task][g][0] - second[task][g][0] for g in groups])
        present = np.array([first[task][g][1] for g in groups])
        drawn = rng.integers(len(groups), size=(DRAWS, len(groups)))
        row[:] = hits[drawn].sum(axis=1) / np.maximum(present[drawn].sum(axis=1), 1)
    chosen = rng.integers(len(tasks), size=(DRAWS, len(tasks)))
    means = differences[chosen, np.arange(DRAWS)[:, None]].mean(axis=1)
    low, high = np.quantile(means, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return float(low), float(high)


def sign_flip_p(differences: npt.NDArray[np.floating], rng: np.random.Generator) -> float:
    """Two-sided p-value of the mean of some differences under random signs.

    >>> sign_flip_p(np.array([1.0, 2.0, 3.0]), np.random.default_rng(0))
    0.25
    """
    n = len(differences)
    exact = n <= _MAX_EXACT
    signs = np.array(list(product((1, -1), repeat=n))) if exact else np.sign(rng.random((_PATTERNS, n)) - 0.5)
    if not exact:
        signs[0] = 1  # the pattern found is one of them
    means = np.abs(signs @ differences)
    return float((means >= abs(differences.sum()) - 1e-12).mean())
