"""Scores (T, K) -> where each step happens: a moment, an interval around it, and whether the step counts as shown."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from crosstask.inference import BadCost, NoOrderedAnswer, decode_scores
from crosstask.inference.confidence import HIT, HIT_GENERIC, SHOWN, ConfidenceInputs, calibrated, hit_probability, is_shown
from crosstask.inference.intervals import intervals_around, step_posterior
from crosstask.methods.protocols import Scorer
from crosstask.records import FoundStep, InputError, Localization, StepLabel, Task


class VideoScores(NamedTuple):
    """Scores (T, K) of a video; where the scorer has a posterior, P(step shown) (K,), and what the confidence needs."""

    scores: npt.NDArray[np.floating]
    p_shown: npt.NDArray[np.float64] | None = None
    confidence: ConfidenceInputs | None = None


def video_scores(scorer: Scorer, task: Task, features: npt.NDArray[np.floating], labels: Sequence[StepLabel] = ()) -> VideoScores:
    """The scores of a video with features (T, D), given labels of some steps by a person."""
    inner = getattr(scorer, "scorer", scorer)  # of a Model
    if hasattr(inner, "posterior") and hasattr(inner, "log_posterior"):
        found = inner.posterior(task, features, labels) if labels else inner.posterior(task, features)
        confidence = inner.confidence_inputs(task, features) if hasattr(inner, "confidence_inputs") else None
        if confidence is not None:
            labelled = [label.step for label in labels]  # certain, whatever order alone says
            confidence.by_order[:, labelled] = found.in_step[:, labelled]
        return VideoScores(inner.log_posterior(found), found.p_shown, confidence)
    if labels:
        method = getattr(scorer, "method", type(inner).__name__)
        raise InputError(f"method '{method}' has no posterior that labels could change; a model of `--method hmm` has one")
    return VideoScores(np.asarray(scorer.score(task, features)))


def localization_of(
    task: Task, scored: npt.NDArray[np.floating] | VideoScores, video: str = "", decoder: str = "once"
) -> Localization:
    """The localization of a task's steps from scores (T, K), or from `video_scores`; a step that the decoder dropped is not shown."""
    name = video or "the video"
    scores, p_shown, inputs = scored if isinstance(scored, VideoScores) else VideoScores(scored)
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
    steps = np.arange(len(times))
    if inputs is None:
        confidence = calibrated(posterior[times, steps], HIT if generic_presence is None else HIT_GENERIC)
    else:
        confidence = hit_probability(posterior[times, steps], inputs.by_order[times, steps], inputs.informativeness)
    presence = generic_presence if p_shown is None else p_shown
    if presence is not None:
        presence = calibrated(presence, SHOWN)
        shown &= is_shown(presence)
    found = [
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
    return Localization(video, task.id, found)


def labels_kept(found: Localization, labels: Sequence[StepLabel]) -> Localization:
    """The localization in which steps labelled by a person are certain: shown with confidence 1, or not shown."""
    shown = {label.step: label.shown for label in labels}
    steps = [
        replace(step, shown=shown[k], confidence=1.0, p_shown=float(shown[k])) if k in shown else step
        for k, step in enumerate(found.steps)
    ]
    return replace(found, steps=steps)
