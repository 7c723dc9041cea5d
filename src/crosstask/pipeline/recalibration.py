"""Confidence that follows what a person checked: the answers of a review say how often a confidence of 0.6 was right in this collection.

Only steps that the review asked for count. It chooses them by confidence or at random, so among steps of equal confidence they are a fair
sample; corrections that a person made unasked are mostly of wrong answers. Platt scaling is refitted with the package's as prior
(`inference/confidence.py`).
"""

from collections.abc import Iterable
from dataclasses import replace

from crosstask.inference.confidence import Calibration, calibrated, fit_calibration
from crosstask.records import Localization, VideoKey
from crosstask.runs import Change

FEWEST_ANSWERS = 10  # with fewer, the package's calibration is kept
_IDENTITY = Calibration(1.0, 0.0)  # the prior: the confidence of the package is right as it is


def calibration_from(changes: Iterable[Change]) -> Calibration | None:
    """The map from the package's confidence to that of this collection; None where too few answers were checked.

    `changes` are those that hold (`LabelStore.current`). The first answer about a step counts, as later ones may have been learnt from.
    """
    first: dict[tuple[VideoKey, int], tuple[float, bool]] = {}
    for change in changes:
        for label in change.labels:
            if change.drawn is not None and label.right is not None and label.confidence is not None:
                first.setdefault((change.key, label.step), (label.confidence, label.right))
    if len(first) < FEWEST_ANSWERS:
        return None
    confidence, right = zip(*first.values(), strict=True)
    return fit_calibration(confidence, right, _IDENTITY)


def recalibrated(found: Localization, calibration: Calibration | None, labelled: Iterable[int] = ()) -> Localization:
    """The localization with mapped confidence; steps labelled by a person keep theirs."""
    if calibration is None:
        return found
    kept = set(labelled)
    steps = [
        step
        if k in kept or step.confidence is None
        else replace(step, confidence=float(calibrated(step.confidence, calibration)))
        for k, step in enumerate(found.steps)
    ]
    return replace(found, steps=steps)
