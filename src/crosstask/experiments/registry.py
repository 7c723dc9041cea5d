"""Every experiment by name: listing one here is what gets it offered and tested."""

from collections.abc import Callable

from crosstask.experiments.cross_task import cross_task
from crosstask.experiments.depth import depth
from crosstask.experiments.metrics_agreement import measures
from crosstask.experiments.narration import narration
from crosstask.experiments.no_narration import no_narration
from crosstask.experiments.optimiser import optimiser
from crosstask.experiments.runner import ExperimentConfig
from crosstask.experiments.sharing import sharing
from crosstask.experiments.sharing_gain import sharing_gain
from crosstask.experiments.tables import ExperimentResult
from crosstask.experiments.transfer import transfer
from crosstask.records import InputError

EXPERIMENTS: dict[str, Callable[[ExperimentConfig], ExperimentResult]] = {
    "cross-task": cross_task,
    "sharing": sharing,
    "transfer": transfer,
    "narration": narration,
    "metrics": measures,
    "no-narration": no_narration,
    "sharing-gain": sharing_gain,
    "depth": depth,
    "optimiser": optimiser,
}


def experiment_named(name: str) -> Callable[[ExperimentConfig], ExperimentResult]:
    """The experiment of that name."""
    if name not in EXPERIMENTS:
        raise InputError(f"experiment '{name}' is unknown; expected one of {', '.join(EXPERIMENTS)}")
    return EXPERIMENTS[name]
