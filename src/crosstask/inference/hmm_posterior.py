"""Forward-backward for a left-to-right hidden Markov model with skips: P(segment t is in step k | video), in O(KT).

Hidden states of segment t: step k (k = 0 .. K-1), or background after k steps (k = 0 .. K). Steps occur in list order, each at most once, as one
interval; background may come before, between and after them. With

    a_k     self-transition of step k (geometric duration with mean 1 / (1 - a_k) segments)
    a_bg    self-transition of background
    b       probability that background follows a step; otherwise the next step begins at once
    p_k     presence: whenever the model moves on, step k occurs with probability p_k, otherwise it is skipped and step k + 1 is tried

the transition probabilities are

    step k         -> step k            a_k
    step k         -> background k + 1  (1 - a_k) b
    step k         -> step j > k        (1 - a_k) (1 - b) p_j  prod_{k < i < j} (1 - p_i)
    background k   -> background k      a_bg
    background k   -> step j >= k       (1 - a_bg) p_j  prod_{k <= i < j} (1 - p_i)

A video may end in any state; the steps that remain then count as skipped. Emissions enter as log-likelihood ratios (T, K + 1). Probabilities are scaled
at each segment (Rabiner 1989, Sec. V.A), so long videos do not underflow.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from crosstask.inference.compiled import compiled
from crosstask.inference.validation import Floats

_EMISSION_FLOOR = 1e-30  # beside a largest emission of 1: no single segment excludes a state for good
TINY = 1e-290  # smallest divisor, for evidence that contradicts itself in every state


class HmmPosterior(NamedTuple):
    """P(segment in step) (T, K), P(the interval of the step starts at the segment) (T, K), and the video's log-likelihood ratio."""

    in_step: npt.NDArray[np.float64]
    starts: npt.NDArray[np.float64]
    log_likelihood: float

    @property
    def p_shown(self) -> npt.NDArray[np.float64]:
        """(K,) probability that each step occurs in the video."""
        return self.starts.sum(axis=0)


def hmm_posterior(
    log_ratios: npt.ArrayLike,
    self_transition: npt.ArrayLike,
    background_self_transition: float,
    p_background: float,
    presence: npt.ArrayLike,
) -> HmmPosterior:
    """The posterior for log-likelihood ratios (T, K + 1), background last; self_transition and presence are (K,) probabilities.

    >>> clear = np.full((6, 3), -5.0)
    >>> clear[[1, 2], 0] = clear[4, 1] = clear[[0, 3, 5], 2] = 5.0
    >>> hmm_posterior(clear, [0.5, 0.5], 0.5, 0.5, [0.7, 0.7]).in_step.round().astype(int).argmax(axis=0).tolist()
    [1, 4]
    """
    L = np.ascontiguousarray(log_ratios, dtype=np.float64)
    a, presence = np.asarray(self_transition, dtype=np.float64), np.asarray(presence, dtype=np.float64)
    if L.ndim != 2 or L.shape[1] != len(a) + 1 or len(a) != len(presence) or len(L) == 0:
        raise ValueError(f"log-ratios of shape {L.shape} do not fit {len(a)} steps; expected (T, {len(a) + 1}) with T at least 1")
    if np.isnan(L).any():
        raise ValueError("log-ratios contain NaN")
    in_step, starts, log_likelihood = hmm_posterior_kernel(L, a, background_self_transition, p_background, presence)
    return HmmPosterior(in_step, starts, float(log_likelihood))


