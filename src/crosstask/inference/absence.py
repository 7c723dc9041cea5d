"""Which steps are taken to be absent, without labels: those whose score, where they were put, is low beside the same step in the other videos.

A collection shows a step in most of its videos; where its best ordered place scores among the lowest three tenths of them, it is rather not shown (or not
found, which no score can tell apart). Three tenths is what the run model takes to be absent before it has seen anything.
"""

import numpy as np
import numpy.typing as npt

ABSENT_SHARE = 0.3
_ENOUGH_VIDEOS = 10  # below this "low" has no meaning, and every step counts as shown

Floats = npt.NDArray[np.floating]


def absence_thresholds(placed: Floats, share: float = ABSENT_SHARE) -> npt.NDArray[np.float64]:
    """(K,) the score below which a step counts as absent, from the scores (n, K) where n videos had their steps put.

    >>> absence_thresholds(np.arange(10.0)[:, None])
    array([3.])
    """
    placed = np.asarray(placed, dtype=np.float64)
    if len(placed) < _ENOUGH_VIDEOS:
        return np.full(placed.shape[1], -np.inf)
    return np.asarray(np.quantile(placed, share, axis=0, method="higher"), dtype=np.float64)


def scores_at(scores: Floats, times: npt.NDArray[np.int64]) -> Floats:
    """(K,) the scores (T, K) of the steps at their times (K,).

    >>> scores_at(np.array([[1, 2], [3, 4]]), np.array([0, 1]))
    array([1, 4])
    """
    return scores[times, np.arange(scores.shape[1])]
