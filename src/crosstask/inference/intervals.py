"""From a moment to a span: how far a step reaches around the second it was put at.

Scores become how likely a segment is to belong to the step beside the moment itself, p_t = min(1, exp(q (l_t - l_moment))) with l the log-probability of
being in the step; q < 1, as segments in a row say much the same and a posterior that counts them apart is too sure. The span is the
interval S around the moment, between the neighbours' moments, with the largest

    sum_S p / (|S| + sum p - sum_S p)        expected overlap / expected union

found by Dinkelbach's iteration: for a ratio r, the best S adds up (1 + r) p_t - r on either side as long as that pays. O(T) a round, a few rounds.
"""

import numpy as np
import numpy.typing as npt

from crosstask.inference.compiled import compiled
from crosstask.inference.hmm_posterior import hmm_posterior
from crosstask.inference.validation import Floats as Doubles

Floats = npt.NDArray[np.floating]
_FLATTENED = 0.3  # q; chosen on development people and videos, see docs/spans.md
_EVIDENCE = 0.5  # log-ratio of a score one deviation above its mean, where scores are not probabilities
_ROUNDED = 0.02  # log-probabilities may have been kept as half floats
_PRESENCE, _PAUSE, _BACKGROUND = 0.98, 0.5, 0.6  # runs of even length, gaps of 0.6 / (K + 1) of the video


def intervals_around(scores: Floats, times: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Half-open spans [start, end) in segments, (K,) each, around increasing times (K,) on scores (T, K).

    >>> intervals_around(np.log([[0.001], [0.9], [0.95], [0.8], [0.001], [0.001]]), np.array([2]))
    (array([1.]), array([4.]))
    """
    n_segments, n_steps = scores.shape
    likely = tempered_log_posterior(scores)
    starts, ends = np.empty(n_steps), np.empty(n_steps)
    for k, t in enumerate(times):
        low = times[k - 1] + 1 if k > 0 else 0
        high = times[k + 1] if k + 1 < n_steps else n_segments
        p = np.exp(np.minimum(0.0, likely[:, k] - likely[t, k]))
        starts[k], ends[k] = interval_of_largest_iou(p, int(t), int(low), int(high))
    return starts, ends


def tempered_log_posterior(scores: Floats) -> npt.NDArray[np.float64]:
    """(T, K) q l: from the scores themselves where they are log-probabilities, else from the posterior of ordered runs on weakened evidence.

    >>> tempered_log_posterior(np.log([[0.5, 0.25]])).round(2)
    array([[-0.21, -0.42]])
    """
    values = np.asarray(scores, dtype=np.float64)
    n_segments, n_steps = values.shape
    in_some_step = np.exp(np.minimum(values, 1.0)).sum(axis=1)
    if (
        in_some_step.max() <= 1 + _ROUNDED and in_some_step.min() < 1 - _ROUNDED
    ):  # else no room for background: they compare steps alone
        return _FLATTENED * values
    evidence = _EVIDENCE * (values - values.mean(axis=0)) / np.maximum(values.std(axis=0), 1e-9)
    stay = np.full(n_steps, 1 - 1 / max(n_segments / n_steps, 1.01))
    rest = 1 - 1 / max(_BACKGROUND / (n_steps + 1) * n_segments, 1.01)
    ratios = np.hstack([evidence, np.zeros((n_segments, 1))])
    return np.log(hmm_posterior(ratios, stay, rest, _PAUSE, np.full(n_steps, _PRESENCE)).inside + 1e-12)


@compiled
def interval_of_largest_iou(p: Doubles, t: int, low: int, high: int) -> tuple[int, int]:
    """[start, end) with low <= start <= t < end <= high of the largest expected overlap / expected union; p is (T,) in [0, 1], p[t] > 0.

    Of equals the shortest.
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
        if not found > ratio + 1e-12:
            return start, end
        start, end, ratio = first, last, found
