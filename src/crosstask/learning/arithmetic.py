"""How the kernels of this room become machine code: sums may be regrouped, which is what lets them use vector instructions.

The regrouping is fixed when the code is compiled, and one thread computes each sum from first to last: on one machine the same
numbers come out with any number of threads.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

Kernel = TypeVar("Kernel", bound=Callable[..., Any])
_RELAXED = {"reassoc", "contract", "nsz", "arcp"}  # not 'nnan' or 'ninf': infinities and NaN keep their meaning


def compiled(kernel: Kernel) -> Kernel:
    """The same function as machine code, kept on disk where that can be written."""
    try:
        return cast(Kernel, njit(cache=True, nogil=True, fastmath=_RELAXED, error_model="numpy")(kernel))
    except RuntimeError:  # nowhere to keep it: a read-only installation
        return cast(Kernel, njit(nogil=True, fastmath=_RELAXED, error_model="numpy")(kernel))
