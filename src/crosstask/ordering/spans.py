"""From a moment to a span: how far a step reaches around the second it was put at.

A step reaches as far as its score stays within half of its fall from the peak to the video's typical level, and never past its neighbours.
"""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.floating]


def spans_around(scores: Floats, times: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Half-open spans [start, end) in segments, (K,) each, around increasing times (K,) on scores (T, K).

    >>> spans_around(np.array([[0.0], [0.9], [1.0], [0.8], [0.0], [0.0]]), np.array([2]))
    (array([1.]), array([4.]))
    """
    n_segments, n_steps = scores.shape
    starts, ends = np.empty(n_steps), np.empty(n_steps)
    for k in range(n_steps):
        lowest = times[k - 1] + 1 if k > 0 else 0
        highest = times[k + 1] if k + 1 < n_steps else n_segments
        level = 0.5 * (scores[times[k], k] + np.median(scores[:, k]))
        starts[k] = _reach(scores[lowest : times[k], k][::-1], level, times[k], -1)
        ends[k] = _reach(scores[times[k] + 1 : highest, k], level, times[k], 1) + 1
    return starts, ends


def _reach(onward: Floats, level: float, start: int, direction: int) -> float:
    """The last segment in a row whose score keeps the level."""
    below = np.flatnonzero(onward < level)
    steps = int(below[0]) if below.size else len(onward)
    return float(start + direction * steps)
