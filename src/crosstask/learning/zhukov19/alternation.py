"""Training as in Sec. 4.3: epochs on random labels first, then labels and classifiers in alternation.

All state is in `Progress`: order, labels and dropout are functions of (seed, epoch, video), so a training that is stopped after any
epoch resumes from its arrays and ends with the same bytes.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crosstask.learning.zhukov19.adam import AdamState, bring_up_to_date, fresh_adam
from crosstask.learning.zhukov19.component_model import initial_parameters
from crosstask.learning.zhukov19.kernels import (
    TrainingConstants,
    Workspace,
    alternating_epoch,
    initial_epoch,
    labelled_epoch,
    workspace,
)
from crosstask.learning.zhukov19.training_set import TaskArrays, VideoArrays

Floats = npt.NDArray[np.float32]
LABEL_COSTS = ("upper-bound", "linearised", "plain")


@dataclass(frozen=True)
class AlternationSettings:
    """How to train; the defaults are the paper's at D = 3200."""

    learning_rate: float = 1e-5  # paper, Sec. 4.4
    dropout: float = 0.7  # published default
    initial_epochs: int = 30  # paper, Sec. 4.3
    epochs: int = 30  # published default
    label_cost: str = "upper-bound"  # Eq. (17); 'linearised' is the published code's form, 'plain' is F alone
    per_segment: bool = True  # deviation 1: the published code averages (3) over T

    def __post_init__(self) -> None:
        """Refuse settings without a meaning."""
        if self.label_cost not in LABEL_COSTS:
            raise ValueError(f"label cost '{self.label_cost}' is unknown; expected one of {', '.join(LABEL_COSTS)}")
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout {self.dropout} is out of range; expected 0 <= dropout < 1")
        if not self.learning_rate > 0:
            raise ValueError(f"learning rate {self.learning_rate} is out of range; expected a number above 0")
        if self.initial_epochs < 0 or self.epochs < 0:
            raise ValueError("a number of epochs cannot be negative")


@dataclass
class Progress:
    """The state of a training between two epochs."""

    parameters: Floats  # (M, D + 1)
    adam: AdamState
    labels: npt.NDArray[np.int64]  # active row of every (video, step); -1 before the first draw
    epochs_done: int = 0
    losses: tuple[float, ...] = ()


def begin(n_components: int, n_dimensions: int, videos: VideoArrays, seed: int) -> Progress:
    """A training before its first epoch."""
    parameters = initial_parameters(n_components, n_dimensions, np.random.default_rng([seed, 0]))
    labels = np.full(int(videos.first_label[-1]), -1, dtype=np.int64)
    return Progress(parameters, fresh_adam((n_components, n_dimensions + 1)), labels)


def order_of_videos(n_videos: int, seed: int, epoch: int) -> npt.NDArray[np.int64]:
    """The shuffled videos of an epoch."""
    return np.random.default_rng([seed, 1, epoch]).permutation(n_videos)


def alternate(
    rows: npt.NDArray[np.generic],
    videos: VideoArrays,
    tasks: TaskArrays,
    progress: Progress,
    settings: AlternationSettings,
    seed: int,
    after_epoch: Callable[[Progress], None] = lambda progress: None,
) -> Progress:
    """`progress` after all remaining epochs; rows (R, D) are float16 or float32."""
    stored, space, constants = as_stored(rows), workspace_for(rows.shape[1], videos, tasks), training_constants(settings, seed)

    def run(epoch: int, order: npt.NDArray[np.int64]) -> float:
        kernel = initial_epoch if epoch < settings.initial_epochs else alternating_epoch
        return kernel(stored, order, epoch, videos, tasks, progress.parameters, progress.adam, progress.labels, constants, space)

    return _all_epochs(run, len(videos.task), progress, settings, seed, after_epoch)


def supervise(
    rows: npt.NDArray[np.generic],
    videos: VideoArrays,
    tasks: TaskArrays,
    progress: Progress,
    settings: AlternationSettings,
    seed: int,
    after_epoch: Callable[[Progress], None] = lambda progress: None,
) -> Progress:
    """`progress` after all remaining epochs of training on known labels: the allowed segments of `videos` are the true ones."""
    stored, space, constants = as_stored(rows), workspace_for(rows.shape[1], videos, tasks), training_constants(settings, seed)

    def run(epoch: int, order: npt.NDArray[np.int64]) -> float:
        return labelled_epoch(stored, order, epoch, videos, tasks, progress.parameters, progress.adam, constants, space)

    return _all_epochs(run, len(videos.task), progress, settings, seed, after_epoch)


def _all_epochs(
    run: Callable[[int, npt.NDArray[np.int64]], float],
    n_videos: int,
    progress: Progress,
    settings: AlternationSettings,
    seed: int,
    after_epoch: Callable[[Progress], None],
) -> Progress:
    """`progress` after the remaining epochs, each over the videos in an order of its own."""
    for epoch in range(progress.epochs_done, settings.initial_epochs + settings.epochs):
        loss = run(epoch, order_of_videos(n_videos, seed, epoch))
        _finish_epoch(progress, float(loss), settings)
        after_epoch(progress)
    return progress


def _finish_epoch(progress: Progress, loss: float, settings: AlternationSettings) -> None:
    """Bring every component up to date, so that the parameters between epochs are those of a dense Adam."""
    bring_up_to_date(progress.parameters, progress.adam, np.arange(len(progress.parameters)), settings.learning_rate)
    progress.epochs_done += 1
    progress.losses = (*progress.losses, loss)


def as_stored(rows: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
    """Rows as the kernels read them: float16 as its bits, anything else as float32."""
    if rows.dtype == np.float16:
        return rows.view(np.int16)
    return rows if rows.dtype == np.float32 else rows.astype(np.float32)


def workspace_for(n_dimensions: int, videos: VideoArrays, tasks: TaskArrays) -> Workspace:
    """A workspace for the largest video."""
    return workspace(n_dimensions, int(tasks.n_steps.max()), max(1, int(np.diff(videos.first_active).max())))


def training_constants(settings: AlternationSettings, seed: int) -> TrainingConstants:
    """The settings as the kernels read them."""
    rate = settings.learning_rate
    return TrainingConstants(
        learning_rate=rate,
        dropout=settings.dropout,
        bound_weight=rate if settings.label_cost == "upper-bound" else 0.0,
        linearised_weight=rate if settings.label_cost == "linearised" else 0.0,
        per_segment=settings.per_segment,
        seed=np.uint64(seed),
    )
