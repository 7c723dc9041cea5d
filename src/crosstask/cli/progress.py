"""Progress with the time that is left: a bar on a terminal, a line every few seconds elsewhere."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter

from crosstask.cli.output import note, progress

_EVERY_S = 15.0


@contextmanager
def countdown(what: str, total: int) -> Iterator[Callable[[], None]]:
    """A function to call after each of `total` pieces."""
    if sys.stderr.isatty():
        with progress(what, total) as advance:
            yield advance
        return
    begun = perf_counter()
    said, done = begun, 0

    def tell() -> None:
        nonlocal said, done
        done += 1
        now = perf_counter()
        if now - said >= _EVERY_S and 3 <= done < total:  # the first pieces also load models
            said = now
            note(f"{what}: {done} of {total}, about {duration((now - begun) / done * (total - done))} left")

    yield tell


def duration(seconds: float) -> str:
    """A length of time as people say it.

    >>> duration(42), duration(400), duration(9000), duration(2e6)
    ('42 s', '7 min', '2.5 h', '23 days')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 3 * 86400 else f"{seconds / 86400:.0f} days"


def size(n_bytes: float) -> str:
    """An amount of bytes as people say it.

    >>> size(2_300_000), size(5.1e10)
    ('2.3 MB', '51 GB')
    """
    for unit, name in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB")):
        if n_bytes >= unit:
            return f"{n_bytes / unit:.{0 if n_bytes >= 10 * unit else 1}f} {name}"
    return f"{n_bytes / 1e3:.0f} kB"
