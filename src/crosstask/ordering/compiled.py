"""How the kernels of this room become machine code."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def compiled(kernel: Kernel) -> Kernel:
    """The same function as machine code: kept on disk where that can be written, callable from other compiled code.

    Strict arithmetic, because forbidden costs are infinities; the interpreter lock is released, so threads may share the work.
    The copy on disk is renewed when the kernel's own file changes, not when a kernel it calls in another file does: remove the
    `*.nb?` files of `__pycache__` then.

    >>> @compiled
    ... def doubled(x):
    ...     return 2 * x
    >>> doubled(21)
    42
    """
    try:
        return cast(Kernel, njit(cache=True, nogil=True)(kernel))
    except RuntimeError:  # nowhere to keep it: a read-only installation, or code without a file
        return cast(Kernel, njit(nogil=True)(kernel))
