"""Spans and absence against annotation.

*Overlap*: for every step that a video shows, intersection over union of its one predicted span with the true interval it fits best (a step may be shown
several times); a span in the wrong place counts 0. Pooled within a task, then the mean over tasks. *Absence*: F1 of "this step is not shown" over all
(video, step) of a task, then the mean over tasks; `random_f1` is what declaring the same share at random is expected to give.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from crosstask.records import Interval

Flags = npt.NDArray[np.bool_]


def best_overlap(span: Interval, truths: Sequence[Interval]) -> float:
    """The largest intersection over union of a span with one of the true intervals.

    >>> best_overlap(Interval(2, 6), [Interval(0, 1), Interval(4, 8)])
    0.3333333333333333
    """
    shared = [span.overlap_s(truth) for truth in truths]
    unions = [span.length_s + truth.length_s - both for truth, both in zip(truths, shared, strict=True)]
    return max((both / union for both, union in zip(shared, unions, strict=True) if union > 0), default=0.0)


def absence_f1(said: Flags, absent: Flags) -> float:
    """F1 of the absent class; 0 where nothing is said or nothing is absent.

    >>> absence_f1(np.array([True, True, False]), np.array([True, False, False]))
    0.6666666666666666
    """
    return float(2 * (said & absent).sum() / max(1, said.sum() + absent.sum()))


def random_f1(said: Flags, absent: Flags) -> float:
    """F1 of declaring as many at random: 2 r a / (r + a) of the two shares.

    >>> random_f1(np.array([True, False]), np.array([True, False]))
    0.5
    """
    r, a = float(said.mean()), float(absent.mean())
    return 2 * r * a / (r + a) if r + a > 0 else 0.0
