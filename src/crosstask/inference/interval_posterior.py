"""Posterior of ordered step intervals when narration points at one moment of each interval.

As in `hmm_posterior`, a video is background with intervals of steps in list order, each at most once, any of them skipped. In
addition every interval contains one *anchor*, a segment drawn uniformly from it: the moment that the narration refers to. Evidence that
arrives once per step (a window, a mention) is a likelihood ratio of the anchor and multiplies a path once, however long the interval is;
evidence that arrives at every segment (features) multiplies every segment.

    P(interval of n segments, anchor at one of them) = (1 - a)^2 a^(n - 1)       negative binomial duration, anchor uniform given the duration
    weight of a path = prior * prod_t exp(L[t, z_t]) * prod over shown k of exp(R[anchor_k, k])

L (T, K + 1) are log-likelihood ratios per segment with background last, R (T, K) log-likelihood ratios of an anchor against the step being
absent. States: background after k steps; step k before its anchor; step k from its anchor on. Forward-backward with scaling, O(KT).
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from crosstask.inference.compiled import compiled
from crosstask.inference.hmm_posterior import TINY, scaled_emissions
from crosstask.inference.validation import Floats

_SHORTEST_DURATION = 1.02  # segments; keeps self-transitions positive


class IntervalPosterior(NamedTuple):
    """P(segment in step) (T, K), P(the anchor of the step is this segment) (T, K), and the video's log-likelihood ratio."""

    in_step: npt.NDArray[np.float64]
    anchors: npt.NDArray[np.float64]
    log_likelihood: float

    @property
    def p_shown(self) -> npt.NDArray[np.float64]:
        """(K,) probability that each step occurs in the video."""
        return np.minimum(self.anchors.sum(axis=0), 1.0)


def interval_posterior(
    log_ratios: npt.ArrayLike,
    anchor_log_ratios: npt.ArrayLike,
    mean_duration: npt.ArrayLike,
    background_self_transition: float,
    p_background: float,
    presence: npt.ArrayLike,
) -> IntervalPosterior:
    """The posterior for log-ratios (T, K + 1), background last, anchor log-ratios (T, K), mean durations in segments and presence (K,).

    >>> said = np.zeros((6, 1))
    >>> said[4] = 3.0
    >>> interval_posterior(np.zeros((6, 2)), said, [1.5], 0.8, 0.5, [0.7]).in_step[:, 0].argmax()
    np.int64(4)
    """
    L = np.ascontiguousarray(log_ratios, dtype=np.float64)
    R = np.ascontiguousarray(anchor_log_ratios, dtype=np.float64)
    mean_duration, presence = np.asarray(mean_duration, dtype=np.float64), np.asarray(presence, dtype=np.float64)
    n_steps = len(presence)
    if L.ndim != 2 or len(L) == 0 or L.shape[1] != n_steps + 1 or R.shape != (len(L), n_steps) or len(mean_duration) != n_steps:
        raise ValueError(
            f"log-ratios {L.shape} and anchor log-ratios {R.shape} do not fit {n_steps} steps; expected (T, K + 1) and (T, K)"
        )
    if np.isnan(L).any() or np.isnan(R).any():
        raise ValueError("log-ratios contain NaN")
    a = 1 - 2 / (np.maximum(mean_duration, _SHORTEST_DURATION) + 1)  # the duration has mean (1 + a) / (1 - a)
    return IntervalPosterior(*_posterior(L, R, a, background_self_transition, p_background, presence))


