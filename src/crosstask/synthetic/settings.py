"""Size and difficulty of a synthetic corpus.

Quantities that can be counted in the release (video lengths, durations, missing steps, order, windows) are set from it and are the same at
every difficulty except `easy`. The norms of the feature model were chosen so that generated features on the timelines of the Breakfast
dataset have the statistics of Breakfast's own features (`benchmarks/synthetic/calibration.py`).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from crosstask.records import InputError

Setting = TypeVar("Setting")


@dataclass(frozen=True)
class Shape:
    """How many tasks and videos there are, and how long the videos are."""

    name: str
    primary_tasks: int
    related_tasks: int
    train_videos_per_task: int
    test_videos_per_task: int
    validation_videos_per_task: int
    related_videos_per_task: int
    mean_log_seconds: float = 5.56  # release: 5.49 primary, 5.58 related; `longest_s` cuts off a little
    task_deviation_log_seconds: float = 0.18  # release: standard deviation between primary tasks
    video_deviation_log_seconds: float = 0.52  # release: standard deviation within a task
    shortest_s: int = 40  # release: 99 % of the videos last longer than 57 s
    longest_s: int = 630  # release: the longest primary video lasts 629 s

    @property
    def videos_per_primary_task(self) -> int:
        """Number of training, test and validation videos of a primary task together."""
        return self.train_videos_per_task + self.test_videos_per_task + self.validation_videos_per_task


@dataclass(frozen=True)
class Difficulty:
    """Strength of signal and noise. A norm is the length of a latent vector; the shared appearance of a step has length 1 by default."""

    name: str
    shared_norm: float = 1.0  # appearance of a step that follows from its words, shared by all tasks; by definition the unit
    task_specific_norm: float = 0.2  # appearance of a step that no step of the same name in another task shares
    video_variation_norm: float = 2.1  # how far the appearance of a word in one video is from its general appearance
    task_norm: float = 1.0  # offset that is constant within a task
    video_norm: float = 0.8  # offset that is constant within a video
    distractor_norm: float = (
        0.7  # an object in view although no step uses it: as long as an object in a step of a verb and an object
    )
    distractor_rate: float = 0.1  # share of the time, for each object; set so that full supervision has the published recall
    slow_noise_norm: float = 1.0  # noise that changes over several seconds
    fast_noise_norm: float = 3.5  # noise that changes from second to second
    irrelevant_related_rate: float = 0.44  # related videos that show another task; paper, supplement
    missed_window_rate: float = 0.44  # leaves 0.46 of the shown steps and 0.62 of their intervals outside the window
    early_mention_rate: float = (
        0.8  # of the mentions shortly before or after a step; half of all missed windows then come before it
    )


SHAPES: Mapping[str, Shape] = {
    shape.name: shape
    for shape in (
        Shape("small", 4, 6, 6, 6, 0, 10, mean_log_seconds=4.6),
        Shape("demo", 6, 8, 20, 20, 4, 20),
        Shape("paper", 18, 65, 30, 30, 10, 30),
        Shape(
            "speed", 12, 0, 15, 0, 0, 0, mean_log_seconds=5.7, task_deviation_log_seconds=0.05, video_deviation_log_seconds=0.15
        ),
    )
}

_DEFAULT = Difficulty("default")
DIFFICULTIES: Mapping[str, Difficulty] = {
    difficulty.name: difficulty
    for difficulty in (
        # Not matched to any real data: for tests and examples that must show learning with few short videos.
        replace(
            _DEFAULT,
            name="easy",
            video_variation_norm=0.4,
            task_norm=0.5,
            video_norm=0.4,
            distractor_rate=0.03,
            slow_noise_norm=0.4,
            fast_noise_norm=0.7,
            irrelevant_related_rate=0.0,
            missed_window_rate=0.1,
        ),
        replace(_DEFAULT, name="clear", fast_noise_norm=0.75 * _DEFAULT.fast_noise_norm),
        _DEFAULT,
        replace(_DEFAULT, name="noisy", fast_noise_norm=1.25 * _DEFAULT.fast_noise_norm),
        replace(_DEFAULT, name="cluttered", distractor_rate=2 * _DEFAULT.distractor_rate),
        replace(
            _DEFAULT, name="idiosyncratic", shared_norm=0.8, task_specific_norm=0.67
        ),  # as discriminative in sum, less of it shared
    )
}


def shape_named(shape: Shape | str) -> Shape:
    """The shape with this name; a `Shape` is returned as it is."""
    return shape if isinstance(shape, Shape) else _named(shape, SHAPES, "shape")


def difficulty_named(difficulty: Difficulty | str) -> Difficulty:
    """The difficulty with this name; a `Difficulty` is returned as it is.

    >>> difficulty_named("noisy").fast_noise_norm > difficulty_named("default").fast_noise_norm
    True
    """
    return difficulty if isinstance(difficulty, Difficulty) else _named(difficulty, DIFFICULTIES, "difficulty")


def _named(name: str, table: Mapping[str, Setting], kind: str) -> Setting:
    if name not in table:
        raise InputError(f"synthetic corpus: unknown {kind} '{name}'; expected one of {', '.join(table)}")
    return table[name]
