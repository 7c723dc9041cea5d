"""A file appears under its final name only when every byte of it is safe.

Write to a temporary name in the same folder, flush to the disk, rename, flush the folder.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any


@contextmanager
def replace_file(path: Path) -> Iterator[IO[bytes]]:
    """A binary file that becomes `path` when the block ends well, and vanishes when it does not."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name[:150]}.{os.getpid()}.partial")
    try:
        with temporary.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _flush_folder(path.parent)


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
    """`path`, now holding `data`; left alone when it already did."""
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
