"""Atomic file writes: a file appears under its final name only when it is complete and on disk.

Write to a temporary name in the same folder, flush to disk, rename, flush the folder. The name is random and the file must be new
(O_EXCL), so that no two writers share one, not even on two hosts or in two containers with the same process ids. The writer locks its
temporary file: an unlocked one was left by a killed process and is removed by the next process that writes to the folder.
"""

import errno
import json
import os
import re
import secrets
import stat
from collections.abc import Collection, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import IO, Any

from crosstask.storage.locks import truncated_name, try_flock, unlink_if_unlocked
from crosstask.storage.reading import UnreadableFile

_TEMPORARY = re.compile(r"\..+\.(?:[0-9a-f]{16}|\d+-\d+)\.partial")  # the second kind was written by version 0.1
_BATCH = 200  # ours: files of `write_many` that are open at once, below the usual limit of 1,024
_FLUSHING_THREADS = 16  # ours: they wait for the disk, so there may be more of them than cores
_SAFETENSORS_LENGTH = 8  # bytes of the length of the header, in front of it
_MAX_HEADER_BYTES = 100_000_000  # what safetensors itself reads
_NEW_FILE = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


@contextmanager
def replace_file(path: Path) -> Iterator[IO[bytes]]:
    """A binary file that becomes `path` when the block succeeds and is removed when it raises."""
    with _replaced(path) as file:
        yield file
        file.flush()
        os.fsync(file.fileno())
    _flush_folder(path.parent)


@contextmanager
def _replaced(path: Path) -> Iterator[IO[bytes]]:
    """A file as in `replace_file`, which the caller flushes to disk."""
    if not path.name:  # '.', or an empty name
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    refuse_special_file(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    remove_stale_temporaries(path.parent.absolute())
    temporary, opened = _open_temporary(path)
    try:
        with opened as file:
            yield file
            if os.name == "nt":
                file.close()  # Windows cannot rename an open file
            temporary.replace(path)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename in (None, str(temporary)):
            error.filename, error.filename2 = str(path), None  # report the user's name, not the temporary one
        raise


def followed(path: Path) -> Path:
    """The file that a link names, or the path itself: an output that a user names is written where the user's link leads.

    Other files replace a link: those inside a folder may come with it from somebody else.
    """
    return path.resolve() if path.is_symlink() else path


def refuse_special_file(path: Path) -> None:
    """Raise UnreadableFile for a FIFO, socket or device: a rename would put a file in its place, such as in that of /dev/null."""
    try:
        mode = path.lstat().st_mode
    except OSError:  # absent, or an error that writing reports
        return
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode)):
        raise UnreadableFile(errno.EINVAL, "a pipe or device; expected the name of a file", str(path))


def refuse_other_content(path: Path, mark: bytes) -> None:
    """Raise UnreadableFile where a file would be overwritten that has not this mark in its safetensors header: a video, or the weights of others."""
    refuse_special_file(path)
    try:
        with path.open("rb") as file:
            n_header = int.from_bytes(file.read(_SAFETENSORS_LENGTH), "little")
            header = file.read(min(n_header, _MAX_HEADER_BYTES))
            empty = file.tell() == 0
    except OSError:  # absent, a folder, or an error that writing reports
        return
    damaged = path.suffix == ".safetensors" and not header.startswith(b"{")  # may be replaced
    if not (empty or damaged or mark in header):
        raise UnreadableFile(errno.EEXIST, "a file of another kind, which would be overwritten; expected a new name", str(path))


def _open_temporary(path: Path) -> tuple[Path, IO[bytes]]:
    """A new file in the folder of `path`, locked by this process."""
    while True:
        temporary = path.with_name(f".{truncated_name(path.name)}.{secrets.token_hex(8)}.partial")
        try:
            file = os.fdopen(os.open(temporary, _NEW_FILE, 0o666), "wb")
        except FileExistsError:
            continue
        except OSError as error:
            error.filename = str(path)  # the user's name, not the temporary one
            raise
        if try_flock(file.fileno()) and os.fstat(file.fileno()).st_nlink:
            return temporary, file
        file.close()  # another process removed it as stale before we locked it


