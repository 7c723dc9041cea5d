"""Runs to figures: mean and deviation, and paired differences with a 95 % interval (Student's t over the runs)."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

MEASURES = ("recall", "map", "f1")
CONFIDENCE = 0.95


def spread(values: Sequence[float]) -> dict[str, Any]:
    """Mean, deviation (None of a single run) and the runs themselves.

    >>> spread([1.0, 3.0])
    {'mean': 2.0, 'deviation': 1.4142135623730951, 'runs': [1.0, 3.0]}
    """
    deviation = float(np.std(values, ddof=1)) if len(values) > 1 else None
    return {"mean": float(np.mean(values)), "deviation": deviation, "runs": list(values)}


def paired_difference(first: Sequence[float], second: Sequence[float]) -> dict[str, Any]:
    """Mean of first - second over the same runs, and its 95 % interval; no interval of a single run.

    >>> {k: None if v is None else round(v, 2) for k, v in paired_difference([2.0, 4.0, 6.0], [1.0, 2.0, 3.0]).items()}
    {'mean': 2.0, 'low': -0.48, 'high': 4.48}
    """
    from scipy.stats import t

    difference = np.subtract(first, second)
    mean = float(difference.mean())
    if len(difference) < 2:
        return {"mean": mean, "low": None, "high": None}
    reach = float(t.ppf(0.5 + CONFIDENCE / 2, len(difference) - 1) * difference.std(ddof=1) / np.sqrt(len(difference)))
    return {"mean": mean, "low": mean - reach, "high": mean + reach}


def figures_of(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Recall, mAP and F1 of one setting over its runs: the mean over tasks, and each task."""
    figures: dict[str, Any] = {}
    for measure in MEASURES:
        figures[measure] = spread([result[measure]["mean"] for result in results])
        tasks = sorted({task for result in results for task in result[measure]["tasks"]})
        figures[measure]["tasks"] = {
            task: spread([r[measure]["tasks"][task] for r in results if task in r[measure]["tasks"]]) for task in tasks
        }
    figures["videos"] = [result["videos"] for result in results]
    figures["trained_on"] = [result["trained_on"] for result in results]
    figures["skipped"] = sum(len(result["skipped"]) for result in results)
    return figures


def difference_of(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Paired differences of two settings' figures: the means, each task, and how many tasks are won."""
    found: dict[str, Any] = {}
    for measure in MEASURES:
        a, b = first[measure], second[measure]
        tasks = {t: a["tasks"][t]["mean"] - b["tasks"][t]["mean"] for t in a["tasks"] if t in b["tasks"]}
        found[measure] = paired_difference(a["runs"], b["runs"]) | {
            "tasks": tasks,
            "tasks_won": sum(gain > 0 for gain in tasks.values()),
            "of_tasks": len(tasks),
        }
    return found