@compiled
def _posterior(
    L: Floats, R: Floats, a: Floats, a_bg: float, b: float, presence: Floats
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], float]:
    """In-step (T, K) and anchor (T, K) probabilities and the log-likelihood ratio; before, after: step k before its anchor, from it on."""
    T, K = R.shape
    E, log_likelihood = scaled_emissions(L)
    W = np.exp(R)
    before, after, background = np.zeros((T, K)), np.zeros((T, K)), np.zeros((T, K + 1))
    arriving, scale = np.zeros((T, K)), np.zeros(T)
    for t in range(T):
        moving_on = 1 - b if t == 0 else 0.0
        for k in range(K + 1):
            if t == 0:
                arriving_background = b if k == 0 else 0.0
            else:
                leaving_step = after[t - 1, k - 1] * (1 - a[k - 1]) if k > 0 else 0.0
                arriving_background = background[t - 1, k] * a_bg + leaving_step * b
                moving_on += background[t - 1, k] * (1 - a_bg) + leaving_step * (1 - b)
            background[t, k] = arriving_background * E[t, K]
            scale[t] += background[t, k]
            if k < K:
                before_anchor = moving_on * presence[k] + (before[t - 1, k] if t > 0 else 0.0)
                arriving[t, k] = before_anchor * (1 - a[k]) * W[t, k] * E[t, k]
                before[t, k] = before_anchor * a[k] * E[t, k]
                after[t, k] = arriving[t, k] + (after[t - 1, k] * a[k] * E[t, k] if t > 0 else 0.0)
                scale[t] += before[t, k] + after[t, k]
                moving_on *= 1 - presence[k]
        scale[t] = max(scale[t], TINY)
        background[t] /= scale[t]
        before[t] /= scale[t]
        after[t] /= scale[t]
        arriving[t] /= scale[t]
        log_likelihood += np.log(scale[t])
    before_beta, after_beta, background_beta = _backward(E, W, a, a_bg, b, presence)
    ending = (background[T - 1] * background_beta[T - 1]).sum() + (after[T - 1] * after_beta[T - 1]).sum()
    in_step, anchors = np.empty((T, K)), np.empty((T, K))
    for t in range(T):
        total = (background[t] * background_beta[t]).sum() + (before[t] * before_beta[t]).sum() + (after[t] * after_beta[t]).sum()
        total = max(total, TINY)
        for k in range(K):
            in_step[t, k] = (before[t, k] * before_beta[t, k] + after[t, k] * after_beta[t, k]) / total
            anchors[t, k] = arriving[t, k] * after_beta[t, k] / total
    return in_step, anchors, log_likelihood + np.log(max(ending, TINY))


@compiled
def _backward(
    E: Floats, W: Floats, a: Floats, a_bg: float, b: float, presence: Floats
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Backward variables of step k before its anchor (T, K), from it on (T, K), and of background (T, K + 1), each segment up to a common factor."""
    T, K = W.shape
    before, after, background = np.zeros((T, K)), np.zeros((T, K)), np.zeros((T, K + 1))
    next_step = np.zeros(K + 1)
    background[T - 1, K] = 1.0
    for k in range(K - 1, -1, -1):  # the video may end when all remaining steps are skipped
        background[T - 1, k] = background[T - 1, k + 1] * (1 - presence[k])
    for k in range(K):
        after[T - 1, k] = background[T - 1, k + 1]
    for t in range(T - 2, -1, -1):
        next_step[K] = 0.0
        for k in range(K):
            from_anchor_on = (1 - a[k]) * W[t + 1, k] * after[t + 1, k] + a[k] * before[t + 1, k]
            before[t, k] = E[t + 1, k] * from_anchor_on
        for k in range(K - 1, -1, -1):
            next_step[k] = presence[k] * before[t, k] + (1 - presence[k]) * next_step[k + 1]
        for k in range(K + 1):
            background[t, k] = a_bg * E[t + 1, K] * background[t + 1, k] + (1 - a_bg) * next_step[k]
        for k in range(K):
            after_step = b * E[t + 1, K] * background[t + 1, k + 1] + (1 - b) * next_step[k + 1]
            after[t, k] = a[k] * E[t + 1, k] * after[t + 1, k] + (1 - a[k]) * after_step
        largest = max(background[t].max(), before[t].max(), after[t].max(), TINY)
        background[t] /= largest
        before[t] /= largest
        after[t] /= largest
    return before, after, background
