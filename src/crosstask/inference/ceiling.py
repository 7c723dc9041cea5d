"""The ordered ceiling: the largest number of present steps that a labelling in list order can hit.

Counted: one moment per step, a hit if it lies in any true interval of that step; the moments of the steps increase strictly
along the list. A step that does not fit is left out and counts as a miss, so absent steps take no segment. Summed over a task's
videos, hits / present is its *order consistency* (Table S2): 2 -> 1 -> 3 has 2 of 3.

    H_t(k) = max(H_t(k-1), H_{t-1}(k), H_{t-1}(k-1) + truth[t, k])

`decode_once(-truth)` gives the slightly lower ceiling of labellings that must also place absent steps.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from crosstask.inference.compiled import compiled
from crosstask.inference.validation import BadCost, Ints


def ordered_ceiling(truth: Any) -> tuple[int, int]:
    """(hits, present): the most steps an ordered choice of moments can hit, and how many occur; truth is (T, K), bool.

    >>> second_first_third = [[0, 1, 0], [1, 0, 0], [0, 0, 1]]
    >>> ordered_ceiling(second_first_third)
    (2, 3)
    """
    array = np.ascontiguousarray(truth, dtype=np.bool_)
    if array.ndim != 2:
        raise BadCost(f"truth of shape {array.shape}: expected (T, K), a row per segment and a column per step")
    return most_hits(array, np.empty(array.shape[1] + 1, np.int64)), int(array.any(axis=0).sum())


@compiled
def most_hits(truth: npt.NDArray[np.bool_], hits: Ints) -> int:
    """The largest number of hits; `hits` (at least K + 1) int64 is work space."""
    T, K = truth.shape
    hits[: K + 1] = 0
    for t in range(T):
        before = 0  # H_{t-1}(k-1)
        for k in range(K):
            waited = hits[k + 1]
            hits[k + 1] = max(hits[k], waited, before + truth[t, k])
            before = waited
    return int(hits[K])
