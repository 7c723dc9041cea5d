"""Reading `.npy` files safely: no pickles, and no more memory allocated than the file holds."""

import hashlib
import json
import math
import os
import re
from collections.abc import Mapping
from pathlib import Path
from threading import Lock
from typing import Any, BinaryIO, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from crosstask.storage.reading import open_regular

_CONTENT_DIGEST = "content_digest"
_HEX_DIGEST = re.compile("[0-9a-f]{64}")
_MAX_HEADER_BYTES = 10_000  # NumPy's own limit, here checked before the header is read
_PLAIN_HEADER = re.compile(  # as NumPy writes it
    rb"\{'descr': '([<>|=]?[a-zA-Z][0-9]{0,9})', 'fortran_order': (True|False), 'shape': \(((?:[0-9]+, ?)*[0-9]*,?)\),? ?\}\s*"
)
_ONE_PARSER = Lock()


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
    if "digest" in description:
        return bool(description["digest"] == digest_of(arrays))
    return not any(
        isinstance(value, str) and _HEX_DIGEST.fullmatch(value) for value in description.values()
    )  # under a damaged name


def _content_digest(description: Mapping[str, Any], arrays: Mapping[str, npt.NDArray[np.generic]]) -> str:
    text = json.dumps(dict(description), sort_keys=True)
    return hashlib.sha256(f"{digest_of(arrays)}\n{text}".encode()).hexdigest()


class NotAnArray(ValueError):
    """The file is not a readable array; the message says why."""


class ArrayHeader(NamedTuple):
    """What the header of an `.npy` file says of its array."""

    shape: tuple[int, ...]
    dtype: np.dtype[np.generic]
    offset: int  # of the numbers, in bytes
    fortran_order: bool


def read_header(file: BinaryIO) -> ArrayHeader:
    """The header of an `.npy` file that is open at its start.

    The form that NumPy writes is read here: NumPy's own reader uses Python's parser, which may fail at random where several threads use it
    (`AST constructor recursion depth mismatch`, CPython issue 106905).
    """
    start = file.read(12)
    n_length = 2 if start[6:7] == b"\1" else 4  # bytes of the length of the header
    n_bytes = int.from_bytes(start[8 : 8 + n_length], "little")
    if not start.startswith(b"\x93NUMPY") or n_bytes > _MAX_HEADER_BYTES:
        raise NotAnArray("not a NumPy array file")
    offset = 8 + n_length + n_bytes
    found = _PLAIN_HEADER.fullmatch(start[8 + n_length :] + file.read(offset - len(start)))
    if found is None:
        return _by_numpy(file, offset)
    descr, fortran_order, shape = found.groups()
    try:
        lengths = tuple(int(length) for length in shape.split(b",") if length.strip())
        return ArrayHeader(lengths, np.dtype(descr.decode("ascii")), offset, fortran_order == b"True")
    except (TypeError, ValueError):  # no such dtype, or a length of too many digits
        raise NotAnArray("not a NumPy array file") from None


def _by_numpy(file: BinaryIO, offset: int) -> ArrayHeader:
    """A header in another form, such as that of an array with named columns."""
    file.seek(0)
    try:
        with _ONE_PARSER:
            version = np.lib.format.read_magic(file)
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, fortran_order, dtype = read(file)
    except Exception:  # Python's parser raises many kinds of error
        raise NotAnArray("not a NumPy array file") from None
    return ArrayHeader(shape, dtype, offset, fortran_order)


def read_array(file: BinaryIO, header: ArrayHeader) -> npt.NDArray[np.generic]:
    """The array of an open `.npy` file, whose header was read; NotAnArray if the file ends before the array does."""
    flat = np.empty(math.prod(header.shape), header.dtype)
    place, done = memoryview(flat.view(np.uint8)), 0  # type: ignore[arg-type] # an array is a buffer
    file.seek(header.offset)
    while done < len(place):
        n_read = file.readinto(place[done:])  # type: ignore[attr-defined] # of every binary file
        if not n_read:
            raise NotAnArray("truncated while it was read")
        done += n_read
    return flat.reshape(header.shape, order="F" if header.fortran_order else "C")


def map_array(path: Path) -> npt.NDArray[np.generic]:
    """The array of a file, memory-mapped, read-only; NotAnArray if the file is shorter than its header says."""
    with open_regular(path) as file:
        header = _checked_header(file)
    if not math.prod(header.shape):
        return np.empty(header.shape, header.dtype)
    order: Literal["F", "C"] = "F" if header.fortran_order else "C"
    return np.asarray(np.memmap(path, header.dtype, "r", header.offset, header.shape, order))


def load_array(path: Path) -> npt.NDArray[np.generic]:
    """The array of a file, read into memory: a file that shrinks meanwhile is NotAnArray, where a mapped one would end the process."""
    with open_regular(path) as file:
        return read_array(file, _checked_header(file))


def _checked_header(file: BinaryIO) -> ArrayHeader:
    """The header; NotAnArray if the array does not hold plain numbers, or the file has another length than its header says."""
    header = read_header(file)
    if header.dtype.hasobject or not header.dtype.itemsize or any(length < 0 for length in header.shape):
        raise NotAnArray("does not hold plain numbers")
    expected = header.offset + header.dtype.itemsize * math.prod(header.shape)
    found = os.fstat(file.fileno()).st_size
    if found < expected:
        raise NotAnArray(f"truncated: {found} bytes where its header says {expected}")
    if found > expected:
        raise NotAnArray(f"damaged: {found} bytes where its header says {expected}")
    return header
