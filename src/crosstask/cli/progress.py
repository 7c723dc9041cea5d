"""Progress with the time that is left: a bar on a terminal; elsewhere a line for every tenth of many pieces, or every few seconds."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter

from crosstask.cli.output import note, printable

_MANY = 100  # pieces, from which on every tenth is told
_EVERY_S = 15.0
_TOO_EARLY_S = 2.0  # the first pieces also load models and compile: no estimate yet


@contextmanager
def progress(what: str, total: int) -> Iterator[Callable[[], None]]:
    """A function to call after each of `total` pieces."""
    if sys.stderr.isatty():
        with _bar(what, total) as advance:
            yield advance
        return
    begun = said = perf_counter()
    done = 0

    def advance_and_tell() -> None:
        nonlocal said, done
        done += 1
        now = perf_counter()
        is_tenth = total >= _MANY and done * 10 // total > (done - 1) * 10 // total
        if is_tenth or (now - said >= _EVERY_S and 3 <= done < total):
            said = now
            note(f"{what}: {done} of {total}{_time_left(now - begun, done, total)}")

    yield advance_and_tell


def _time_left(seconds: float, done: int, total: int) -> str:
    """An estimate from the time so far, in words; an empty text at the end and where it is too early.

    >>> _time_left(30.0, 3, 10), _time_left(1.0, 3, 10), _time_left(30.0, 10, 10)
    (', about 70 s left', '', '')
    """
    if seconds < _TOO_EARLY_S or done >= total:
        return ""
    return f", about {duration(seconds / done * (total - done))} left"


@contextmanager
def _bar(what: str, total: int) -> Iterator[Callable[[], None]]:
    """A bar with the time that is left."""
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import track

    steps = iter(track(range(total), description=escape(printable(what)), console=Console(stderr=True)))
    next(steps, None)
    yield lambda: _exhaust(steps, 1)
    _exhaust(steps, total)


def _exhaust(steps: Iterator[int], count: int) -> None:
    for _ in range(count):
        next(steps, None)


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
