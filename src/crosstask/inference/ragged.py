"""A batch of (T_i, K_i) matrices of different sizes as one flat array: row order within a video, videos one after another.

Its two companions give the sizes: `n_segments` (n,) holds the T_i and `n_steps` (n,) the K_i.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from crosstask.inference.validation import BadCost, Floats, Ints, as_floats, first_bad_cost, name_of, refuse_bad_cost


def concatenated(matrices: Sequence[npt.ArrayLike]) -> tuple[Floats, Ints, Ints]:
    """The flat values (sum of T_i * K_i,), n_segments (n,) and n_steps (n,) of matrices (T_i, K_i).

    >>> concatenated([[[1, 2]], [[3], [4]]])
    (array([1., 2., 3., 4.]), array([1, 2]), array([2, 1]))
    """
    arrays = [as_floats(matrix) for matrix in matrices]
    shapes = np.array([array.shape for array in arrays], np.int64).reshape(-1, 2)
    flat = np.concatenate([array.reshape(-1) for array in arrays]) if arrays else np.empty(0)
    return flat, shapes[:, 0].copy(), shapes[:, 1].copy()


def separated(flat: Floats, n_segments: Ints, n_steps: Ints) -> list[Floats]:
    """The matrices (T_i, K_i) of a flat batch, as views of it.

    >>> [m.tolist() for m in separated(np.arange(4.), np.array([1, 2]), np.array([2, 1]))]
    [[[0.0, 1.0]], [[2.0], [3.0]]]
    """
    ends = np.cumsum(n_segments * n_steps)
    return [flat[end - T * K : end].reshape(T, K) for end, T, K in zip(ends, n_segments, n_steps, strict=True)]


def checked_batch(costs: Any, n_segments: Any, n_steps: Any, names: Sequence[str] | None) -> tuple[Floats, Ints, Ints]:
    """The batch as arrays, refused with the video's name where a cost is NaN or minus infinity, or where sizes disagree."""
    costs = as_floats(costs).reshape(-1)
    n_segments, n_steps = np.asarray(n_segments, np.int64), np.asarray(n_steps, np.int64)
    sizes = n_segments * n_steps
    if sizes.sum() != costs.size or (names is not None and len(names) != sizes.size):
        named = "no" if names is None else str(len(names))
        raise BadCost(
            f"a batch of {costs.size} costs and {named} names for {sizes.size} videos with {sizes.sum()} cells: expected "
            "T * K costs per video, and one name each or none"
        )
    place = first_bad_cost(costs)
    if place >= 0:
        ends = np.cumsum(sizes)
        video = int(np.searchsorted(ends, place, side="right"))
        refuse_bad_cost(costs[ends[video] - sizes[video] : ends[video]], n_steps[video], name_of(video, names))
    return costs, n_segments, n_steps
