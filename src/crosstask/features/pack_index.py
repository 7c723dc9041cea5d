"""An open pack: rows of many videos in memory-mapped files, and the index that says where the rows of each video are.

A pack is a folder of parts, `rows-DIGEST.bin` (rows of some videos, one after the other, float16 or float32, C order), and `index.json`: the parts, and
for each video its part, its first row there, the checksum of its rows, and size and times of its source file. A part never changes; videos
that are added go to new parts. Packs of format 2 have one part and are read as well.
"""

import ctypes
import hashlib
import json
import mmap
import os
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from math import gcd
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from crosstask.records import InputError
from crosstask.storage import raise_if_disk_failed, read_text, stable_json

FORMAT = 3  # of index.json
_ONE_PART_FORMAT = 2  # read, no longer written
_PART_NAME = re.compile(r"rows-[0-9a-f]{16}\.bin")


@dataclass(frozen=True, slots=True)
class PackedVideo:
    """Position and checksum of one video's rows in its part, and size, modification time and change time of their source file."""

    id: str
    part: int
    first_row: int  # in the part
    n_rows: int
    crc32: int
    source_size: int
    source_mtime_ns: int
    source_ctime_ns: int = 0  # of the file's status, which no program can set; 0 in packs of earlier versions


@dataclass(frozen=True, slots=True)
class Part:
    """A file of rows."""

    rows: str  # name of the file
    n_rows: int


