"""Scores (T, K) -> where each step happens: a moment, an interval around it, and whether the step counts as shown."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from crosstask.inference import BadCost, NoOrderedAnswer, decode_scores
from crosstask.inference.confidence import HIT, HIT_GENERIC, SHOWN, calibrated, is_shown
from crosstask.inference.intervals import intervals_around, step_posterior
from crosstask.methods.protocols import Scorer
from crosstask.records import FoundStep, InputError, Localization, StepLabel, Task


def scores_and_presence(
    scorer: Scorer, task: Task, features: npt.NDArray[np.floating], labels: Sequence[StepLabel] = ()
) -> tuple[npt.NDArray[np.floating], npt.NDArray[np.float64] | None]:
    """Scores (T, K), and P(step shown) (K,) where the scorer has a posterior; given labels of some steps by a person."""
    inner = getattr(scorer, "scorer", scorer)  # of a Model
    if hasattr(inner, "posterior") and hasattr(inner, "log_posterior"):
        found = inner.posterior(task, features, labels) if labels else inner.posterior(task, features)
        return inner.log_posterior(found), found.p_shown
    if labels:
        method = getattr(scorer, "method", type(inner).__name__)
        raise InputError(f"method '{method}' has no posterior that labels could change; a model of `--method hmm` has one")
    return np.asarray(scorer.score(task, features)), None


def localization_of(
    task: Task,
    scores: npt.NDArray[np.floating],
    video: str = "",
    decoder: str = "once",
    p_shown: npt.NDArray[np.float64] | None = None,
) -> Localization:
    """The localization of a task's steps from scores (T, K); a step that the decoder dropped is not shown."""
    name = video or "the video"
    if scores.shape[1:] != (len(task.steps),) or scores.dtype.kind != "f":
        raise InputError(
            f"{name}: scores of shape {scores.shape} and type {scores.dtype}; expected (T, {len(task.steps)}) in floating point"
        )
    try:
        decoded = decode_scores(scores, decoder)
    except NoOrderedAnswer as error:
        raise InputError(f"{name}: {error}") from None
    except BadCost as error:
        raise InputError(f"{name}: the model gives it no score ({error}); is the model damaged?") from None
    shown = decoded >= 0
    times = np.where(shown, decoded, np.argmax(scores, axis=0))
    starts, ends = intervals_around(scores, times)
    posterior, generic_presence = step_posterior(scores)
    at_moment = posterior[times, np.arange(len(times))]
    confidence = calibrated(at_moment, HIT if generic_presence is None else HIT_GENERIC)
    presence = generic_presence if p_shown is None else p_shown
    if presence is not None:
        presence = calibrated(presence, SHOWN)
        shown &= is_shown(presence)
    steps = [
        FoundStep(
            name=step,
            moment_s=float(t),
            score=float(scores[t, k]),
            start_s=float(starts[k]),
            end_s=float(ends[k]),
            shown=bool(shown[k]),
            confidence=float(confidence[k]),
            p_shown=None if presence is None else float(presence[k]),
        )
        for k, (step, t) in enumerate(zip(task.steps, times, strict=True))
    ]
    return Localization(video, task.id, steps)


def labels_kept(found: Localization, labels: Sequence[StepLabel]) -> Localization:
    """The localization in which steps labelled by a person are certain: shown with confidence 1, or not shown."""
    shown = {label.step: label.shown for label in labels}
    steps = [
        replace(step, shown=shown[k], confidence=1.0, p_shown=float(shown[k])) if k in shown else step
        for k, step in enumerate(found.steps)
    ]
    return replace(found, steps=steps)