@lru_cache(maxsize=4096)
def remove_stale_temporaries(folder: Path) -> None:
    """Remove the temporary files of killed processes from a folder; done once per folder and process."""
    with suppress(OSError):
        for entry in os.scandir(folder):
            if _TEMPORARY.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                unlink_if_unlocked(folder / entry.name)


def _flush_folder(folder: Path) -> None:
    """Make a rename durable, where the file system can flush folders."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    except OSError:
        pass
    finally:
        os.close(descriptor)


def write_bytes(path: Path, data: bytes) -> Path:
    """`path`, now holding `data`."""
    with replace_file(path) as file:
        file.write(data)
    return path


def append_lines(path: Path, lines: Iterable[str]) -> None:
    """Append lines to a file and wait until they are on disk; a link is not followed. A killed process may leave part of the last line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
        with os.fdopen(descriptor, "ab") as file:
            file.write("".join(f"{line}\n" for line in lines).encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        error.filename = str(path)
        raise


def write_many(files: Iterable[tuple[Path, bytes]]) -> Iterator[Path]:
    """The paths, now holding their bytes, as they are complete; each file appears whole, like by `write_bytes`.

    The files of a batch are written first and then flushed to disk together, by several threads, and their folders once:
    flushing thousands of small files one by one takes many times as long.
    """
    waiting = iter(files)
    while batch := list(islice(waiting, _BATCH)):
        with ExitStack() as stack:
            opened = [stack.enter_context(_pending_file(path, data)) for path, data in batch]
            with ThreadPoolExecutor(_FLUSHING_THREADS) as pool:
                list(pool.map(os.fsync, [pending.fileno() for pending in opened]))
        for folder in dict.fromkeys(path.parent for path, _ in batch):
            _flush_folder(folder)
        yield from (path for path, _ in batch)


@contextmanager
def _pending_file(path: Path, data: bytes) -> Iterator[IO[bytes]]:
    """A temporary file with its data, which becomes `path` when the block succeeds and is removed when it raises."""
    with _replaced(path) as file:
        file.write(data)
        file.flush()
        yield file


def flush_tree(folder: Path) -> None:
    """Wait until the files below a folder, and the folders, are on disk; for files that get their final names together, by one rename."""
    paths = [folder, *folder.rglob("*")]
    with ThreadPoolExecutor(_FLUSHING_THREADS) as pool:
        list(pool.map(_flush_file, (path for path in paths if path.is_file())))
    for path in paths:
        if path.is_dir():
            _flush_folder(path)


def move_files(source: Path, target: Path, last: Collection[str] = ()) -> None:
    """The files below a folder, complete and on disk, moved to the same places below another folder; those named in `last` come last."""
    files = sorted((path for path in source.rglob("*") if path.is_file()), key=lambda path: (path.name in last, path))
    for path in files:
        placed = target / path.relative_to(source)
        placed.parent.mkdir(parents=True, exist_ok=True)
        path.replace(placed)
    for folder in dict.fromkeys((target / path.relative_to(source)).parent for path in files):
        _flush_folder(folder)


def _flush_file(path: Path) -> None:
    with path.open("rb") as written:
        os.fsync(written.fileno())


def write_text(path: Path, text: str) -> Path:
    """`path`, now holding `text` as UTF-8 with plain newlines."""
    return write_bytes(path, text.encode("utf-8"))


def stable_json(value: Any) -> str:
    """JSON with sorted keys and a final newline: the same value is always the same bytes.

    >>> stable_json({"b": 1, "a": [1.5]})
    '{\\n  "a": [\\n    1.5\\n  ],\\n  "b": 1\\n}\\n'
    """
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


def write_json(path: Path, value: Any) -> Path:
    """`path`, now holding `value` as stable JSON."""
    return write_text(path, stable_json(value))
