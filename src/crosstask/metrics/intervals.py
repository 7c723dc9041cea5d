"""Predicted intervals and predicted absence compared with annotation.

*IoU*: for every step that a video shows, intersection over union of its one predicted interval with the best-fitting true interval (a step
may be shown several times); an interval that overlaps none counts 0. Pooled within a task, then the mean over tasks. *Absence*: F1 of
"this step is not shown" over all (video, step) pairs of a task, then the mean over tasks; `random_f1` is the expected F1 of predicting the
same share at random.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from crosstask.records import Interval

Flags = npt.NDArray[np.bool_]


def best_iou(predicted: Interval, truths: Sequence[Interval]) -> float:
    """The largest intersection over union of an interval with one of the true intervals.

    >>> best_iou(Interval(2, 6), [Interval(0, 1), Interval(4, 8)])
    0.3333333333333333
    """
    intersections = [predicted.overlap_s(truth) for truth in truths]
    unions = [predicted.length_s + truth.length_s - both for truth, both in zip(truths, intersections, strict=True)]
    return max((both / union for both, union in zip(intersections, unions, strict=True) if union > 0), default=0.0)


def absence_f1(predicted: Flags, absent: Flags) -> float:
    """F1 of the absent class; 0 where nothing is predicted absent or nothing is absent.

    >>> absence_f1(np.array([True, True, False]), np.array([True, False, False]))
    0.6666666666666666
    """
    return float(2 * (predicted & absent).sum() / max(1, predicted.sum() + absent.sum()))


def random_f1(predicted: Flags, absent: Flags) -> float:
    """Expected F1 of predicting the same share absent at random: 2 r a / (r + a) of the two shares.

    >>> random_f1(np.array([True, False]), np.array([True, False]))
    0.5
    """
    r, a = float(predicted.mean()), float(absent.mean())
    return 2 * r * a / (r + a) if r + a > 0 else 0.0
