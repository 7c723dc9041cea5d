"""Arithmetic on one thread: sums of matrix products and convolutions are rounded differently for other numbers of threads."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import threadpool_limits


@contextmanager
def single_thread() -> Iterator[None]:
    """A block in which BLAS, OpenMP and PyTorch compute with one thread, whatever the environment says.

    PyTorch must be imported before the block, or else not be used in it.
    """
    torch = sys.modules.get("torch")
    before = torch.get_num_threads() if torch is not None else 1
    with threadpool_limits(limits=1):
        try:
            if torch is not None:
                torch.set_num_threads(1)
            yield
        finally:
            if torch is not None:
                torch.set_num_threads(before)
