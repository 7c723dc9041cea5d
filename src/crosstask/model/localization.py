"""Scores (T, K) -> where each step happens: a moment, an interval around it, and whether the step counts as shown."""

import numpy as np
import numpy.typing as npt

from crosstask.inference import BadCost, NoOrderedAnswer, decode_scores
from crosstask.inference.absence import scores_at
from crosstask.inference.intervals import intervals_around
from crosstask.methods.protocols import Scorer
from crosstask.records import FoundStep, InputError, Localization, Task


def absence_thresholds_of(scorer: Scorer, task: Task) -> npt.NDArray[np.float64] | None:
    """(K,) scores below which a step counts as absent, where the scorer estimated them from a collection."""
    inner = getattr(scorer, "scorer", scorer)  # of a Model
    thresholds = getattr(inner, "absence_thresholds", None)
    return None if thresholds is None else thresholds(task)


def localization_of(
    task: Task,
    scores: npt.NDArray[np.floating],
    video: str = "",
    thresholds: npt.NDArray[np.float64] | None = None,
    decoder: str = "once",
) -> Localization:
    """The localization of a task's steps from scores (T, K); a step below its threshold, or dropped by the decoder, is not shown."""
    name = video or "the video"
    try:
        decoded = decode_scores(scores, decoder)
    except NoOrderedAnswer as error:
        raise InputError(f"{name}: {error}") from None
    except BadCost as error:
        raise InputError(f"{name}: the model gives it no score ({error}); is the model damaged?") from None
    shown = decoded >= 0
    times = np.where(shown, decoded, np.argmax(scores, axis=0))
    starts, ends = intervals_around(scores, times)
    if thresholds is not None:
        shown &= scores_at(scores, times) >= thresholds
    steps = (
        FoundStep(step, int(t), float(scores[t, k]), float(starts[k]), float(ends[k]), bool(shown[k]))
        for k, (step, t) in enumerate(zip(task.steps, times, strict=True))
    )
    return Localization(video, task.id, tuple(steps))
