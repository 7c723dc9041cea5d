"""Why a step was missed, as far as scores and truth can tell: the paper's own groups."""

from collections import Counter

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
    ABSENT: "the video does not show the step, but every step is placed",
    ORDER: "the step's own best moment is right, but lies out of order",
    OBJECT: "placed in another step with the same action",
    ACTION: "placed in another step with the same object",
    STEP: "placed in an unrelated step",
    BACKGROUND: "placed where no step happens",
}


def outcomes(
    parse: Localization, truth: tuple[StepInterval, ...], scores: npt.NDArray[np.floating] | None, n_segments: int
) -> list[str]:
    """The outcome of each step of a parse, in list order."""
    return [_outcome(k, parse, truth, scores, n_segments) for k in range(len(parse.steps))]


def _outcome(
    k: int, parse: Localization, truth: tuple[StepInterval, ...], scores: npt.NDArray[np.floating] | None, n_segments: int
) -> str:
    own = [span for span in truth if span.step == k]
    if not own:
        return ABSENT
    second = parse.steps[k].second
    if _inside(own, second, n_segments):
        return RIGHT
    if scores is not None and _inside(own, int(scores[:, k].argmax()), n_segments):
        return ORDER
    here = sorted({span.step for span in truth if second in span.interval.segments(n_segments)})
    if not here:
        return BACKGROUND
    words, others = parse.steps[k].step.split(), [parse.steps[j].step.split() for j in here]
    if any(other[0] == words[0] for other in others):
        return OBJECT
    if any(set(other[1:]) & set(words[1:]) for other in others):
        return ACTION
    return STEP


def _inside(spans: list[StepInterval], second: int, n_segments: int) -> bool:
    return any(second in span.interval.segments(n_segments) for span in spans)


def count(lists: list[list[str]]) -> Counter[str]:
    """How often each outcome happened."""
    return Counter(outcome for one in lists for outcome in one)
