"""Each step once: K strictly increasing times of least total cost, in O(KT).

    min over t_1 < ... < t_K of  sum_k cost[t_k, k]                                           the linearised label step (6), (17)
    V_t(k) = min(V_{t-1}(k), V_{t-1}(k-1) + cost[t, k])       steps up to k lie in the segments up to t      cf. (8), (9)

One row of V is kept, and one byte per cell says whether step k was placed at t. Infinite costs forbid.

Ties: times that tie form a lattice (of two best answers, the earlier time of every step is a best answer again), so there is
one best answer in which *every* step lies as early as in any other. That one is returned.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from crosstask.inference.compiled import compiled
from crosstask.inference.ragged import checked_batch
from crosstask.inference.validation import Floats, Ints, checked_cost, name_of, no_ordered_answer


def decode_once(cost: npt.ArrayLike, name: str | None = None) -> Ints:
    """Strictly increasing times (K,) with the least total cost; cost is (T, K), +inf forbids.

    `name` is the video's, for the error messages.

    >>> decode_once([[5, 0], [1, 9], [2, 1]])
    array([1, 2])
    >>> decode_once([[0, 0]], name="short one")
    Traceback (most recent call last):
    ...
    crosstask.inference.validation.NoOrderedAnswer: T = 1 segments cannot hold 2 steps in video short one: \
give a longer video or a shorter step list
    """
    cost = checked_cost(cost, name)
    T, K = cost.shape
    times = np.empty(K, np.int64)
    if not once_into(cost, np.empty(K), np.empty((T, K), np.bool_), times):
        raise no_ordered_answer(T, K, name)
    return times


def decode_once_batch(costs: Any, n_segments: Any, n_steps: Any, names: Sequence[str] | None = None) -> Ints:
    """Times of all videos one after another, (sum of K_i,); the costs are a ragged batch, see `ragged.concatenated`.

    >>> decode_once_batch([5, 0, 1, 9, 2, 1, 7, 3, 8], n_segments=[3, 3], n_steps=[2, 1])
    array([1, 2, 1])
    """
    costs, n_segments, n_steps = checked_batch(costs, n_segments, n_steps, names)
    times = np.empty(n_steps.sum(), np.int64)
    failed = once_batch_into(costs, n_segments, n_steps, times)
    if failed >= 0:
        raise no_ordered_answer(n_segments[failed], n_steps[failed], name_of(failed, names))
    return times


@compiled
def once_into(cost: Floats, value: Floats, placed: npt.NDArray[np.bool_], times: Ints) -> bool:
    """Fill `times` (K,) with the best increasing times and return True; return False, times unchanged, when there are none.

    For compiled callers: nothing is allocated, checked or raised. `cost` is (T, K), float32 or float64, rows in time order (any
    subset of a video's rows will do: times then count within it). `value` (at least K) float64 and `placed` (at least T, at least
    K) bool are work space whose contents do not matter before and mean nothing after; make them once, as large as the
    largest video. NaN counts as forbidden, so costs that went astray end as False, not as labels.
    """
    T, K = cost.shape
    for k in range(K):
        value[k] = np.inf
    for t in range(T):
        row = cost[t]
        placed_here = placed[t]
        before = 0.0  # V_{t-1}(k-1)
        for k in range(K):
            waited = value[k]
            moved = before + row[k]
            better = moved < waited  # strictly: the earliest time wins a tie
            placed_here[k] = better
            value[k] = moved if better else waited
            before = waited
    if K > 0 and not value[K - 1] < np.inf:
        return False
    t = T - 1
    for k in range(K - 1, -1, -1):
        while not placed[t, k]:
            t -= 1
        times[k] = t
        t -= 1
    return True


@compiled
def once_batch_into(costs: Floats, n_segments: Ints, n_steps: Ints, times: Ints) -> int:
    """Fill the times (sum of K_i,) of a ragged batch; the number of the first video without an answer, or -1."""
    largest_K = n_steps.max() if n_steps.size else 0
    value = np.empty(largest_K)
    placed = np.empty((n_segments.max() if n_segments.size else 0) * largest_K, np.bool_)
    first_cell, first_time = 0, 0
    for video in range(n_steps.size):
        T, K = n_segments[video], n_steps[video]
        cost = costs[first_cell : first_cell + T * K].reshape(T, K)
        if not once_into(cost, value, placed[: T * K].reshape(T, K), times[first_time : first_time + K]):
            return video
        first_cell += T * K
        first_time += K
    return -1
