"""One writer at a time, told by the kernel: a lock held on an open file ends with its process, however that ends.

So a lock is never stale. Where the system or the disk knows no such locks, nobody is kept out and files still appear whole.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from errno import EWOULDBLOCK
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

fcntl = import_module("fcntl") if find_spec("fcntl") else None  # Windows has none
_LOOK_AGAIN_S = 0.05


@contextmanager
def exclusive_or_refused(path: Path) -> Iterator[None]:
    """A block during which no other process writes `path`; while another does, an error that names its process."""
    lock = _lock_file(path)
    descriptor = _take(lock)
    if descriptor is None:
        reason = f"process {_owner(lock)} is writing it; wait until that has ended, or choose another place"
        raise BlockingIOError(EWOULDBLOCK, reason, str(path))
    with _held(lock, descriptor):
        yield


@contextmanager
def exclusive_after_waiting(path: Path, waiting: Callable[[str], object]) -> Iterator[None]:
    """The same block once the others are done; `waiting` is told once which process is waited for."""
    lock = _lock_file(path)
    descriptor = _take(lock)
    if descriptor is None:
        waiting(_owner(lock))
    while descriptor is None:
        time.sleep(_LOOK_AGAIN_S)
        descriptor = _take(lock)
    with _held(lock, descriptor):
        yield


def hold(descriptor: int) -> bool:
    """Whether the open file is ours now: False when another process holds it, True where locks are unknown."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a disk without locks
        return True
    return True


def abandoned(path: Path) -> bool:
    """Whether a file that its writer would hold is held by nobody; False when that cannot be told."""
    if fcntl is None:
        return False
    try:
        descriptor = os.open(path, os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)


def _lock_file(path: Path) -> Path:
    return path.with_name(f".{short(path.name)}.lock")


def short(name: str) -> str:
    """A file name with room for an ending: at most 200 bytes of it.

    >>> len(short("ä" * 120).encode())
    200
    """
    return name.encode("utf-8", "surrogateescape")[:200].decode("utf-8", "ignore")


def _take(lock: Path) -> int | None:
    """An open lock file that is ours, our process in it; None while another process has it."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    while True:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            if not hold(descriptor):
                os.close(descriptor)
                return None
            if _is_at(descriptor, lock):
                os.ftruncate(descriptor, 0)
                os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
                return descriptor
        except BaseException:
            with suppress(OSError):
                os.close(descriptor)
            raise
        os.close(descriptor)  # the one before us removed it between our opening and our holding


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


@contextmanager
def _held(lock: Path, descriptor: int) -> Iterator[None]:
    try:
        yield
    finally:
        with suppress(OSError):
            lock.unlink(missing_ok=True)
        os.close(descriptor)


def _owner(lock: Path) -> str:
    try:
        return lock.read_text("ascii").strip() or "?"
    except (OSError, ValueError):
        return "?"
