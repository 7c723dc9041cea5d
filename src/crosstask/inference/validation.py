"""Validation of costs, and the errors of the decoders."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from crosstask.inference.compiled import compiled

Floats = npt.NDArray[Any]  # float32 or float64; what is summed is summed in float64
Ints = npt.NDArray[np.int64]


class NoOrderedAnswer(ValueError):
    """No labels satisfy the order: too few segments, or too much is forbidden."""


class BadCost(ValueError):
    """Invalid costs: NaN, minus infinity, or an array of another shape."""


def in_video(name: str | None) -> str:
    """' in video NAME' for a message; empty without a name."""
    return "" if name is None else f" in video {name}"


def name_of(video: int, names: Sequence[str] | None) -> str:
    """The video's name, or its place in the batch when the batch came without names."""
    return f"number {video} of the batch" if names is None else names[video]


def checked_cost(cost: Any, name: str | None = None) -> Floats:
    """`cost` as a float32 or float64 array (T, K) in row order, without a copy where it already is one.

    >>> checked_cost([[0, 1], [float("nan"), 0]], name="V")
    Traceback (most recent call last):
    ...
    crosstask.inference.validation.BadCost: cost nan at segment 1, step 0 in video V: give a number, or +inf for what is forbidden
    """
    array = as_floats(cost)
    if array.ndim != 2:
        raise BadCost(f"costs of shape {array.shape}{in_video(name)}: expected (T, K), a row per segment and a column per step")
    refuse_bad_cost(array.reshape(-1), array.shape[1], name)
    return array


def as_floats(values: Any) -> Floats:
    """The values as float32 where they are, as float64 otherwise, in row order."""
    array = np.asarray(values)
    return np.ascontiguousarray(array, dtype=np.float32 if array.dtype == np.float32 else np.float64)


def refuse_bad_cost(cost: Floats, n_steps: int, name: str | None) -> None:
    """Raise `BadCost` if a row-order (T * K,) cost holds NaN or minus infinity."""
    place = first_bad_cost(cost)
    if place >= 0:
        where = f"segment {place // n_steps}, step {place % n_steps}{in_video(name)}"
        raise BadCost(f"cost {cost[place]} at {where}: give a number, or +inf for what is forbidden")


def no_ordered_answer(n_segments: int, n_steps: int, name: str | None) -> NoOrderedAnswer:
    """The error that explains why these costs admit no ordered labels."""
    if n_segments < n_steps:
        return NoOrderedAnswer(
            f"T = {n_segments} segments cannot hold {n_steps} steps{in_video(name)}: give a longer video or a shorter step list"
        )
    return NoOrderedAnswer(
        f"no ordered answer{in_video(name)}: its infinite costs leave no increasing times for {n_steps} steps in "
        f"{n_segments} segments; allow more segments"
    )


@compiled
def first_bad_cost(cost: Floats) -> int:
    """Place of the first NaN or minus infinity of a flat array, or -1."""
    bad = 0
    for i in range(cost.size):  # counting first: a loop without an exit is vectorised
        bad += not cost[i] > -np.inf
    if bad > 0:
        for i in range(cost.size):
            if not cost[i] > -np.inf:
                return i
    return -1
