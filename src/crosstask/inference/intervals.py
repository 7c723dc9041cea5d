"""From a moment to an interval: the interval around the decoded segment of a step with the largest expected IoU.

The probability that segment t belongs to the same occurrence as the moment is taken as p_t = min(1, exp(q (l_t - l_moment))), l
being the log-probability of being in the step. q < 1 tempers the posterior, which treats correlated neighbouring segments as
independent and is overconfident. The interval S around the moment, between the moments of the neighbouring steps, maximises

    sum_S p / (|S| + sum p - sum_S p)        expected intersection / expected union

by Dinkelbach's iteration: for a ratio r, the best S extends on either side as long as the sum of (1 + r) p_t - r grows. O(T)
per iteration, a few iterations.
"""

import numpy as np
import numpy.typing as npt

from crosstask.inference.compiled import compiled
from crosstask.inference.hmm_posterior import HmmPosterior, hmm_posterior
from crosstask.inference.validation import Floats as KernelFloats

Floats = npt.NDArray[np.floating]
TEMPERING = 0.3  # q; chosen on development people of Breakfast and videos of two CrossTask tasks (results/README.md, intervals)
_ROUNDING = 0.02  # log-probabilities may have been stored as float16
# Where scores are no probabilities, they enter a generic HMM, standardised, as log-ratios:
_LOG_RATIO = 0.5  # of a score one deviation above its mean
_PRESENCE = 0.98  # nearly every step occurs
_P_BACKGROUND = 0.5
_BACKGROUND_SHARE = 0.6  # of the video, in K + 1 intervals
_SHORTEST_DURATION = 1.01  # segments
_SMALLEST_PROBABILITY = 1e-12
_SMALLEST_DEVIATION = 1e-9  # of scores that do not vary
_CONVERGED = 1e-12  # change of the ratio below which the iteration stops


def intervals_around(
    scores: Floats, times: npt.NDArray[np.int64], tempering: float = TEMPERING
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Starts (K,) and ends (K,) in segments of half-open intervals around the moments `times` (K,), for scores (T, K).

    `tempering` is q; 1 for a posterior whose evidence was tempered before.

    >>> intervals_around(np.log([[0.001], [0.9], [0.95], [0.8], [0.001], [0.001]]), np.array([2]))
    (array([1.]), array([4.]))
    """
    n_segments, n_steps = scores.shape
    log_p = tempered_log_posterior(scores, tempering)
    ordered = np.unique(times)
    starts, ends = np.empty(n_steps), np.empty(n_steps)
    for k, t in enumerate(times):
        place = int(np.searchsorted(ordered, t))
        low = ordered[place - 1] + 1 if place > 0 else 0
        high = ordered[place + 1] if place + 1 < len(ordered) else n_segments
        p = np.exp(np.minimum(0.0, log_p[:, k] - log_p[t, k]))
        starts[k], ends[k] = interval_of_largest_iou(p, int(t), int(low), int(high))
    return starts, ends


def step_posterior(scores: Floats) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64] | None]:
    """P(segment in step) (T, K) from scores, and P(step shown) (K,) where a generic HMM was needed because scores are no probabilities."""
    values = np.asarray(scores, dtype=np.float64)
    if _are_log_probabilities(values):
        return np.exp(np.minimum(values, 0.0)), None
    found = _generic_posterior(values)
    return found.in_step, found.p_shown


def _are_log_probabilities(values: npt.NDArray[np.float64]) -> bool:
    """True if the scores leave probability for background; a softmax over steps does not."""
    p_any_step = np.exp(np.minimum(values, 1.0)).sum(axis=1)
    return bool(p_any_step.max() <= 1 + _ROUNDING and p_any_step.min() < 1 - _ROUNDING)


def _generic_posterior(values: npt.NDArray[np.float64]) -> HmmPosterior:
    """The posterior of an HMM with even durations whose log-ratios are the standardised scores."""
    n_segments, n_steps = values.shape
    log_ratios = _LOG_RATIO * (values - values.mean(axis=0)) / np.maximum(values.std(axis=0), _SMALLEST_DEVIATION)
    a = np.full(n_steps, 1 - 1 / max(n_segments / n_steps, _SHORTEST_DURATION))
    a_bg = 1 - 1 / max(_BACKGROUND_SHARE / (n_steps + 1) * n_segments, _SHORTEST_DURATION)
    with_background = np.hstack([log_ratios, np.zeros((n_segments, 1))])
    return hmm_posterior(with_background, a, a_bg, _P_BACKGROUND, np.full(n_steps, _PRESENCE))


def tempered_log_posterior(scores: Floats, tempering: float = TEMPERING) -> npt.NDArray[np.float64]:
    """(T, K) q l, from scores that are log-probabilities; other scores pass through a generic HMM, whose log-posterior is returned.

    >>> tempered_log_posterior(np.log([[0.5, 0.25]])).round(2)
    array([[-0.21, -0.42]])
    """
    values = np.asarray(scores, dtype=np.float64)
    if _are_log_probabilities(values):
        return tempering * values
    return np.log(_generic_posterior(values).in_step + _SMALLEST_PROBABILITY)


@compiled
def interval_of_largest_iou(p: KernelFloats, t: int, low: int, high: int) -> tuple[int, int]:
    """[start, end) with low <= start <= t < end <= high of the largest expected IoU; p is (T,) in [0, 1], p[t] > 0.

    Of equal intervals the shortest.
    """
    total = p.sum()
    start, end = t, t + 1
    ratio = p[t] / (1 + total - p[t])
    while True:
        first, last = t, t + 1
        gain = best = 0.0
        inside = p[t]
        summed, left = 0.0, 0.0
        for a in range(t - 1, low - 1, -1):
            summed += p[a]
            gain += (1 + ratio) * p[a] - ratio
            if gain > best:
                first, best, left = a, gain, summed
        gain = best = 0.0
        summed, right = 0.0, 0.0
        for b in range(t + 1, high):
            summed += p[b]
            gain += (1 + ratio) * p[b] - ratio
            if gain > best:
                last, best, right = b + 1, gain, summed
        inside += left + right
        found = inside / (last - first + total - inside)
        if not found > ratio + _CONVERGED:
            return start, end
        start, end, ratio = first, last, found
