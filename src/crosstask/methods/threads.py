"""Independent parts of a training on two threads: most of their time is spent in compiled code, which runs in parallel."""

from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_EXCEPTION, CancelledError, ThreadPoolExecutor, wait
from threading import Event
from typing import TypeVar

THREADS = 2  # results do not depend on it
Item = TypeVar("Item")
Result = TypeVar("Result")


def in_threads(function: Callable[[Item], Result], items: Iterable[Item], stopped: Event) -> list[Result]:
    """The results in the order of the items.

    After an error or Ctrl-C, `stopped` is set, on which calls that still run may raise CancelledError, and no further one begins.
    """
    with ThreadPoolExecutor(THREADS) as pool:
        futures = [pool.submit(function, item) for item in items]
        try:
            wait(futures, return_when=FIRST_EXCEPTION)
        finally:
            failed = any(future.done() and future.exception() is not None for future in futures)
            if failed or not all(future.done() for future in futures):
                stopped.set()
                pool.shutdown(cancel_futures=True)
    errors = [error for future in futures if not future.cancelled() and (error := future.exception()) is not None]
    for error in errors:
        if not isinstance(error, CancelledError):
            raise error
    return [future.result() for future in futures]
