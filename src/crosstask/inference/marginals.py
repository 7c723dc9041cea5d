"""Marginals of ordered placements drawn with probability proportional to exp(-cost), in O(KT) and log space.

Over strictly increasing times t_1 < ... < t_K (each step *once*):

    P(t_1 .. t_K) = exp(-sum_k cost[t_k, k]) / Z
    A_t(k) = log(exp A_{t-1}(k) + exp(A_{t-1}(k-1) - cost[t, k]))       log sum over the placements of the steps up to k by segment t
    r_t(k) = exp(A_{t-1}(k-1) - cost[t, k] - A_t(k))                    share of them with step k at t itself

The backward pass starts at the last segment and propagates the probability that exactly the steps up to k lie in the segments
up to t; step k is placed at t with probability r_t(k). Only the ratios r are stored, so that large costs do not underflow and
every column sums to 1.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from crosstask.inference.compiled import compiled
from crosstask.inference.ragged import checked_batch
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


@compiled
def once_shares_into(cost: Floats, value: Floats, shares: Floats) -> float:
    """Fill `shares` (T, K) with r_t(k) and return log Z, -inf when there is no ordered answer.

    For compiled callers: nothing is allocated or raised. `value` (at least K) float64 is work space. NaN counts as forbidden.
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
