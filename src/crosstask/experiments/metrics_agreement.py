"""Do the measures agree? Table S3: recall beside frame mAP (and F1) for every method."""

from crosstask.experiments.arms import Arm
from crosstask.experiments.runner import ExperimentConfig
from crosstask.experiments.tables import ExperimentResult, result_with_rows, summarise, write_result

PAPER = {
    "recall": {"random": 0.0827, "richard18": 0.067, "alayrac16": 0.133, "task-specific": 0.186, "proposed": 0.224},
    "map": {"random": 0.043, "richard18": 0.055, "alayrac16": 0.069, "task-specific": 0.089, "proposed": 0.11},
}


def measures(config: ExperimentConfig) -> ExperimentResult:
    """Table S3 on this corpus, and how recall and mAP go together over settings."""
    rows = [
        Arm("random", "random"),
        Arm("richard18", "richard18"),
        Arm("alayrac16", "alayrac16"),
        Arm("task-specific", "task-specific", "none"),
        Arm("proposed", "proposed", "component", "all"),
    ]
    summary, results = summarise(config, "metrics", rows, [("proposed", "task-specific")])
    summary["paper"] = PAPER
    means = {m: [summary["results"][s.name][m]["mean"] for s in rows] for m in ("recall", "map", "f1")}
    summary["correlation"] = {other: _correlation(means["recall"], means[other]) for other in ("map", "f1")}
    return write_result(config, result_with_rows(summary, "The measures beside each other, in percent", results))


def _correlation(first: list[float], second: list[float]) -> float | None:
    """Pearson's, or None where one of them does not vary."""
    import numpy as np

    a, b = np.array(first), np.array(second)
    return float(np.corrcoef(a, b)[0, 1]) if a.std() > 0 and b.std() > 0 else None
