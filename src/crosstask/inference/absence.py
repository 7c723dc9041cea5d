"""Which steps count as absent, without labels: those whose score at the decoded segment is low compared with the same step in other videos.

A collection shows a step in most of its videos. Where the score at its decoded segment is in the lowest 30 % of them, the step
is more likely not shown (or not found; scores cannot tell these apart). 30 % is the share of absent steps that the HMM assumes
before training.
"""

import numpy as np
import numpy.typing as npt

ABSENT_SHARE = 0.3  # 31 % of the steps are missing in CrossTask (paper, Table S2)
_FEWEST_VIDEOS = 10  # with fewer videos there is no comparison, and every step counts as shown

Floats = npt.NDArray[np.floating]


def absence_thresholds(scores: Floats, share: float = ABSENT_SHARE) -> npt.NDArray[np.float64]:
    """(K,) scores below which a step counts as absent, from the scores (n, K) at the decoded segments of n videos.

    >>> absence_thresholds(np.arange(10.0)[:, None])
    array([3.])
    """
    scores = np.asarray(scores, dtype=np.float64)
    if len(scores) < _FEWEST_VIDEOS:
        return np.full(scores.shape[1], -np.inf)
    return np.asarray(np.quantile(scores, share, axis=0, method="higher"), dtype=np.float64)


def scores_at(scores: Floats, times: npt.NDArray[np.int64]) -> Floats:
    """(K,) scores of the steps at their segments `times` (K,), from scores (T, K).

    >>> scores_at(np.array([[1, 2], [3, 4]]), np.array([0, 1]))
    array([1, 4])
    """
    return scores[times, np.arange(scores.shape[1])]