@compiled
def hmm_posterior_kernel(
    L: Floats, a: Floats, a_bg: float, b: float, presence: Floats
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], float]:
    """In-step (T, K) and start (T, K) probabilities and the log-likelihood; for compiled callers: arguments are not checked."""
    T, K = L.shape[0], L.shape[1] - 1
    E, log_likelihood = scaled_emissions(L)
    step, background = np.zeros((T, K)), np.zeros((T, K + 1))  # forward: in step k; in background after k steps
    moved_on, scale = np.zeros((T, K + 1)), np.zeros(T)
    for t in range(T):
        moving_on = 1 - b if t == 0 else 0.0
        for k in range(K + 1):
            if t == 0:
                arriving_background = b if k == 0 else 0.0
            else:
                leaving_step = step[t - 1, k - 1] * (1 - a[k - 1]) if k > 0 else 0.0
                arriving_background = background[t - 1, k] * a_bg + leaving_step * b
                moving_on += background[t - 1, k] * (1 - a_bg) + leaving_step * (1 - b)
            background[t, k] = arriving_background * E[t, K]
            scale[t] += background[t, k]
            moved_on[t, k] = moving_on
            if k < K:
                arriving_step = moving_on * presence[k] + (step[t - 1, k] * a[k] if t > 0 else 0.0)
                step[t, k] = arriving_step * E[t, k]
                scale[t] += step[t, k]
                moving_on *= 1 - presence[k]
        for k in range(K + 1):
            background[t, k] /= scale[t]
        for k in range(K):
            step[t, k] /= scale[t]
        log_likelihood += np.log(scale[t])
    step_beta, background_beta = _backward(E, a, a_bg, b, presence)
    total_likelihood = 0.0
    for k in range(K + 1):
        total_likelihood += background[T - 1, k] * background_beta[T - 1, k]
    for k in range(K):
        total_likelihood += step[T - 1, k] * step_beta[T - 1, k]
    starts = np.zeros((T, K))
    for t in range(T):
        total = 0.0
        for k in range(K + 1):
            total += background[t, k] * background_beta[t, k]
        for k in range(K):
            total += step[t, k] * step_beta[t, k]
        total = max(total, TINY)
        for k in range(K):
            starts[t, k] = moved_on[t, k] * presence[k] * E[t, k] * step_beta[t, k] / scale[t] / total
            step[t, k] *= step_beta[t, k] / total
    return step, starts, log_likelihood + np.log(max(total_likelihood, TINY))


@compiled
def scaled_emissions(L: Floats) -> tuple[npt.NDArray[np.float64], float]:
    """Emissions scaled to at most 1 in each segment (T, K + 1), and the log of the product of the scales, for log-ratios (T, K + 1)."""
    E = np.empty(L.shape)
    log_scale = 0.0
    for t in range(L.shape[0]):
        largest = L[t].max()
        log_scale += largest
        for k in range(L.shape[1]):
            E[t, k] = np.exp(L[t, k] - largest) + _EMISSION_FLOOR
    return E, log_scale


@compiled
def _backward(
    E: Floats, a: Floats, a_bg: float, b: float, presence: Floats
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Backward variables of steps (T, K) and of background after k steps (T, K + 1), each segment up to a common factor."""
    T, K = E.shape[0], E.shape[1] - 1
    step, background = np.zeros((T, K)), np.zeros((T, K + 1))
    next_step = np.zeros(K + 1)
    background[T - 1, K] = 1.0
    for k in range(K - 1, -1, -1):  # the video may end when all remaining steps are skipped
        background[T - 1, k] = background[T - 1, k + 1] * (1 - presence[k])
    for k in range(K):
        step[T - 1, k] = background[T - 1, k + 1]
    for t in range(T - 2, -1, -1):
        next_step[K] = 0.0
        for k in range(K - 1, -1, -1):
            next_step[k] = presence[k] * E[t + 1, k] * step[t + 1, k] + (1 - presence[k]) * next_step[k + 1]
        for k in range(K + 1):
            background[t, k] = a_bg * E[t + 1, K] * background[t + 1, k] + (1 - a_bg) * next_step[k]
        for k in range(K):
            after_step = b * E[t + 1, K] * background[t + 1, k + 1] + (1 - b) * next_step[k + 1]
            step[t, k] = a[k] * E[t + 1, k] * step[t + 1, k] + (1 - a[k]) * after_step
        largest = max(background[t].max(), step[t].max(), TINY)
        for k in range(K + 1):
            background[t, k] /= largest
        for k in range(K):
            step[t, k] /= largest
    return step, background
