"""Every experiment by name; an experiment listed here is available on the command line and tested."""

from collections.abc import Callable

from crosstask.experiments.ablations import depth, no_narration
from crosstask.experiments.cross_task import cross_task
from crosstask.experiments.few_videos.controls import sharing_controls
from crosstask.experiments.few_videos.experiment import few_videos
from crosstask.experiments.few_videos.never_trained import never_trained
from crosstask.experiments.metrics_agreement import metrics_agreement
from crosstask.experiments.narration import narration
from crosstask.experiments.optimiser import optimiser
from crosstask.experiments.runner import ExperimentConfig
from crosstask.experiments.sharing import sharing
from crosstask.experiments.sharing_gain import sharing_gain
from crosstask.experiments.tables import ExperimentResult
from crosstask.experiments.transfer import transfer
from crosstask.records import InputError

EXPERIMENTS: dict[str, Callable[[ExperimentConfig], ExperimentResult]] = {
    "cross-task": cross_task,  # Table 2
    "sharing": sharing,  # Table 3
    "transfer": transfer,  # the figure of Sec. 5.3
    "narration": narration,  # Table S1
    "metrics": metrics_agreement,  # Table S3
    "no-narration": no_narration,  # the ablation of the supplement
    "sharing-gain": sharing_gain,
    "depth": depth,
    "optimiser": optimiser,  # Sec. 5.1, five tasks
    "few-videos": few_videos,  # does sharing pay, by training videos per task
    "never-trained": never_trained,  # tasks left out in turn, by stratum of their steps
    "sharing-controls": sharing_controls,  # permuted words, other names, other orders
}


def experiment_named(name: str) -> Callable[[ExperimentConfig], ExperimentResult]:
    """The experiment of that name."""
    if name not in EXPERIMENTS:
        raise InputError(f"experiment '{name}' is unknown; expected one of {', '.join(EXPERIMENTS)}")
    return EXPERIMENTS[name]
