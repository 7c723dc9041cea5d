"""A block that fails if it hangs."""

import signal
from contextlib import contextmanager

_PATIENCE_S = 60  # no reader waits on purpose; a hang is for ever


@contextmanager
def no_hang():
    def stop(*_):
        raise AssertionError("the reader hangs")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(_PATIENCE_S)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