@dataclass(frozen=True)
class PackedFeatures:
    """Feature rows of a pack; `all_rows` is all parts as one memory-mapped array.

    `needs_float32` is the id of a video that float16 does not hold, empty where the dtype has another reason.
    """

    folder: Path
    n_dimensions: int
    dtype: str
    videos: dict[str, PackedVideo]
    parts: tuple[Part, ...]
    needs_float32: str = ""

    @property
    def shape(self) -> tuple[int, int]:
        """(R, D) of the videos."""
        return sum(video.n_rows for video in self.videos.values()), self.n_dimensions

    @property
    def row_bytes(self) -> int:
        """Size of a row in bytes."""
        return self.n_dimensions * np.dtype(self.dtype).itemsize

    @property
    def n_bytes(self) -> int:
        """Size of the parts in bytes."""
        return sum(part.n_rows for part in self.parts) * self.row_bytes

    @cached_property
    def all_rows(self) -> npt.NDArray[np.floating]:
        """(R', D), read-only, memory-mapped: the parts one after the other, with rows of zeros up to the next page between them."""
        if len(self.parts) == 1:
            shape = (self.parts[0].n_rows, self.n_dimensions)
            return np.memmap(self.folder / self.parts[0].rows, dtype=self.dtype, mode="r", shape=shape)
        n_rows = self.first_rows[-1] + self.parts[-1].n_rows
        places = [first * self.row_bytes for first in self.first_rows]
        mapped = _mapped_in_one([self.folder / part.rows for part in self.parts], places, n_rows * self.row_bytes)
        return np.frombuffer(mapped, dtype=self.dtype, count=n_rows * self.n_dimensions).reshape(n_rows, self.n_dimensions)

    @cached_property
    def first_rows(self) -> tuple[int, ...]:
        """The row of `all_rows` with which each part begins; a mapping can begin at a page only."""
        rows_per_page = mmap.ALLOCATIONGRANULARITY // gcd(mmap.ALLOCATIONGRANULARITY, self.row_bytes)
        firsts = [0]
        for part in self.parts[:-1]:
            firsts.append(-(-(firsts[-1] + part.n_rows) // rows_per_page) * rows_per_page)
        return tuple(firsts)

    @property
    def files_are_complete(self) -> bool:
        """True if every part has its size."""
        try:
            return all((self.folder / part.rows).stat().st_size == part.n_rows * self.row_bytes for part in self.parts)
        except OSError:
            return False

    def __contains__(self, video_id: object) -> bool:
        """True if the video is packed."""
        return video_id in self.videos

    def __iter__(self) -> Iterator[str]:
        """Video ids, sorted."""
        return iter(sorted(self.videos))

    def length(self, video_id: str) -> int:
        """T."""
        return self._video(video_id).n_rows

    def checksum(self, video_id: str) -> int:
        """CRC-32 of the video's rows, from the index."""
        return self._video(video_id).crc32

    def first_row(self, video_id: str) -> int:
        """Index of the video's first row in `all_rows`."""
        video = self._video(video_id)
        return self.first_rows[video.part] + video.first_row

    def rows(self, video_id: str) -> npt.NDArray[np.floating]:
        """(T, D), a view into the mapped files."""
        first = self.first_row(video_id)
        return self.all_rows[first : first + self.videos[video_id].n_rows]

    def stack(self, video_ids: Sequence[str]) -> tuple[npt.NDArray[np.floating], dict[str, int]]:
        """All mapped rows, and the first row of each video in them."""
        return self.all_rows, {video_id: self.first_row(video_id) for video_id in video_ids}

    def _video(self, video_id: str) -> PackedVideo:
        if video_id not in self.videos:
            raise InputError(f"video {video_id}: not in the pack {self.folder.name}; run `crosstask pack` again")
        return self.videos[video_id]

    def damaged(self) -> list[str]:
        """Ids of the videos whose rows no longer match their checksum, sorted."""
        return [video_id for video_id in self if checksum(self.rows(video_id)) != self.videos[video_id].crc32]


def _mapped_in_one(files: Sequence[Path], places: Sequence[int], n_bytes: int) -> mmap.mmap:
    """Files mapped read-only at these offsets of one range of addresses, which is released with the returned object.

    Python maps a file wherever there is room, so that the range is reserved first and the files are mapped over it.
    """
    reserved = mmap.mmap(-1, n_bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=mmap.PROT_READ)
    address = np.frombuffer(reserved, dtype=np.uint8).ctypes.data
    map_at = ctypes.CDLL(None, use_errno=True).mmap
    map_at.restype = ctypes.c_void_p
    map_at.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_longlong]
    for file, place in zip(files, places, strict=True):
        with file.open("rb") as opened:
            size = os.fstat(opened.fileno()).st_size
            flags = mmap.MAP_SHARED | _MAP_FIXED
            if (
                place + size > n_bytes
                or map_at(address + place, size, mmap.PROT_READ, flags, opened.fileno(), 0) != address + place
            ):
                raise OSError(ctypes.get_errno(), "cannot be mapped into memory", str(file))
    return reserved


_MAP_FIXED = 0x10  # Linux, macOS and the BSDs; not in Python's mmap


def checksum(rows: npt.NDArray[np.floating]) -> int:
    """CRC-32 of the bytes of the rows."""
    return zlib.crc32(np.ascontiguousarray(rows).view(np.uint8).reshape(-1).data)


def part_name(dtype: str, n_dimensions: int, videos: Sequence[PackedVideo]) -> str:
    """The name of a file of rows, from a digest of dtype, ids, lengths and checksums of its videos."""
    contents = [dtype, n_dimensions, [[video.id, video.n_rows, video.crc32] for video in videos]]
    return f"rows-{hashlib.sha256(stable_json(contents).encode()).hexdigest()[:16]}.bin"


def index_of(pack: PackedFeatures) -> dict[str, Any]:
    """The index as JSON values."""
    return {
        "format": FORMAT,
        "dtype": pack.dtype,
        "n_dimensions": pack.n_dimensions,
        "parts": [asdict(part) for part in pack.parts],
        "videos": [asdict(video) for video in pack.videos.values()],
        **({"needs_float32": pack.needs_float32} if pack.needs_float32 else {}),
    }


def read_index(path: Path) -> PackedFeatures | None:
    """The pack that an index file describes, or None if the file is not a valid index."""
    try:
        data = json.loads(read_text(path, "utf-8"))
        if data["format"] == _ONE_PART_FORMAT:
            data = _with_one_part(data)
        if data["format"] != FORMAT or data["dtype"] not in ("float16", "float32"):
            return None
        videos = {entry["id"]: PackedVideo(**entry) for entry in data["videos"]}
        parts = tuple(Part(**entry) for entry in data["parts"])
        needed_by = str(data.get("needs_float32", ""))
        pack = PackedFeatures(path.parent, data["n_dimensions"], data["dtype"], videos, parts, needed_by)
        return pack if _is_valid(pack) else None
    except OSError as error:
        raise_if_disk_failed(error)  # the dtype of a pack that is taken for absent would be lost
        return None
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _with_one_part(data: dict[str, Any]) -> dict[str, Any]:
    """An index of format 2, whose videos follow one another in one file, in the shape of today."""
    part = {"rows": data["rows"], "n_rows": sum(entry["n_rows"] for entry in data["videos"])}
    return {**data, "format": FORMAT, "parts": [part], "videos": [{**entry, "part": 0} for entry in data["videos"]]}


def _is_valid(pack: PackedFeatures) -> bool:
    """True if all numbers are valid, and the videos lie in their parts, in order, without overlap."""
    counts = [part.n_rows for part in pack.parts]
    if not (pack.parts and all(type(number) is int and number > 0 for number in [pack.n_dimensions, *counts])):
        return False
    if not all(_PART_NAME.fullmatch(part.rows) for part in pack.parts):
        return False
    part, next_row = 0, 0
    for video in pack.videos.values():
        numbers = (video.part, video.first_row, video.n_rows, video.crc32, video.source_size)
        if type(video.id) is not str or {type(video.source_mtime_ns), type(video.source_ctime_ns)} != {
            int
        }:  # before 1970 it is negative
            return False
        if not all(type(number) is int and number >= 0 for number in numbers):
            return False
        if video.part > part:
            part, next_row = video.part, 0
        if not (video.part == part < len(counts) and video.first_row >= next_row and video.n_rows):
            return False
        next_row = video.first_row + video.n_rows
        if next_row > counts[part]:
            return False
    return bool(pack.videos)
