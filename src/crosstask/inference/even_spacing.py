"""Scores that fall back to even spacing where the evidence is weak.

    score[t, k] = (1 - w) P(segment t in step k | evidence) + w exp(-((t + 1/2) / T - (k + 1/2) / K)^2 / (2 (s / K)^2))

The second part is what is known of a step before any evidence: its even share of the video. It is at most w, so it decides only where the
posterior of a step is so wide that no segment reaches w; a step found with probability above w is not moved.
"""

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
# w. On development people 0.1 to 0.2 never fell below Uniform with 1 to 30 videos a task; 0 and 0.3 did, or cost recall.
EVEN_WEIGHT = 0.2
_WIDTH = 0.25  # s, in even shares of the video


def even_spacing(n_segments: int, n_steps: int) -> Array:
    """(T, K) in (0, 1], largest in the middle of a step's even share of the video.

    >>> even_spacing(6, 2).argmax(axis=0)
    array([1, 4])
    """
    at = (np.arange(n_segments) + 0.5) / n_segments
    centres = (np.arange(n_steps) + 0.5) / n_steps
    return np.exp(-0.5 * ((at[:, None] - centres) * n_steps / _WIDTH) ** 2)


def with_even_spacing(in_step: npt.ArrayLike, weight: npt.ArrayLike = EVEN_WEIGHT) -> Array:
    """(T, K) scores: the posterior (T, K) mixed with even spacing.

    `weight` is a number or (K,), see `even_weights`.
    """
    posterior = np.asarray(in_step, dtype=np.float64)
    share = np.asarray(weight, dtype=np.float64)
    return (1 - share) * posterior + share * even_spacing(*posterior.shape)


def even_weights(centres_s: npt.ArrayLike, reliability: float) -> Array:
    """(K,) weight of even spacing for windows with centres (K,), NaN where there is none, of some reliability.

    >>> even_weights([3.0, np.nan], 0.5)
    array([0.1, 0.2])
    """
    return EVEN_WEIGHT * np.where(np.isnan(np.asarray(centres_s, dtype=np.float64)), 1.0, 1 - reliability)
