"""Reading files that somebody else may have made: only regular files are opened, and none that is larger than it can sensibly be.

A FIFO or device in place of a file would otherwise hang the command, or be read until the memory is full.
"""

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

MAX_TEXT_BYTES = 2**30  # ours: text and JSON of a corpus or a run; the largest known are below 100 MB
MAX_SMALL_BYTES = 2**24  # ours: files that a person writes, such as corpus.toml


class UnreadableFile(OSError):
    """A file that is not a regular file or is too large; `strerror` says which."""


_FAULTS_OF_A_FILE = {
    *(errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.EACCES, errno.EPERM),
    *(errno.EINVAL, errno.ENXIO, errno.EFBIG, errno.EILSEQ),
}


def raise_if_disk_failed(error: OSError) -> None:
    """Raise the error again unless it is the file's own: absent, forbidden, no regular file, too large.

    A video whose file is at fault can be skipped. A disk that fails (EIO), or too many open files, may be over at the next call: skipping would
    leave results behind that no later command corrects.
    """
    if error.errno is not None and error.errno not in _FAULTS_OF_A_FILE:
        raise error


def paths_in(folder: Path) -> list[Path]:
    """What a folder holds, sorted; nothing where there is no such folder.

    A folder that is forbidden is a PermissionError: `Path.glob` would take it for an empty one, and training would go on without its files.
    """
    return [folder / name for name in sorted(os.listdir(folder))] if folder.is_dir() else []  # noqa: PTH208 - names, not paths, are sorted


def open_regular(path: Path) -> BinaryIO:
    """A regular file opened for reading; UnreadableFile for a FIFO, socket or device, which are opened without waiting."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(mode):
            raise UnreadableFile(errno.EINVAL, "a pipe or device; expected a regular file", str(path))
        return os.fdopen(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def require_regular(path: Path) -> Path:
    """The path itself; UnreadableFile if it is not a regular file. For libraries that open files by name."""
    open_regular(path).close()
    return path


def read_bytes(path: Path, max_bytes: int = MAX_TEXT_BYTES) -> bytes:
    """The contents of a regular file of at most `max_bytes`."""
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > max_bytes:
            raise UnreadableFile(
                errno.EFBIG, f"{size / 1e6:.0f} MB is too large; expected at most {max_bytes / 1e6:.0f} MB", str(path)
            )
        try:
            return file.read(min(size + 1, max_bytes))  # a larger request would be allocated whole
        except OSError as error:
            error.filename = error.filename or str(path)
            raise


def read_text(path: Path, encoding: str = "utf-8-sig", max_bytes: int = MAX_TEXT_BYTES) -> str:
    r"""The text of a regular file of at most `max_bytes`, with line ends as `\n`; UnicodeDecodeError for another encoding."""
    return read_bytes(path, max_bytes).decode(encoding).replace("\r\n", "\n").replace("\r", "\n")


def file_signature(path: Path) -> tuple[int, int, int] | None:
    """A value that changes with the file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return (found.st_ino, found.st_mtime_ns, found.st_size)
