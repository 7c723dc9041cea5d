"""Arrays from `.npy` files: only what the file really holds is ever allocated, and nothing in it is run."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

_LONGEST_HEADER = 10_000  # bytes; numpy's own limit, here asked before anything is read


def digest_of(arrays: Mapping[str, npt.NDArray[np.generic]]) -> str:
    """A checksum over named arrays, in any order.

    >>> digest_of({"a": np.zeros(2), "b": np.ones(1)}) == digest_of({"b": np.ones(1), "a": np.zeros(2)})
    True
    """
    digest = hashlib.sha256()
    for name in sorted(arrays):
        digest.update(f"{name} {arrays[name].dtype.str} {arrays[name].shape}\n".encode())
        digest.update(np.ascontiguousarray(arrays[name]).data)
    return digest.hexdigest()


class NotAnArray(ValueError):
    """The file is no array; the message says what it is instead."""


def read_header(file: BinaryIO) -> tuple[tuple[int, ...], np.dtype[np.generic], int]:
    """Shape, type and where the data begins, as the header has them."""
    start = file.read(12)
    n_bytes = int.from_bytes(start[8:10] if start[6:7] == b"\1" else start[8:12], "little")
    if not start.startswith(b"\x93NUMPY") or n_bytes > _LONGEST_HEADER:
        raise NotAnArray("not a NumPy array file")
    file.seek(0)
    try:
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = read(file)
    except Exception:  # numpy reads headers with Python's parser, which has many ways to say no
        raise NotAnArray("not a NumPy array file") from None
    return shape, dtype, file.tell()


def map_array(path: Path) -> npt.NDArray[np.generic]:
    """The array of a file, memory-mapped, read-only; refused when the file is shorter than its header promises."""
    with path.open("rb") as file:
        shape, dtype, begins = read_header(file)
    if dtype.hasobject or any(length < 0 for length in shape):
        raise NotAnArray("holds no plain numbers")
    expected = begins + dtype.itemsize
    for length in shape:
        expected = begins + (expected - begins) * length
    found = path.stat().st_size
    if found < expected:
        raise NotAnArray(f"truncated: {found} bytes where its header promises {expected}")
    if expected == begins:
        return np.empty(shape, dtype)
    return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
