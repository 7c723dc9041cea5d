"""What are the narration windows worth? The same training with and without them."""

from crosstask.experiments.arms import Arm
from crosstask.experiments.runner import ExperimentConfig
from crosstask.experiments.tables import ExperimentResult, result_with_rows, summarise, write_result


def no_narration(config: ExperimentConfig) -> ExperimentResult:
    """The ablation of the supplement on this corpus."""
    rows = [
        Arm("uniform", "uniform"),
        Arm("task-specific, no windows", "task-specific", "none", narration=False),
        Arm("task-specific, windows", "task-specific", "none"),
        Arm("proposed, no windows", "proposed", "component", "all", narration=False),
        Arm("proposed, windows", "proposed", "component", "all"),
    ]
    pairs = [
        ("proposed, windows", "proposed, no windows"),
        ("task-specific, windows", "task-specific, no windows"),
        ("proposed, no windows", "uniform"),
    ]
    summary, results = summarise(config, "no-narration", rows, pairs)
    summary["paper"] = {"windows - no windows, recall": 0.054}
    return write_result(config, result_with_rows(summary, "With and without narration windows, in percent", results))
