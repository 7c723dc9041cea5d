"""The probable reason for each missed step, from scores and truth, in the categories of the paper."""

from collections import Counter
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from crosstask.records import Localization, StepInterval

RIGHT, ABSENT, ORDER, OBJECT, ACTION, STEP, BACKGROUND = (
    "right",
    "step absent",
    "forced by order",
    "wrong object",
    "wrong action",
    "another step",
    "background",
)
EXPLANATION = {
    ABSENT: "the video does not show the step, but every step is localized",
    ORDER: "the step's own best moment is right, but lies out of order",
    OBJECT: "localized in another step with the same action",
    ACTION: "localized in another step with the same object",
    STEP: "localized in an unrelated step",
    BACKGROUND: "localized where no step happens",
}


def outcomes(
    localization: Localization, truth: tuple[StepInterval, ...], scores: npt.NDArray[np.floating] | None, n_segments: int
) -> list[str]:
    """The outcome of each step of a localization, in list order."""
    return [_outcome(k, localization, truth, scores, n_segments) for k in range(len(localization.steps))]


def _outcome(
    k: int, localization: Localization, truth: tuple[StepInterval, ...], scores: npt.NDArray[np.floating] | None, n_segments: int
) -> str:
    own = [interval for interval in truth if interval.step == k]
    if not own:
        return ABSENT
    second = localization.steps[k].segment
    if _inside(own, second, n_segments):
        return RIGHT
    if scores is not None and _inside(own, int(scores[:, k].argmax()), n_segments):
        return ORDER
    here = sorted({step.step for step in truth if second in step.interval.segments(n_segments)})
    if not here:
        return BACKGROUND
    words, others = localization.steps[k].name.split(), [localization.steps[j].name.split() for j in here]
    if any(other[0] == words[0] for other in others):
        return OBJECT
    if any(set(other[1:]) & set(words[1:]) for other in others):
        return ACTION
    return STEP


def _inside(intervals: list[StepInterval], second: int, n_segments: int) -> bool:
    return any(second in annotated.interval.segments(n_segments) for annotated in intervals)


def count_outcomes(by_video: Iterable[list[str]]) -> Counter[str]:
    """The number of steps with each outcome."""
    return Counter(outcome for video in by_video for outcome in video)
