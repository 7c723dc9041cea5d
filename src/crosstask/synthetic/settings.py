"""How large the planted world is, and how hard.

What can be counted in the release (lengths, durations, missing steps, order, windows) is set from it and is the same at every difficulty;
what cannot be counted (how alike two showings of a step look) is judgement, and is what the difficulties vary.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from crosstask.records import InputError

Arm = TypeVar("Arm")


@dataclass(frozen=True)
class Shape:
    """How many tasks and videos, and how long the videos are."""

    name: str
    primary_tasks: int
    related_tasks: int
    train_videos_per_task: int
    test_videos_per_task: int
    validation_videos_per_task: int
    related_videos_per_task: int
    mean_log_seconds: float = 5.56  # release: 5.49 primary, 5.58 related; a little is cut off at the longest
    task_deviation_log_seconds: float = 0.18  # release, between primary tasks
    video_deviation_log_seconds: float = 0.52  # release, within a task
    shortest_s: int = 40  # release: 99 % of the videos last longer than 57 s
    longest_s: int = 630  # release: the longest primary video lasts 629 s

    @property
    def videos_per_primary_task(self) -> int:
        """Training, test and validation videos of a primary task together."""
        return self.train_videos_per_task + self.test_videos_per_task + self.validation_videos_per_task


@dataclass(frozen=True)
class Difficulty:
    """How much of what is seen tells the steps apart. Strengths are lengths of vectors beside a step's shared look of length 1."""

    name: str
    shared_look: float = 1.0  # by definition the unit
    own_look: float = 0.6  # a step of a task looks like its words, and somewhat like nothing else
    showing_look: float = 0.9  # how far one video's milk is from another's
    scene: float = 1.0  # kitchen or garage: constant within a task
    video_style: float = 0.8  # camera and light: constant within a video
    drift: float = 0.6  # slow walk of the picture over a video
    distractor_look: float = 0.6  # an object of the task in view although nothing is done with it
    distractor_share: float = 0.25  # of the time, for each object
    in_view: float = 0.75  # of a step's seconds; the others show a face or a wall
    noise: float = 4.0  # length of what changes from second to second
    irrelevant_related: float = 0.44  # paper, supplement: 56 % of the related videos are relevant
    outside: float = 0.61  # paper, supplement: true steps that lie entirely outside their window


SHAPES: Mapping[str, Shape] = {
    shape.name: shape
    for shape in (
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
        replace(_DEFAULT, name="clear", noise=3.0),
        _DEFAULT,
        replace(_DEFAULT, name="noisy", noise=5.0),
        replace(_DEFAULT, name="cluttered", distractor_look=0.9, distractor_share=0.4),
        replace(_DEFAULT, name="idiosyncratic", shared_look=0.8, own_look=0.85),  # as telling in sum, less of it shared
    )
}


def shape_named(shape: Shape | str) -> Shape:
    """A shape by its name, or itself."""
    return shape if isinstance(shape, Shape) else named(shape, SHAPES, "shape")


def difficulty_named(difficulty: Difficulty | str) -> Difficulty:
    """A difficulty by its name, or itself.

    >>> difficulty_named("noisy").noise > difficulty_named("default").noise
    True
    """
    return difficulty if isinstance(difficulty, Difficulty) else named(difficulty, DIFFICULTIES, "difficulty")


def named(name: str, table: Mapping[str, Arm], kind: str) -> Arm:
    """What stands under a name in a table of settings."""
    if name not in table:
        raise InputError(f"planted {kind} '{name}' is unknown; expected one of {', '.join(table)}")
    return table[name]
