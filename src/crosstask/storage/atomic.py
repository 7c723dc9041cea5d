"""A file appears under its final name only when every byte of it is safe.

Write to a temporary name in the same folder, flush to the disk, rename, flush the folder. A writer holds its temporary file, so that
what a killed process left behind is told from what another is writing, and goes when somebody writes to that folder again.
"""

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import IO, Any

from crosstask.storage.locks import abandoned, hold, short

_TEMPORARY = re.compile(r"\..+\.\d+-\d+\.partial")
_numbers = count()  # two threads of a process never share a temporary name


@contextmanager
def replace_file(path: Path) -> Iterator[IO[bytes]]:
    """A binary file that becomes `path` when the block ends well, and vanishes when it does not."""
    path.parent.mkdir(parents=True, exist_ok=True)
    remove_leftovers(path.parent.absolute())
    temporary, opened = _open_temporary(path)
    try:
        with opened as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if os.name == "nt":
                file.close()  # Windows renames no open file
            temporary.replace(path)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename in (None, str(temporary)):
            error.filename, error.filename2 = str(path), None  # the name that people know
        raise
    _flush_folder(path.parent)


def _open_temporary(path: Path) -> tuple[Path, IO[bytes]]:
    """A new file beside `path`, held by this process."""
    while True:
        temporary = path.with_name(f".{short(path.name)}.{os.getpid()}-{next(_numbers)}.partial")
        file = temporary.open("wb")
        if hold(file.fileno()) and os.fstat(file.fileno()).st_nlink:
            return temporary, file
        file.close()  # taken for a leftover before we held it


@lru_cache(maxsize=4096)
def remove_leftovers(folder: Path) -> None:
    """Remove what killed processes left half-written in a folder; looked for once in a process."""
    with suppress(OSError):
        for entry in os.scandir(folder):
            if _TEMPORARY.fullmatch(entry.name) and abandoned(folder / entry.name):
                (folder / entry.name).unlink(missing_ok=True)


def _flush_folder(folder: Path) -> None:
    """Make a rename durable; not every file system lets a folder be flushed, and none loses data by it."""
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
