"""Numba decorators for the array kernels.

Compiled code is cached on disk where that is possible. The cached copy is renewed when the kernel's own file changes, not when a kernel
that it calls in another file does: remove the `*.nb?` files of `__pycache__` then.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

Kernel = TypeVar("Kernel", bound=Callable[..., Any])
_REORDERED_SUMS = {"reassoc", "contract", "nsz", "arcp"}  # not 'nnan' or 'ninf': infinities and NaN keep their meaning


def compiled(kernel: Kernel) -> Kernel:
    """The function as machine code with strict IEEE arithmetic, callable from other compiled code; it releases the interpreter lock.

    >>> @compiled
    ... def doubled(x):
    ...     return 2 * x
    >>> doubled(21)
    42
    """
    return _compile(kernel)


def compiled_with_reordered_sums(kernel: Kernel) -> Kernel:
    """The function as machine code whose sums may be reordered, so that the compiler can use vector instructions.

    The order is fixed at compile time and one thread computes each sum, so results do not depend on the number of threads.
    """
    return _compile(kernel, fastmath=_REORDERED_SUMS, error_model="numpy")


def _compile(kernel: Kernel, **options: Any) -> Kernel:
    try:
        return cast(Kernel, njit(cache=True, nogil=True, **options)(kernel))
    except RuntimeError:  # no place for a cache: a read-only installation, or code without a file
        return cast(Kernel, njit(nogil=True, **options)(kernel))
