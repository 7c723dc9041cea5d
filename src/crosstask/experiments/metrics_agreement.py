"""Table S3: step recall, frame mAP and F1 of every method, and the correlation of the measures."""

import numpy as np

from crosstask.experiments.arms import Arm
from crosstask.experiments.runner import ExperimentConfig
from crosstask.experiments.tables import ExperimentResult, result_table, run_and_summarise, write_result

PAPER = {
    "recall": {"random": 0.0827, "richard18": 0.067, "alayrac16": 0.133, "task-specific": 0.186, "zhukov19": 0.224},
    "map": {"random": 0.043, "richard18": 0.055, "alayrac16": 0.069, "task-specific": 0.089, "zhukov19": 0.11},
}


def metrics_agreement(config: ExperimentConfig) -> ExperimentResult:
    """`experiment metrics`: Table S3 on this corpus, and the correlation of recall with mAP and F1 over the methods."""
    arms = [
        Arm("random", "random"),
        Arm("richard18", "richard18"),
        Arm("alayrac16", "alayrac16"),
        Arm("task-specific", "task-specific", "none"),
        Arm("zhukov19", "zhukov19", "component", "all"),
    ]
    summary, results = run_and_summarise(config, "metrics", arms, [("zhukov19", "task-specific")])
    summary["paper"] = PAPER
    means = {m: [summary["results"][arm.name][m]["mean"] for arm in arms] for m in ("recall", "map", "f1")}
    summary["correlation"] = {other: _correlation(means["recall"], means[other]) for other in ("map", "f1")}
    return write_result(config, result_table(summary, "The measures beside each other, in percent", results))


def _correlation(first: list[float], second: list[float]) -> float | None:
    """Pearson's correlation coefficient, or None where one of them does not vary."""
    a, b = np.array(first), np.array(second)
    return float(np.corrcoef(a, b)[0, 1]) if a.std() > 0 and b.std() > 0 else None
