"""Do deeper classifiers help? Linear against one and two hidden layers in the same alternation. Extra: deep."""

from crosstask.experiments.arms import Arm
from crosstask.experiments.runner import ExperimentConfig
from crosstask.experiments.tables import ExperimentResult, result_with_rows, summarise, write_result

WIDTH = 256


def depth(config: ExperimentConfig) -> ExperimentResult:
    """Hidden layers, none to two, on this corpus."""
    hidden = {"linear": (), "one hidden layer": (WIDTH,), "two hidden layers": (WIDTH, WIDTH)}
    rows = [Arm(name, "deep", "component", "all", learning={"hidden": list(sizes)}) for name, sizes in hidden.items()]
    pairs = [("one hidden layer", "linear"), ("two hidden layers", "linear")]
    summary, results = summarise(config, "depth", rows, pairs)
    return write_result(config, result_with_rows(summary, "Depth of the classifier, in percent", results))
