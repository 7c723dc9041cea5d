"""Locks that allow one writing process at a time.

A lock is an advisory `flock` on an open file, so the kernel releases it when its process ends, however it ends: a lock is never stale.
On systems or file systems without `flock` every lock succeeds; files are still replaced atomically. A lock file is written to, and may lie
in a folder of somebody else's: a link in its place is removed, not followed.
"""

import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from errno import EISDIR, EWOULDBLOCK
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

fcntl = import_module("fcntl") if find_spec("fcntl") else None  # not available on Windows
_NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)  # neither follow a link nor wait at a pipe
_POLL_INTERVAL_S = 0.05  # well below what a person notices
_TRIES = 2  # ours: further attempts at a lock that is taken
_MAX_NAME_BYTES = 200  # file systems allow 255; the rest is left for the suffix


@contextmanager
def nonblocking_lock(path: Path) -> Iterator[None]:
    """A block that holds the lock of `path`; raises BlockingIOError, naming the owner, while another process holds it."""
    lock = _lock_file(path)
    descriptor = _try_acquire(lock, path)
    for _ in range(_TRIES):  # another process may just have looked whether it is free
        if descriptor is not None:
            break
        time.sleep(_POLL_INTERVAL_S)
        descriptor = _try_acquire(lock, path)
    if descriptor is None:
        reason = f"process {_owner(lock)} is writing it; wait until that has ended, or choose another place"
        raise BlockingIOError(EWOULDBLOCK, reason, str(path))
    with _released_at_exit(lock, descriptor):
        yield


@contextmanager
def blocking_lock(path: Path, on_wait: Callable[[str], object]) -> Iterator[None]:
    """A block that holds the lock of `path`, entered when it is free; `on_wait` is called once with the owner's process id."""
    lock = _lock_file(path)
    descriptor = _try_acquire(lock, path)
    if descriptor is None:
        on_wait(_owner(lock))
    while descriptor is None:
        time.sleep(_POLL_INTERVAL_S)
        descriptor = _try_acquire(lock, path)
    with _released_at_exit(lock, descriptor):
        yield


def writing_process(path: Path) -> str | None:
    """The id of the process that holds the lock of `path`; None where it is free."""
    lock = _lock_file(path)
    try:
        descriptor = os.open(lock, os.O_RDWR | _NO_LINK)
    except OSError:
        return None
    try:
        return None if try_flock(descriptor) else _owner(lock)
    finally:
        os.close(descriptor)


def try_flock(descriptor: int) -> bool:
    """True if this process now holds the lock of an open file, or locks are not supported; False if another process holds it."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


def unlink_if_unlocked(path: Path) -> bool:
    """True if the file was removed; False if a process holds its lock, or if that cannot be determined.

    The lock is held while the file is removed, so a writer that has just created it cannot lose it after it has locked it.
    """
    if fcntl is None:
        return False
    try:
        descriptor = os.open(path, os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not _is_at(descriptor, path):
            return False
        path.unlink()
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)


def _lock_file(path: Path) -> Path:
    """The lock file of a path, beside it; a folder has one lock, by whatever link it is named."""
    path = path.resolve() if path.is_dir() else path  # also '.', which has no name
    if not path.name:
        raise IsADirectoryError(EISDIR, os.strerror(EISDIR), str(path))
    return path.with_name(f".{truncated_name(path.name)}.lock")


def truncated_name(name: str) -> str:
    """A file name cut to at most 200 bytes, so that a suffix can be added.

    >>> len(truncated_name("ä" * 120).encode())
    200
    """
    return name.encode("utf-8", "surrogateescape")[:_MAX_NAME_BYTES].decode("utf-8", "ignore")


def _try_acquire(lock: Path, path: Path) -> int | None:
    """The descriptor of the lock file of `path`, locked and holding our process id; None while another process holds the lock."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    try:
        return _acquired(lock)
    except OSError as error:
        error.filename = str(path)  # the user's name, not that of the lock
        raise


def _acquired(lock: Path) -> int | None:
    while True:
        try:
            descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | _NO_LINK, 0o644)
        except OSError:
            if not lock.is_symlink():
                raise
            lock.unlink(missing_ok=True)
            continue
        if _has_other_names(descriptor):
            os.close(descriptor)
            lock.unlink(missing_ok=True)
            continue
        try:
            if not try_flock(descriptor):
                os.close(descriptor)
                return None
            if _is_at(descriptor, lock):
                _write_owner(descriptor, lock)
                return descriptor
        except BaseException:
            with suppress(OSError):
                os.close(descriptor)
            raise
        os.close(descriptor)  # the previous owner removed the file after we opened it and before we locked it


def _has_other_names(descriptor: int) -> bool:
    """True if an open file is no lock file of ours: one with a second name (a hard link), a pipe or a device."""
    found = os.fstat(descriptor)
    return found.st_nlink > 1 or not stat.S_ISREG(found.st_mode)


def _write_owner(descriptor: int, lock: Path) -> None:
    """Write our process id into the lock file that we hold; where that fails, as on a full disk, the file is removed."""
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
    except BaseException:
        with suppress(OSError):
            lock.unlink(missing_ok=True)
        raise


def _is_at(descriptor: int, path: Path) -> bool:
    """True if the open file is still the one at `path`."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False


@contextmanager
def _released_at_exit(lock: Path, descriptor: int) -> Iterator[None]:
    try:
        yield
    finally:
        with suppress(OSError):
            lock.unlink(missing_ok=True)
        os.close(descriptor)


def _owner(lock: Path) -> str:
    """The process id written in a lock file; '?' if it cannot be read."""
    try:
        return lock.read_text("ascii").strip() or "?"
    except (OSError, ValueError):
        return "?"
