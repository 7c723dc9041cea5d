"""Random numbers that depend on where they are used, not on when: a hash of (seed, epoch, video, pass, segment, column).

So results do not change with the order of work, with threads, or when a training is resumed. The hash is the SplitMix64 finaliser.
"""

import numpy as np
import numpy.typing as npt

from crosstask.inference.compiled import compiled_with_reordered_sums

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_M1 = np.uint64(0xBF58476D1CE4E5B9)
_M2 = np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
_UNIT = 1.0 / (1 << 53)


@compiled_with_reordered_sums
def mixed(key: np.uint64, value: np.uint64) -> np.uint64:
    """A new 64-bit key from a key and a number."""
    z = key + _GOLDEN * (value + np.uint64(1))
    z = (z ^ (z >> _S30)) * _M1
    z = (z ^ (z >> _S27)) * _M2
    return z ^ (z >> _S31)


@compiled_with_reordered_sums
def unit_float(key: np.uint64, value: np.uint64) -> float:
    """A number in [0, 1)."""
    return np.float64(mixed(key, value) >> _S11) * _UNIT


@compiled_with_reordered_sums
def fill_bits(key: np.uint64, bits: npt.NDArray[np.uint64]) -> None:
    """Fill `bits` with 64 random bits a place; seen as uint16 they are four thresholds' worth each."""
    for j in range(bits.size):
        z = key + _GOLDEN * np.uint64(j + 1)
        z = (z ^ (z >> _S30)) * _M1
        z = (z ^ (z >> _S27)) * _M2
        bits[j] = z ^ (z >> _S31)
