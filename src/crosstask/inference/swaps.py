"""Each step once, where two neighbouring steps of the list may change places, in O(KT).

    V_t(j): the first j steps lie in the segments up to t;   W_t(j): the first j steps and step j + 1 do, step j is still to come
    W_t(j) = min(W_{t-1}(j), V_{t-1}(j) + cost[t, j + 1])
    V_t(j) = min(V_{t-1}(j), V_{t-1}(j - 1) + cost[t, j - 1], W_{t-1}(j - 2) + cost[t, j - 2])

with steps numbered from 0. A step takes part in one swap at most.

Ties: reading from the last placement to the first, the earlier time wins, and at the same time the order of the list.
"""

import numpy as np
import numpy.typing as npt

from crosstask.inference.compiled import compiled
from crosstask.inference.validation import Floats, Ints, checked_cost, no_ordered_answer


def decode_with_swaps(cost: npt.ArrayLike, name: str | None = None) -> Ints:
    """Times (K,), all different, with the least total cost; increasing but for disjoint pairs of neighbouring steps.

    >>> decode_with_swaps([[9, 0, 9], [0, 9, 9], [9, 9, 0]])
    array([1, 0, 2])
    """
    cost = checked_cost(cost, name)
    T, K = cost.shape
    times = np.empty(K, np.int64)
    came, swapped = np.empty((T, K + 1), np.uint8), np.empty((T, K + 1), np.bool_)
    if not swaps_into(cost, np.empty(K + 1), np.empty(K + 1), came, swapped, times):
        raise no_ordered_answer(T, K, name)
    return times


@compiled
def swaps_into(
    cost: Floats,
    value: Floats,
    pending: Floats,
    came: npt.NDArray[np.uint8],
    swapped: npt.NDArray[np.bool_],
    times: Ints,
) -> bool:
    """Fill `times` (K,) and return True; return False, times unchanged, when there is no answer.

    For compiled callers. Work space: `value`, `pending` (at least K + 1) float64 hold V and W; `came` uint8 (0 waited, 1 in the
    order of the list, 2 paid the pending step) and `swapped` bool are (at least T, at least K + 1).
    """
    T, K = cost.shape
    value[0] = 0.0
    value[1 : K + 1] = np.inf
    pending[: K + 1] = np.inf
    for t in range(T):
        for j in range(K, -1, -1):
            if j + 2 <= K:
                ahead = value[j] + cost[t, j + 1]
                swapped[t, j] = ahead < pending[j]
                pending[j] = min(ahead, pending[j])
            came[t, j] = 0
            if j >= 1 and value[j - 1] + cost[t, j - 1] < value[j]:
                value[j], came[t, j] = value[j - 1] + cost[t, j - 1], 1
            if j >= 2 and pending[j - 2] + cost[t, j - 2] < value[j]:
                value[j], came[t, j] = pending[j - 2] + cost[t, j - 2], 2
    if not value[K] < np.inf:
        return False
    walk_back(came, swapped, times, T, K)
    return True


@compiled
def walk_back(came: npt.NDArray[np.uint8], swapped: npt.NDArray[np.bool_], times: Ints, T: int, K: int) -> None:
    """Fill `times` (K,) by following the choices from the last segment."""
    t, j = T - 1, K
    while j > 0:
        while came[t, j] == 0:
            t -= 1
        if came[t, j] == 1:
            times[j - 1] = t
            t, j = t - 1, j - 1
        else:
            times[j - 2] = t
            t, j = t - 1, j - 2
            while not swapped[t, j]:
                t -= 1
            times[j + 1] = t
            t -= 1
