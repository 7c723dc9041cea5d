"""How likely each label is when placements are drawn with probability proportional to exp(-cost), in O(KT) and log space.

Over strictly increasing times t_1 < ... < t_K (each step *once*):

    P(t_1 .. t_K) = exp(-sum_k cost[t_k, k]) / Z
    A_t(k) = log(exp A_{t-1}(k) + exp(A_{t-1}(k-1) - cost[t, k]))       all ways to place the steps up to k by segment t
    r_t(k) = exp(A_{t-1}(k-1) - cost[t, k] - A_t(k))                    of these, the share with step k at t itself

A walk back from the last segment, which places step k at t with probability r_t(k), draws from P; following its probability
instead of one walk gives the marginals. Only ratios r are kept, so large costs lose nothing and every column sums to 1.
Over contiguous *runs* the same is done along the row of states of `runs.py`, with three ways into a state instead of two.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from crosstask.inference.compiled import compiled
from crosstask.inference.ragged import checked_batch
from crosstask.inference.runs import checked_background
from crosstask.inference.validation import Floats, Ints, checked_cost, name_of, no_ordered_answer


def once_marginals(cost: npt.ArrayLike, name: str | None = None) -> Floats:
    """P(step k at segment t), (T, K), over increasing placements weighted exp(-cost); columns sum to 1.

    >>> once_marginals([[0, 0], [0, 0], [0, 0]]).round(2)
    array([[0.67, 0.  ],
           [0.33, 0.33],
           [0.  , 0.67]])
    """
    cost = checked_cost(cost, name)
    T, K = cost.shape
    marginals = np.empty((T, K))
    if once_marginals_into(cost, np.empty(K), marginals) == -np.inf:
        raise no_ordered_answer(T, K, name)
    return marginals


def once_marginals_in_batch(costs: Any, n_segments: Any, n_steps: Any, names: Sequence[str] | None = None) -> Floats:
    """The marginals of a ragged batch, flat like its costs; see `ragged.concatenated`.

    >>> once_marginals_in_batch([0, 0, 0, 0], n_segments=[2, 2], n_steps=[1, 1])
    array([0.5, 0.5, 0.5, 0.5])
    """
    costs, n_segments, n_steps = checked_batch(costs, n_segments, n_steps, names)
    marginals = np.empty(costs.size)
    failed = once_marginals_batch_into(costs, n_segments, n_steps, marginals)
    if failed >= 0:
        raise no_ordered_answer(n_segments[failed], n_steps[failed], name_of(failed, names))
    return marginals


def runs_marginals(cost: npt.ArrayLike, background_cost: npt.ArrayLike = 0.0, name: str | None = None) -> Floats:
    """P(segment t is in the run of step k), (T, K), over ordered runs weighted exp(-cost); a row's rest to 1 is background.

    >>> runs_marginals([[0, 0], [0, 0]], background_cost=0)
    array([[1., 0.],
           [0., 1.]])
    """
    cost = checked_cost(cost, name)
    T, K = cost.shape
    marginals = np.empty((T, K))
    background = checked_background(background_cost, T, name)
    if runs_marginals_into(cost, background, np.empty(2 * K + 1), np.empty((T, 2 * K + 1, 3)), marginals) == -np.inf:
        raise no_ordered_answer(T, K, name)
    return marginals


def once_log_partition(cost: npt.ArrayLike, name: str | None = None) -> float:
    """The log of Z, the summed exp(-cost) of all increasing placements; -inf when there are none.

    >>> round(np.exp(once_log_partition([[0, 0], [0, 0], [0, 0]])))  # as many placements
    3
    """
    cost = checked_cost(cost, name)
    return float(once_shares_into(cost, np.empty(cost.shape[1]), np.empty(cost.shape)))


def sample_once(cost: npt.ArrayLike, rng: np.random.Generator, name: str | None = None) -> Ints:
    """Strictly increasing times (K,) drawn with probability proportional to exp(-cost); uniform where costs are 0 or +inf.

    >>> sample_once([[0, np.inf], [0, 0], [np.inf, 0]], np.random.default_rng(0)).shape
    (2,)
    """
    cost = checked_cost(cost, name)
    T, K = cost.shape
    shares, times = np.empty((T, K)), np.empty(K, np.int64)
    if once_shares_into(cost, np.empty(K), shares) == -np.inf:
        raise no_ordered_answer(T, K, name)
    sample_once_into(shares, rng.random((T,)), times)
    return times


@compiled
def once_shares_into(cost: Floats, value: Floats, shares: Floats) -> float:
    """Fill `shares` (T, K) with r_t(k) and return log Z, -inf when there is no ordered answer.

    For compiled callers: nothing is allocated or raised. `value` (at least K) float64 is work space. `shares` may be kept and
    handed to `sample_once_into` again and again. NaN counts as forbidden.
    """
    T, K = cost.shape
    for k in range(K):
        value[k] = -np.inf
    for t in range(T):
        before = 0.0  # A_{t-1}(k-1)
        for k in range(K):
            waited = value[k]
            moved = before - cost[t, k]
            before = waited
            if not moved > -np.inf:
                shares[t, k] = 0.0
            elif moved >= waited:
                odds = np.exp(waited - moved)
                shares[t, k] = 1.0 / (1.0 + odds)
                value[k] = moved + np.log1p(odds)
            else:
                odds = np.exp(moved - waited)
                shares[t, k] = odds / (1.0 + odds)
                value[k] = waited + np.log1p(odds)
    return value[K - 1] if K > 0 else 0.0


@compiled
def once_marginals_into(cost: Floats, value: Floats, marginals: Floats) -> float:
    """Fill `marginals` (T, K) float64 and return log Z; -inf, with marginals meaning nothing, when there is no ordered answer.

    For compiled callers: nothing is allocated or raised; `value` (at least K) float64 is work space.
    """
    T, K = cost.shape
    log_partition = once_shares_into(cost, value, marginals)
    if log_partition == -np.inf:
        return log_partition
    for k in range(K):
        value[k] = 0.0  # from here: the probability that exactly the steps up to k lie in the segments up to t
    if K > 0:
        value[K - 1] = 1.0
    for t in range(T - 1, -1, -1):
        for k in range(K):
            here = value[k] * marginals[t, k]
            marginals[t, k] = here
            value[k] -= here
            if k > 0:
                value[k - 1] += here
    return log_partition


@compiled
def once_marginals_batch_into(costs: Floats, n_segments: Ints, n_steps: Ints, marginals: Floats) -> int:
    """Fill the flat marginals of a ragged batch; the number of the first video without an answer, or -1."""
    value = np.empty(n_steps.max() if n_steps.size else 0)
    first = 0
    for video in range(n_steps.size):
        T, K = n_segments[video], n_steps[video]
        end = first + T * K
        if once_marginals_into(costs[first:end].reshape(T, K), value, marginals[first:end].reshape(T, K)) == -np.inf:
            return video
        first = end
    return -1


@compiled
def sample_once_into(shares: Floats, uniforms: Floats, times: Ints) -> None:
    """Fill `times` (K,) with one draw, given the shares (T, K) of `once_shares_into` and T numbers from [0, 1).

    For compiled callers; meaningless when the shares came with log Z = -inf.
    """
    T, K = shares.shape
    t = T - 1
    for k in range(K - 1, -1, -1):
        while uniforms[t] >= shares[t, k]:
            t -= 1
        times[k] = t
        t -= 1


@compiled
def runs_marginals_into(cost: Floats, background: Floats, value: Floats, shares: Floats, marginals: Floats) -> float:
    """Fill `marginals` (T, K) float64 and return log Z; -inf, marginals untouched, when there is no ordered answer.

    For compiled callers: nothing is allocated or raised. `value` (at least 2K + 1) and `shares` (at least T, at least 2K + 1, 3)
    float64 are work space.
    """
    T, K = cost.shape
    runs_shares_into(cost, background, value, shares)
    last = 2 * K
    at_rest, running = value[last], value[last - 1] if K > 0 else -np.inf
    top = max(at_rest, running)
    if not top > -np.inf:
        return -np.inf
    total = np.exp(at_rest - top) + np.exp(running - top)
    value[: last + 1] = 0.0  # from here: the probability that the walk is in state s at t
    value[last] = np.exp(at_rest - top) / total
    if K > 0:
        value[last - 1] = np.exp(running - top) / total
    for t in range(T - 1, -1, -1):
        for s in range(last + 1):
            here = value[s]
            value[s] = here * shares[t, s, 0]
            if s > 0:
                value[s - 1] += here * shares[t, s, 1]
            if s % 2 == 1:
                marginals[t, s // 2] = here
                if s > 1:
                    value[s - 2] += here * shares[t, s, 2]
    return float(top + np.log(total))


@compiled
def runs_shares_into(cost: Floats, background: Floats, value: Floats, shares: Floats) -> None:
    """Fill `value` (2K + 1,) with the log weight of all walks to each state, `shares` (T, 2K + 1, 3) with whence they came.

    shares[t, s, j]: of the walks in state s at segment t, the part that was j states back at t - 1.
    """
    T, K = cost.shape
    value[0] = 0.0  # before the first segment: background
    value[1 : 2 * K + 1] = -np.inf
    for t in range(T):
        for s in range(2 * K, -1, -1):
            one = value[s - 1] if s > 0 else -np.inf
            two = value[s - 2] if s > 1 and s % 2 == 1 else -np.inf
            top = max(value[s], one, two)
            shares[t, s] = 0.0
            if top == -np.inf:
                continue
            waits, moves, skips = np.exp(value[s] - top), np.exp(one - top), np.exp(two - top)
            total = waits + moves + skips
            shares[t, s, 0], shares[t, s, 1], shares[t, s, 2] = waits / total, moves / total, skips / total
            value[s] = top + np.log(total) - (cost[t, s // 2] if s % 2 == 1 else background[t])
