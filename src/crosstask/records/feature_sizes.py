"""Videos whose features are far larger than those of the others: one of them decides the scale of all, and the model is worse everywhere."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

LARGEST_SCALED = 1e18  # the squares of larger values, of which training has sums, come near the largest float32
UNLIKE = 1e3  # ours: times the median over the videos; one such row in 240 took 18 points of the recall of the default method
_VALUES_AT_ONCE = 2**18  # bounds the memory


def largest_value(rows: npt.NDArray[np.floating]) -> float:
    """The largest absolute value of features (T, D); infinite or NaN where they are.

    >>> largest_value(np.array([[1.5, -3.0]], np.float16)), largest_value(np.array([[2.0, -7.0]]))
    (3.0, 7.0)
    """
    at_once = max(1, _VALUES_AT_ONCE // max(1, rows.shape[1]))
    blocks = [_largest(rows[first : first + at_once]) for first in range(0, len(rows), at_once)]
    return max(blocks, default=0.0)


def _largest(rows: npt.NDArray[np.floating]) -> float:
    if (
        rows.dtype == np.float16 and rows.dtype.isnative
    ):  # the order of the bits is that of the sizes; NumPy compares halves slowly
        bits = (np.ascontiguousarray(rows).view(np.uint16) & np.uint16(0x7FFF)).max()
        return float(np.uint16(bits).view(np.float16))
    return max(float(rows.max()), -float(rows.min()))


def unlike_others(largest: Mapping[str, float]) -> dict[str, str]:
    """What is wrong with the videos whose largest values are far larger than those of most, or too large to be squared.

    >>> unlike_others({"a": 1.0, "b": 2.0, "c": 1e5})
    {'c': 'values up to 1e+05; in most videos up to 2'}
    """
    median = float(np.median(list(largest.values()))) if largest else 0.0
    found = {}
    for video, value in sorted(largest.items()):
        if value > LARGEST_SCALED:
            found[video] = f"values up to {value:.3g}; expected at most {LARGEST_SCALED:g}, or training may diverge"
        elif value > UNLIKE * median > 0:
            found[video] = f"values up to {value:.3g}; in most videos up to {median:.3g}"
    return found
