"""Summaries over runs: mean and standard deviation, and paired differences with a 95 % interval (Student's t over the runs)."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

METRICS = ("recall", "map", "f1", "start_5s", "iou")
CONFIDENCE = 0.95


def run_statistics(values: Sequence[float]) -> dict[str, Any]:
    """Mean, standard deviation (None for a single run) and the values of the runs.

    >>> run_statistics([1.0, 3.0])
    {'mean': 2.0, 'deviation': 1.4142135623730951, 'runs': [1.0, 3.0]}
    """
    deviation = float(np.std(values, ddof=1)) if len(values) > 1 else None
    return {"mean": float(np.mean(values)), "deviation": deviation, "runs": list(values)}


def mean_interval(values: Sequence[float] | npt.NDArray[np.floating]) -> dict[str, Any]:
    """The mean and its 95 % interval by Student's t; no interval for a single value.

    >>> {k: None if v is None else round(v, 2) for k, v in mean_interval([1.0, 2.0, 3.0]).items()}
    {'mean': 2.0, 'low': -0.48, 'high': 4.48}
    """
    from scipy.stats import t

    sample = np.asarray(values)
    mean = float(sample.mean())
    if len(sample) < 2:
        return {"mean": mean, "low": None, "high": None}
    half_width = float(t.ppf(0.5 + CONFIDENCE / 2, len(sample) - 1) * sample.std(ddof=1) / np.sqrt(len(sample)))
    return {"mean": mean, "low": mean - half_width, "high": mean + half_width}


def paired_difference(first: Sequence[float], second: Sequence[float]) -> dict[str, Any]:
    """The mean of first - second over the same runs, and its 95 % interval.

    >>> {k: None if v is None else round(v, 2) for k, v in paired_difference([2.0, 4.0, 6.0], [1.0, 2.0, 3.0]).items()}
    {'mean': 2.0, 'low': -0.48, 'high': 4.48}
    """
    return mean_interval(np.subtract(first, second))


def summarise_method(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The metrics of one method over its runs: the mean over tasks, and each task."""
    summary: dict[str, Any] = {}
    for metric in METRICS:
        summary[metric] = run_statistics([result[metric]["mean"] for result in results])
        tasks = sorted({task for result in results for task in result[metric]["tasks"]})
        summary[metric]["tasks"] = {
            task: run_statistics([r[metric]["tasks"][task] for r in results if task in r[metric]["tasks"]]) for task in tasks
        }
    summary["videos"] = [result["videos"] for result in results]
    summary["trained_on"] = [result["trained_on"] for result in results]
    summary["skipped"] = sum(len(result["skipped"]) for result in results)
    return summary


def compare_methods(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Paired differences of two methods' summaries: of the means, of each task, and the number of tasks won."""
    comparison: dict[str, Any] = {}
    for metric in METRICS:
        a, b = first[metric], second[metric]
        tasks = {t: a["tasks"][t]["mean"] - b["tasks"][t]["mean"] for t in a["tasks"] if t in b["tasks"]}
        comparison[metric] = paired_difference(a["runs"], b["runs"]) | {
            "tasks": tasks,
            "tasks_won": sum(gain > 0 for gain in tasks.values()),
            "of_tasks": len(tasks),
        }
    return comparison
