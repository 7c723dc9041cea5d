"""Reading `.npy` files safely: no pickles, and no more memory allocated than the file holds."""

import hashlib
import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from crosstask.storage.reading import open_regular

_CONTENT_DIGEST = "content_digest"
_MAX_HEADER_BYTES = 10_000  # NumPy's own limit, here checked before the header is read


def digest_of(arrays: Mapping[str, npt.NDArray[np.generic]]) -> str:
    """SHA-256 of named arrays, as hex digits; independent of their order.

    >>> digest_of({"a": np.zeros(2), "b": np.ones(1)}) == digest_of({"b": np.ones(1), "a": np.zeros(2)})
    True
    """
    digest = hashlib.sha256()
    for name in sorted(arrays):
        digest.update(f"{name} {arrays[name].dtype.str} {arrays[name].shape}\n".encode())
        digest.update(np.ascontiguousarray(arrays[name]).data)
    return digest.hexdigest()


def with_content_digest(description: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[np.generic]]) -> dict[str, Any]:
    """The description of a file of arrays as plain JSON values, with a digest of the arrays and of all other entries."""
    plain: dict[str, Any] = json.loads(
        json.dumps({name: value for name, value in description.items() if name != _CONTENT_DIGEST})
    )
    return plain | {_CONTENT_DIGEST: _content_digest(plain, arrays)}


def content_is_intact(description: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[np.generic]]) -> bool:
    """True if the digest in a description fits; files of version 0.1 have a digest of the arrays only, older ones none."""
    if _CONTENT_DIGEST in description:
        rest = {name: value for name, value in description.items() if name != _CONTENT_DIGEST}
        return bool(description[_CONTENT_DIGEST] == _content_digest(rest, arrays))
    return "digest" not in description or description["digest"] == digest_of(arrays)


def _content_digest(description: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[np.generic]]) -> str:
    text = json.dumps(dict(description), sort_keys=True)
    return hashlib.sha256(f"{digest_of(arrays)}\n{text}".encode()).hexdigest()


class NotAnArray(ValueError):
    """The file is not a readable array; the message says why."""


def read_header(file: BinaryIO) -> tuple[tuple[int, ...], np.dtype[np.generic], int]:
    """Shape, dtype and byte offset of the data, from the header of an `.npy` file."""
    start = file.read(12)
    n_bytes = int.from_bytes(start[8:10] if start[6:7] == b"\1" else start[8:12], "little")
    if not start.startswith(b"\x93NUMPY") or n_bytes > _MAX_HEADER_BYTES:
        raise NotAnArray("not a NumPy array file")
    file.seek(0)
    try:
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = read(file)
    except Exception:  # NumPy reads headers with Python's parser, which raises many kinds of error
        raise NotAnArray("not a NumPy array file") from None
    return shape, dtype, file.tell()


def map_array(path: Path) -> npt.NDArray[np.generic]:
    """The array of a file, memory-mapped, read-only; NotAnArray if the file is shorter than its header says."""
    with open_regular(path) as file:
        shape, dtype, is_empty = _checked_header(file)
    return np.empty(shape, dtype) if is_empty else np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))


def load_array(path: Path) -> npt.NDArray[np.generic]:
    """The array of a file, read into memory: a file that shrinks meanwhile is NotAnArray, where a mapped one would end the process."""
    with open_regular(path) as file:
        shape, dtype, is_empty = _checked_header(file)
        file.seek(0)
        try:
            return np.empty(shape, dtype) if is_empty else np.asarray(np.lib.format.read_array(file, allow_pickle=False))
        except (ValueError, EOFError):
            raise NotAnArray("truncated while it was read") from None


def _checked_header(file: BinaryIO) -> tuple[tuple[int, ...], np.dtype[np.generic], bool]:
    """Shape, dtype, and whether there are no numbers; NotAnArray if the file is shorter than its header says."""
    shape, dtype, offset = read_header(file)
    if dtype.hasobject or any(length < 0 for length in shape):
        raise NotAnArray("does not hold plain numbers")
    expected = offset + dtype.itemsize * math.prod(shape)
    found = os.fstat(file.fileno()).st_size
    if found < expected:
        raise NotAnArray(f"truncated: {found} bytes where its header says {expected}")
    return shape, dtype, expected == offset
