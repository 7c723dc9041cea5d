"""Numba decorators for the array kernels.

Compiled code is cached on disk where that is possible. The cached copy is renewed when the kernel's own file changes, not when a kernel
that it calls in another file does: remove the `*.nb?` files of `__pycache__` then. Files that are damaged are written again.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar, cast

from numba import njit
from numba.core.caching import FunctionCache

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
    dispatcher = njit(nogil=True, **options)(kernel)
    with suppress(RuntimeError):  # no place for a cache: a read-only installation, or code without a file
        dispatcher._cache = _KernelFiles(kernel)  # type: ignore[no-untyped-call]
    return cast(Kernel, dispatcher)


class _KernelFiles(FunctionCache):
    """Numba's files of a kernel, which it neither flushes nor checks: after a power cut they may be empty."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The machine code of a signature, or None where it has to be compiled: also where its files are damaged."""
        try:
            return super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]
        except OSError:
            raise
        except Exception:  # Numba reads its own files, which may be damaged in any way
            try:
                self.flush()  # type: ignore[no-untyped-call]
            except OSError:  # read-only
                self.disable()  # type: ignore[no-untyped-call]
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the machine code of a signature, where there is room; otherwise it is compiled again next time."""
        with suppress(OSError):
            super().save_overload(sig, data)  # type: ignore[no-untyped-call]
