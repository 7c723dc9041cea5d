"""Every experiment by name: listing one here is what gets it offered and tested."""

from collections.abc import Callable

from crosstask.experiments.answering import Answer
from crosstask.experiments.asking import Asked
from crosstask.experiments.questions.cross_task import cross_task
from crosstask.experiments.questions.depth import depth
from crosstask.experiments.questions.measures import measures
from crosstask.experiments.questions.narration import narration
from crosstask.experiments.questions.no_narration import no_narration
from crosstask.experiments.questions.optimiser import optimiser
from crosstask.experiments.questions.sharing import sharing
from crosstask.experiments.questions.sharing_gain import sharing_gain
from crosstask.experiments.questions.transfer import transfer
from crosstask.records import InputError

EXPERIMENTS: dict[str, Callable[[Asked], Answer]] = {
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


def experiment_named(name: str) -> Callable[[Asked], Answer]:
    """The experiment of that name."""
    if name not in EXPERIMENTS:
        raise InputError(f"experiment '{name}' is unknown; expected one of {', '.join(EXPERIMENTS)}")
    return EXPERIMENTS[name]
