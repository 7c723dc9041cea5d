"""Ablations: narration windows left out of training (supplement), and deeper classifiers in the same alternation (Extra: deep)."""

from crosstask.experiments.arms import Arm
from crosstask.experiments.runner import ExperimentConfig
from crosstask.experiments.tables import ExperimentResult, result_table, run_and_summarise, write_result

HIDDEN_UNITS = 256  # per hidden layer; ours, the paper does not print it


def no_narration(config: ExperimentConfig) -> ExperimentResult:
    """`experiment no-narration`: the same training with and without narration windows."""
    arms = [
        Arm("uniform", "uniform"),
        Arm("task-specific, no windows", "task-specific", "none", narration=False),
        Arm("task-specific, windows", "task-specific", "none"),
        Arm("zhukov19, no windows", "zhukov19", "component", "all", narration=False),
        Arm("zhukov19, windows", "zhukov19", "component", "all"),
    ]
    pairs = [
        ("zhukov19, windows", "zhukov19, no windows"),
        ("task-specific, windows", "task-specific, no windows"),
        ("zhukov19, no windows", "uniform"),
    ]
    summary, results = run_and_summarise(config, "no-narration", arms, pairs)
    summary["paper"] = {"windows - no windows, recall": 0.054}
    return write_result(config, result_table(summary, "With and without narration windows, in percent", results))


def depth(config: ExperimentConfig) -> ExperimentResult:
    """`experiment depth`: classifiers with no, one and two hidden layers."""
    hidden = {"linear": (), "one hidden layer": (HIDDEN_UNITS,), "two hidden layers": (HIDDEN_UNITS, HIDDEN_UNITS)}
    arms = [Arm(name, "deep", "component", "all", learning={"hidden": list(sizes)}) for name, sizes in hidden.items()]
    pairs = [("one hidden layer", "linear"), ("two hidden layers", "linear")]
    summary, results = run_and_summarise(config, "depth", arms, pairs)
    return write_result(config, result_table(summary, "Depth of the classifier, in percent", results))
