"""Forward-backward for steps whose order is only mostly kept: a Markov chain over steps with forward skips and rare jumps back.

States of a segment: in step k, or in background after step i (i = 0: before the first step). With A_ij the probability that
step j follows step i, a_k and a_bg the self-transitions of steps and background, and b the probability that background follows
a step,

    forward    f_t(j) = E_t(j) [a_j f_{t-1}(j) + sum_i A_ij l_t(i)],   l_t(i) = (1 - a_bg) g_{t-1}(i) + (1 - b) (1 - a_i) f_{t-1}(i)
               g_t(i) = E_t(bg) [a_bg g_{t-1}(i) + b (1 - a_i) f_{t-1}(i)]
    posterior  P(segment t in step j | video) = f_t(j) beta_t(j) / sum over all states

Unlike in `hmm_posterior.py`, a step may come before its predecessor in the list, or twice. O(K^2 T) time, O(K T) memory.
"""

import numpy as np
import numpy.typing as npt

from crosstask.inference.compiled import compiled
from crosstask.inference.hmm_posterior import TINY, scaled_emissions
from crosstask.inference.validation import Floats


def loose_transitions(presence: npt.ArrayLike, backward: float, reach: float) -> npt.NDArray[np.float64]:
    """(K + 1, K + 1): from the last step (row 0: none yet, row i: step i - 1) to the next step (column j), or to the end (last column).

    Forward, step j is taken with probability presence[j], otherwise skipped. With probability `backward` the next step is an earlier one,
    the nearest most likely: weights 1, reach, reach^2, ...

    >>> loose_transitions([0.5, 0.5], 0.1, 0.5).round(3).tolist()
    [[0.5, 0.25, 0.25], [0.0, 0.5, 0.5], [0.1, 0.0, 0.9]]
    """
    presence = np.asarray(presence, dtype=np.float64)
    K = len(presence)
    A = np.zeros((K + 1, K + 1))
    for i in range(K + 1):
        skipped = np.append(1.0, np.cumprod(1 - presence[i:]))
        A[i, i:K] = skipped[:-1] * presence[i:]
        A[i, K] = skipped[-1]
        if i >= 2:
            weights = reach ** np.arange(i - 2, -1, -1.0)
            A[i] *= 1 - backward
            A[i, : i - 1] += backward * weights / weights.sum()
    return A


def loose_order_posterior(
    log_ratios: npt.ArrayLike,
    self_transition: npt.ArrayLike,
    background_self_transition: float,
    p_background: float,
    transitions: npt.ArrayLike,
) -> npt.NDArray[np.float64]:
    """(T, K) probability that each segment lies in each step; log_ratios (T, K + 1), background last, self_transition (K,).

    >>> clear = np.full((6, 3), -5.0)
    >>> clear[[1, 2], 1] = clear[4, 0] = clear[[0, 3, 5], 2] = 5.0  # the second step is shown first
    >>> A = loose_transitions([0.7, 0.7], 0.05, 0.5)
    >>> loose_order_posterior(clear, [0.5, 0.5], 0.5, 0.5, A).round().astype(int).argmax(axis=0).tolist()
    [4, 1]
    """
    L = np.ascontiguousarray(log_ratios, dtype=np.float64)
    a, A = np.asarray(self_transition, dtype=np.float64), np.ascontiguousarray(transitions, dtype=np.float64)
    K = len(a)
    if L.ndim != 2 or L.shape[1] != K + 1 or A.shape != (K + 1, K + 1) or len(L) == 0:
        raise ValueError(f"log-ratios of shape {L.shape} do not fit {K} steps; expected (T, {K + 1}) with T at least 1")
    if np.isnan(L).any():
        raise ValueError("log-ratios contain NaN")
    posterior: npt.NDArray[np.float64] = loose_order_kernel(L, a, background_self_transition, p_background, A)
    return posterior


@compiled
def loose_order_kernel(L: Floats, a: Floats, a_bg: float, b: float, A: Floats) -> npt.NDArray[np.float64]:
    """(T, K) posterior; for compiled callers: arguments are not checked."""
    T, K = L.shape[0], L.shape[1] - 1
    E, _ = scaled_emissions(L)
    step, background = _forward(E, a, a_bg, b, A)
    step_beta, background_beta = np.empty(K), np.empty(K + 1)  # backward variables of the current segment
    step_next, next_step, entering_step = np.empty(K), np.empty(K + 1), np.empty(K)
    for i in range(K + 1):  # the video may end after any step
        background_beta[i] = A[i, K]
    for k in range(K):
        step_beta[k] = A[k + 1, K]
    for t in range(T - 1, -1, -1):
        if t < T - 1:
            for k in range(K):
                entering_step[k] = E[t + 1, k] * step_beta[k]
            for i in range(K + 1):
                next_step[i] = 0.0
                for k in range(K):
                    next_step[i] += A[i, k] * entering_step[k]
            largest = TINY
            for k in range(K):
                after_step = b * E[t + 1, K] * background_beta[k + 1] + (1 - b) * next_step[k + 1]
                step_next[k] = a[k] * entering_step[k] + (1 - a[k]) * after_step
                largest = max(largest, step_next[k])
            for i in range(K + 1):
                background_beta[i] = a_bg * E[t + 1, K] * background_beta[i] + (1 - a_bg) * next_step[i]
                largest = max(largest, background_beta[i])
            for i in range(K + 1):
                background_beta[i] /= largest
            for k in range(K):
                step_beta[k] = step_next[k] / largest
        total = 0.0
        for i in range(K + 1):
            total += background[t, i] * background_beta[i]
        for k in range(K):
            step[t, k] *= step_beta[k]
            total += step[t, k]
        total = max(total, TINY)
        for k in range(K):
            step[t, k] /= total
    return step


@compiled
def _forward(E: Floats, a: Floats, a_bg: float, b: float, A: Floats) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Forward variables of steps (T, K) and of background after each step (T, K + 1), scaled to sum to 1 in each segment."""
    T, K = E.shape[0], E.shape[1] - 1
    step, background = np.zeros((T, K)), np.zeros((T, K + 1))
    for t in range(T):
        scale = 0.0
        for i in range(K + 1):
            leaving, arriving_background = (1 - b, b) if (t == 0 and i == 0) else (0.0, 0.0)
            if t > 0:
                leaving_step = step[t - 1, i - 1] * (1 - a[i - 1]) if i > 0 else 0.0
                leaving = background[t - 1, i] * (1 - a_bg) + leaving_step * (1 - b)
                arriving_background = background[t - 1, i] * a_bg + leaving_step * b
            background[t, i] = arriving_background * E[t, K]
            scale += background[t, i]
            if leaving > 0:
                for k in range(K):
                    step[t, k] += leaving * A[i, k]
        for k in range(K):
            if t > 0:
                step[t, k] += step[t - 1, k] * a[k]
            step[t, k] *= E[t, k]
            scale += step[t, k]
        for i in range(K + 1):
            background[t, i] /= scale
        for k in range(K):
            step[t, k] /= scale
    return step, background
