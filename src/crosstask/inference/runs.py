"""Each step one contiguous run of segments, with free background between: the paper's "at least once" programme, in O(KT).

    min over labels y in C of  sum_t cost[t, y_t],    y_t in {0, 1 .. K},  0 = background                         (6), (7)

States stand in a row, and a video walks along it:  0 background, 1 step 1, 2 background, 3 step 2, ... 2K background.
A state is entered from itself or from the one before; a step also from the step before it, without background between.
With e_t(s) the cost of the label of state s,

    V_t(s) = e_t(s) + min(V_{t-1}(s), V_{t-1}(s-1), and for a step V_{t-1}(s-2))                                  (8), (9)

deviation: of the sets of previous states printed before (8), the one for background has z - 1 where it needs z, and the next
labels leave out z + 1; the walk above is what the text describes.

Ties: of equally cheap labels, those that are smallest when read from the last segment to the first: background before a
step, an earlier step before a later one. So a step ends no later than it must.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from crosstask.inference.compiled import compiled
from crosstask.inference.validation import BadCost, Floats, Ints, checked_cost, in_video, no_ordered_answer


def place_each_step_as_run(cost: npt.ArrayLike, background_cost: npt.ArrayLike = 0.0, name: str | None = None) -> Ints:
    """Labels (T,), 0 = background and k + 1 = step k: every step one run, in order, at least total cost.

    cost is (T, K) and background_cost (T,) or one number; +inf forbids.

    >>> place_each_step_as_run([[-1, 5], [-2, 5], [3, 3], [3, -1]])
    array([1, 1, 0, 2])
    """
    cost = checked_cost(cost, name)
    T, K = cost.shape
    labels = np.empty(T, np.int64)
    background = checked_background(background_cost, T, name)
    if not runs_into(cost, background, np.empty(2 * K + 1), np.empty((T, 2 * K + 1), np.uint8), labels):
        raise no_ordered_answer(T, K, name)
    return labels


def place_runs_without_background(cost: npt.ArrayLike, name: str | None = None) -> Ints:
    """Labels (T,), k + 1 = step k: the video cut into K runs in order, every segment in one, at least total cost.

    >>> place_runs_without_background([[-1, 5], [-2, 5], [3, 2], [3, -1]])
    array([1, 1, 2, 2])
    """
    return place_each_step_as_run(cost, np.inf, name)


def checked_background(background_cost: Any, n_segments: int, name: str | None) -> Floats:
    """The cost of background as float64 (T,), refused when NaN, minus infinity or of another length."""
    background = np.asarray(background_cost, np.float64)
    if background.shape not in ((), (n_segments,)):
        expected = f"expected one number or {n_segments}, one per segment"
        raise BadCost(f"background costs of shape {background.shape}{in_video(name)}: {expected}")
    if not (background > -np.inf).all():
        raise BadCost(f"a background cost is nan or -inf{in_video(name)}: give numbers, or +inf for what is forbidden")
    return np.ascontiguousarray(np.broadcast_to(background, (n_segments,)))


@compiled
def runs_into(cost: Floats, background: Floats, value: Floats, came: npt.NDArray[np.uint8], labels: Ints) -> bool:
    """Fill `labels` (T,) with the best runs and say True; say False, labels untouched, when there are none.

    For compiled callers: nothing is allocated, checked or raised. `value` (at least 2K + 1) float64 and `came` (at least T, at
    least 2K + 1) uint8, how many states back a state was entered from, are work space.
    """
    T, K = cost.shape
    value[0] = 0.0  # before the first segment: background
    value[1 : 2 * K + 1] = np.inf
    for t in range(T):
        for k in range(K, 0, -1):
            rest, run = 2 * k, 2 * k - 1
            finished = value[run] < value[rest]
            came[t, rest] = finished
            value[rest] = background[t] + (value[run] if finished else value[rest])
            best, back = value[run - 1], 1
            if run > 1 and value[run - 2] < best:
                best, back = value[run - 2], 2
            if value[run] < best:
                best, back = value[run], 0
            came[t, run] = back
            value[run] = cost[t, k - 1] + best
        came[t, 0] = 0
        value[0] += background[t]
    state = 2 * K
    if K > 0 and value[state - 1] < value[state]:
        state -= 1
    if not value[state] < np.inf:
        return False
    for t in range(T - 1, -1, -1):
        labels[t] = (state + 1) // 2 if state % 2 == 1 else 0
        state -= came[t, state]
    return True
