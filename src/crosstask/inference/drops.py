"""Ordered steps that may be dropped at a cost, in O(KT).

    V_t(k) = min(V_t(k-1) + absence[k], V_{t-1}(k), V_{t-1}(k-1) + cost[t, k])

Ties: read from the last step to the first, absent before placed, an earlier time before a later one. So a step that costs
exactly its absence stays out.
"""

import numpy as np
import numpy.typing as npt

from crosstask.inference.compiled import compiled
from crosstask.inference.validation import BadCost, Floats, Ints, NoOrderedAnswer, checked_cost, in_video


def decode_with_drops(cost: npt.ArrayLike, absence_cost: npt.ArrayLike, name: str | None = None) -> Ints:
    """Times (K,), increasing over the steps that are placed, -1 for the absent ones, at least total cost.

    cost is (T, K) and absence_cost (K,) or one number; an infinite absence cost makes a step compulsory.

    >>> decode_with_drops([[5, 0], [1, 9], [9, 8]], absence_cost=3)
    array([-1,  0])
    """
    cost = checked_cost(cost, name)
    T, K = cost.shape
    absence = np.asarray(absence_cost, np.float64)
    if absence.shape not in ((), (K,)) or not (absence > -np.inf).all():
        found = f"absence costs {absence.tolist()}{in_video(name)}"
        raise BadCost(f"{found}: expected one number or {K}, one per step; +inf for a step that must be placed")
    times = np.empty(K, np.int64)
    absence = np.ascontiguousarray(np.broadcast_to(absence, (K,)))
    if not drops_into(cost, absence, np.empty(K + 1), np.empty((T, K), np.uint8), times):
        compulsory = int(np.isinf(absence).sum())
        raise NoOrderedAnswer(
            f"no ordered answer{in_video(name)}: T = {T} segments and their infinite costs leave no increasing times for the "
            f"{compulsory} compulsory of {K} steps; give absence a finite cost"
        )
    return times


@compiled
def drops_into(cost: Floats, absence: Floats, value: Floats, came: npt.NDArray[np.uint8], times: Ints) -> bool:
    """Fill `times` (K,) and return True; return False, times unchanged, when compulsory steps have no ordered answer.

    For compiled callers. Work space: `value` (at least K + 1) float64; `came` (at least T, at least K) uint8: 0 waited, 1 placed
    here, 2 absent.
    """
    T, K = cost.shape
    value[0] = 0.0
    for k in range(K):
        value[k + 1] = value[k] + absence[k]
    for t in range(T):
        before = 0.0  # V_{t-1}(k-1)
        for k in range(K):
            waited = value[k + 1]
            best, how = value[k] + absence[k], 2
            if waited < best:
                best, how = waited, 0
            if before + cost[t, k] < best:
                best, how = before + cost[t, k], 1
            value[k + 1] = best
            came[t, k] = how
            before = waited
    if not value[K] < np.inf:
        return False
    t = T - 1
    for k in range(K - 1, -1, -1):
        while t >= 0 and came[t, k] == 0:
            t -= 1
        placed = t >= 0 and came[t, k] == 1
        times[k] = t if placed else -1
        t -= placed
    return True
