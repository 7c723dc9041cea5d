"""The last step of a planted row, in one pass and to the last bit what NumPy gives in six: grain, offset, cut at zero, scale, float16."""

import numpy as np
import numpy.typing as npt
from numba import njit

Floats = npt.NDArray[np.float32]
_REBIAS = np.uint32(112 << 23)  # a float32's exponent is 112 above a float16's
_SMALLEST_NORMAL = np.uint32(0x38800000)  # the bits of 2^-14
_BELOW_HALF, _LAST = np.uint32(0xFFF), np.uint32(13)
_HALF, _HALF_BITS = np.float32(0.5), np.uint32(0x3F000000)  # beside a half, a float32 has the steps of the smallest float16
_INFINITE = np.float32(65520)  # from here on a float16 is infinite


def filmed(grain_rows: Floats, seen: npt.NDArray[np.floating], offset: Floats, scale: Floats) -> npt.NDArray[np.float16]:
    """(T, D): max(0, grain + seen + offset) * scale, rounded to float16; `grain_rows` (T, D) are used up.

    >>> filmed(np.zeros((1, 3), np.float32), np.float32([[-1, 1, 1e-7]]), np.zeros(3, np.float32), np.float32([2, 2, 2])).tolist()
    [[0.0, 2.0, 1.7881393432617188e-07]]
    """
    halves = np.empty(grain_rows.shape, np.uint16)
    if _film(grain_rows, seen, offset, scale, halves) < _INFINITE:
        return halves.view(np.float16)
    return grain_rows.astype(np.float16)


def _film_rows(
    grain_rows: Floats, seen: npt.NDArray[np.floating], offset: Floats, scale: Floats, halves: npt.NDArray[np.uint16]
) -> np.float32:
    """Write the rows over `grain_rows` and their bits as float16 into `halves`; the largest number. Nearest, ties to even."""
    largest = np.float32(0)
    beside = np.empty(grain_rows.shape[1], np.float32)
    for t in range(grain_rows.shape[0]):
        row, seen_row, half_row = grain_rows[t], seen[t], halves[t]
        for d in range(row.size):
            x = np.float32(row[d] + seen_row[d]) + offset[d]
            x = (x if x > 0 else np.float32(0)) * scale[d]
            row[d] = x
            beside[d] = x + _HALF
            largest = x if x > largest else largest
        bits, bits_beside = row.view(np.uint32), beside.view(np.uint32)
        for d in range(row.size):
            b = bits[d]
            usual = (b - _REBIAS + _BELOW_HALF + ((b >> _LAST) & np.uint32(1))) >> _LAST
            half_row[d] = np.uint16(usual if b >= _SMALLEST_NORMAL else bits_beside[d] - _HALF_BITS)
    return largest


# Strict arithmetic: a planted world is the same to the last bit on every machine that draws it.
_film = njit(cache=True, nogil=True)(_film_rows)
