"""Thousands of small feature files as one memory-mapped file of rows.

A pack is a folder of two files: `rows-DIGEST.bin` (all rows, one video after the other, float16 or float32, C order) and
`index.json` (where each video lies, the checksum of its rows, and the size and time of the file it came from). Rows grow in
`unfinished.bin` and take their name when they are whole; the index is written last and names the rows it belongs to, so that
whoever has an older pack open keeps it as it was. Packing that was stopped goes on from the last video that was safe.
"""

import hashlib
import json
import logging
import os
import re
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from crosstask.features.npy_files import NpyFeatures
from crosstask.records import InputError
from crosstask.storage import exclusive_after_waiting, exclusive_or_refused, stable_json, write_json

log = logging.getLogger(__name__)
FORMAT = 2
_ROWS = re.compile(r"rows-[0-9a-f]{16}\.bin")
_FLUSH_EVERY_BYTES = 256 * 2**20
_PREPARED_AHEAD = 2
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class PackedVideo:
    """Where the rows of one video lie, and which file they came from."""

    id: str
    first_row: int
    n_rows: int
    crc32: int
    source_size: int
    source_mtime_ns: int


@dataclass(frozen=True)
class PackedFeatures:
    """Feature rows of a pack. `all_rows` is the whole file as one (R, D) array, mapped, never loaded."""

    folder: Path
    n_dimensions: int
    dtype: str
    videos: dict[str, PackedVideo]
    rows_file: str

    @property
    def shape(self) -> tuple[int, int]:
        """(R, D)."""
        return sum(video.n_rows for video in self.videos.values()), self.n_dimensions

    @property
    def n_bytes(self) -> int:
        """The size of the rows file."""
        return self.shape[0] * self.shape[1] * np.dtype(self.dtype).itemsize

    @cached_property
    def all_rows(self) -> npt.NDArray[np.floating]:
        """(R, D), read-only, memory-mapped."""
        return np.memmap(self.folder / self.rows_file, dtype=self.dtype, mode="r", shape=self.shape)

    def __contains__(self, video_id: object) -> bool:
        """Whether the video is packed."""
        return video_id in self.videos

    def __iter__(self) -> Iterator[str]:
        """Video ids, sorted."""
        return iter(sorted(self.videos))

    def length(self, video_id: str) -> int:
        """T."""
        return self._video(video_id).n_rows

    def first_row(self, video_id: str) -> int:
        """Where the video's rows begin in `all_rows`."""
        return self._video(video_id).first_row

    def rows(self, video_id: str) -> npt.NDArray[np.floating]:
        """(T, D), a view into the mapped file."""
        video = self._video(video_id)
        return self.all_rows[video.first_row : video.first_row + video.n_rows]

    def stack(self, video_ids: Sequence[str]) -> tuple[npt.NDArray[np.floating], dict[str, int]]:
        """The whole mapped file, and where each video's rows begin in it."""
        return self.all_rows, {video_id: self.first_row(video_id) for video_id in video_ids}

    def _video(self, video_id: str) -> PackedVideo:
        if video_id not in self.videos:
            raise InputError(f"video {video_id}: not in the pack {self.folder.name}; run `crosstask pack` again")
        return self.videos[video_id]

    def damaged(self) -> list[str]:
        """The videos whose rows no longer match their checksum, sorted."""
        return [video_id for video_id in self if _checksum(self.rows(video_id)) != self.videos[video_id].crc32]


def all_finite(rows: npt.NDArray[np.floating]) -> bool:
    """True if all values are finite; float16 is tested by its exponent bits, which takes a third of the time.

    >>> all_finite(np.ones((2, 2), np.float16)), all_finite(np.array([[np.nan]], np.float16))
    (True, False)
    """
    if rows.dtype != np.float16 or not rows.dtype.isnative or rows.size == 0:
        return bool(np.isfinite(rows).all())
    return bool((np.ascontiguousarray(rows).view(np.uint16) & np.uint16(0x7FFF)).max() < 0x7C00)


def _checksum(rows: npt.NDArray[np.floating]) -> int:
    return zlib.crc32(np.ascontiguousarray(rows).view(np.uint8).reshape(-1).data)


def pack_features(
    source: NpyFeatures, video_ids: Iterable[str], folder: Path, dtype: str = "float16", progress: Progress | None = None
) -> PackedFeatures:
    """The packed rows of some videos; continues an unfinished pack and leaves an up-to-date one alone."""
    wanted = sorted(set(video_ids))
    finished = open_packed(folder, source, wanted, dtype)
    if finished is not None:
        _tidy(finished)
        return finished
    folder.mkdir(parents=True, exist_ok=True)
    with exclusive_after_waiting(
        folder / "index.json", lambda owner: log.warning("process %s is packing these files: waiting", owner)
    ):
        finished = open_packed(folder, source, wanted, dtype)
        return finished if finished is not None else _pack(source, wanted, folder, dtype, progress)


def _pack(source: NpyFeatures, wanted: Sequence[str], folder: Path, dtype: str, progress: Progress | None) -> PackedFeatures:
    """All rows under their final name, then the index; what an older pack had goes last."""
    videos, n_dimensions = _append(source, wanted, folder, dtype, progress)
    index = _index(dtype, n_dimensions, videos)
    (folder / "unfinished.bin").replace(folder / index["rows"])
    write_json(folder / "index.json", index)
    _remove_older(folder, index["rows"])
    return PackedFeatures(folder, n_dimensions, dtype, {video.id: video for video in videos}, index["rows"])


def _remove_older(folder: Path, rows_file: str) -> None:
    for old in [*folder.glob("rows*.bin"), *folder.glob("unfinished.*")]:
        if old.name != rows_file:
            old.unlink(missing_ok=True)


def _tidy(pack: PackedFeatures) -> None:
    """Remove what a process left that was killed just after it had finished; left alone where others are at work or nobody may write."""
    if {path.name for path in pack.folder.iterdir()} > {"index.json", pack.rows_file}:
        with suppress(OSError), exclusive_or_refused(pack.folder / "index.json"):
            _remove_older(pack.folder, pack.rows_file)


def _append(
    source: NpyFeatures, wanted: Sequence[str], folder: Path, dtype: str, progress: Progress | None
) -> tuple[list[PackedVideo], int]:
    """All videos in order, after those that an earlier attempt had made safe."""
    videos, n_dimensions = _safe_prefix(source, wanted, folder, dtype)
    row_bytes = n_dimensions * np.dtype(dtype).itemsize
    next_row = sum(video.n_rows for video in videos)
    unsafe_bytes = 0
    safe: Future[None] | None = None  # the disk is waited for beside the work, one wait at a time
    with _open_for_append(folder / "unfinished.bin", next_row * row_bytes) as file, ThreadPoolExecutor(1) as keeper:
        prepared = _prepared(source, wanted[len(videos) :], dtype)
        for done, (video_id, rows, crc32, (size, mtime)) in enumerate(prepared, start=len(videos) + 1):
            n_dimensions = n_dimensions or rows.shape[1]
            if rows.shape[1] != n_dimensions:
                raise InputError(f"{video_id}.npy: {rows.shape[1]} columns; the videos before it have {n_dimensions}")
            file.write(rows.view(np.uint8).reshape(-1).data)
            videos.append(PackedVideo(video_id, next_row, len(rows), crc32, size, mtime))
            next_row += len(rows)
            unsafe_bytes += rows.nbytes
            if unsafe_bytes >= _FLUSH_EVERY_BYTES:
                unsafe_bytes = 0
                if safe is not None:
                    safe.result()
                file.flush()
                safe = keeper.submit(_make_safe, file, folder, _index(dtype, n_dimensions, videos))
            if progress is not None:
                progress(done, len(wanted))
        if safe is not None:
            safe.result()
        file.flush()
        os.fsync(file.fileno())
    return videos, n_dimensions


def _make_safe(file: BinaryIO, folder: Path, index: Mapping[str, Any]) -> None:
    """Wait until what was written is on the disk, then say so: an attempt after this one goes on from here."""
    os.fsync(file.fileno())
    write_json(folder / "unfinished.json", index)


class _Prepared(NamedTuple):
    """A video's rows as they are to be written, and what the index says of them."""

    id: str
    rows: npt.NDArray[np.floating]
    crc32: int
    stamp: tuple[int, int]


def _prepared(source: NpyFeatures, video_ids: Sequence[str], dtype: str) -> Iterator[_Prepared]:
    """The videos in their order; the next few are read and checked while one is written, so that the disk need not wait."""
    waiting: deque[Future[_Prepared]] = deque()
    with ThreadPoolExecutor(_PREPARED_AHEAD) as threads:
        try:
            for video_id in video_ids:
                waiting.append(threads.submit(_prepare, source, video_id, dtype))
                if len(waiting) > _PREPARED_AHEAD:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for video in waiting:
                video.cancel()


def _prepare(source: NpyFeatures, video_id: str, dtype: str) -> _Prepared:
    mapped = source.rows(video_id)
    stamp = _stamp(source.path(video_id))  # before the rows are read: a file that changes meanwhile no longer matches it
    rows = as_packed(mapped, dtype, video_id)
    return _Prepared(video_id, rows, _checksum(rows), stamp)


def _open_for_append(path: Path, keep_bytes: int) -> BinaryIO:
    """The rows file cut back to what is known to be safe, at its end."""
    file = path.open("r+b" if path.exists() else "w+b")
    file.truncate(keep_bytes)
    file.seek(keep_bytes)
    return file


def _safe_prefix(source: NpyFeatures, wanted: Sequence[str], folder: Path, dtype: str) -> tuple[list[PackedVideo], int]:
    """What an earlier attempt finished, if it was packing just the same files."""
    found = _read_index(folder / "unfinished.json")
    rows_file = folder / "unfinished.bin"
    if found is None or not rows_file.exists() or found.dtype != dtype:
        return [], 0
    videos = list(found.videos.values())
    same = [v.id for v in videos] == list(wanted[: len(videos)]) and all(_is_current(source, v) for v in videos)
    return (videos, found.n_dimensions) if same and rows_file.stat().st_size >= found.n_bytes else ([], 0)


class NeedsFloat32(InputError):
    """Rows that float16 cannot hold, or holds too coarsely."""


def as_packed(rows: npt.NDArray[np.floating], dtype: str, video_id: str) -> npt.NDArray[np.floating]:
    """Rows in the type of the pack, C order; NaN and infinity, and what float16 would spoil, are refused by the video's name."""
    with np.errstate(over="ignore"):
        packed = np.ascontiguousarray(rows, dtype=dtype)
    if not all_finite(packed):
        bad = np.argwhere(~np.isfinite(packed))[0]
        where = f"{video_id}.npy: row {bad[0]}, column {bad[1]} is"
        if np.isfinite(rows[bad[0], bad[1]]):
            raise NeedsFloat32(f"{where} too large for float16: pack with --dtype float32")
        raise InputError(f"{where} NaN or infinite: extract it again")
    if packed.dtype == np.float16 and rows.dtype != np.float16 and _spoilt(rows):
        raise NeedsFloat32(
            f"{video_id}.npy: float16 is too coarse for these columns (tiny, or far from 0): pack with --dtype float32"
        )
    return packed


def _spoilt(rows: npt.NDArray[np.floating]) -> bool:
    """Whether float16 moves a tenth of the columns by more than a twentieth of their deviation, judged by a few rows of a video.

    >>> rows = np.random.default_rng(0).normal(size=(50, 8))
    >>> _spoilt(rows), _spoilt(rows * 1e-7), _spoilt(rows + 1000)
    (False, True, True)
    """
    few = rows[:: max(1, len(rows) // 16)].astype(np.float64)
    moved = np.sqrt(((few - few.astype(np.float16).astype(np.float64)) ** 2).mean(axis=0))
    return bool((moved > 0.05 * few.std(axis=0)).mean() > 0.1) if len(few) > 1 else False


def open_packed(folder: Path, source: NpyFeatures, video_ids: Iterable[str], dtype: str = "float16") -> PackedFeatures | None:
    """The pack in `folder`, or None when it is absent, unfinished, or older than a file it was made from."""
    pack = _read_index(folder / "index.json")
    if pack is None or pack.dtype != dtype:
        return None
    wanted = list(video_ids)
    if not all(video_id in pack.videos and _is_current(source, pack.videos[video_id]) for video_id in wanted):
        return None
    with suppress(OSError, ValueError):  # gone or cut short: pack again
        if (folder / pack.rows_file).stat().st_size == pack.n_bytes and len(pack.all_rows):
            return pack
    return None


def dtype_of_pack(folder: Path) -> str | None:
    """What the pack in a folder holds, however old it is; None without a pack."""
    pack = _read_index(folder / "index.json")
    return None if pack is None else pack.dtype


def _is_current(source: NpyFeatures, video: PackedVideo) -> bool:
    return video.id in source and _stamp(source.path(video.id)) == (video.source_size, video.source_mtime_ns)


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def _index(dtype: str, n_dimensions: int, videos: Sequence[PackedVideo]) -> dict[str, Any]:
    """The index, with the name of its rows: a digest of what they hold and how."""
    contents = [dtype, n_dimensions, [[video.id, video.n_rows, video.crc32] for video in videos]]
    digest = hashlib.sha256(stable_json(contents).encode()).hexdigest()[:16]
    listed = [asdict(video) for video in videos]
    return {"format": FORMAT, "dtype": dtype, "n_dimensions": n_dimensions, "rows": f"rows-{digest}.bin", "videos": listed}


def _read_index(path: Path) -> PackedFeatures | None:
    """The pack an index describes, or None when the file is anything but a sound index."""
    try:
        data = json.loads(path.read_text("utf-8"))
        if data["format"] != FORMAT or data["dtype"] not in ("float16", "float32") or not _ROWS.fullmatch(data["rows"]):
            return None
        videos = {entry["id"]: PackedVideo(**entry) for entry in data["videos"]}
        pack = PackedFeatures(path.parent, data["n_dimensions"], data["dtype"], videos, data["rows"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return pack if _is_sound(pack) else None


def _is_sound(pack: PackedFeatures) -> bool:
    """Whether the videos of an index follow one another without a gap."""
    numbers = [getattr(video, field.name) for video in pack.videos.values() for field in fields(video)[1:]]
    if not all(type(number) is int and number >= 0 for number in [pack.n_dimensions, *numbers]) or not pack.n_dimensions:
        return False
    next_row = 0
    for video in pack.videos.values():
        if type(video.id) is not str or video.first_row != next_row or not video.n_rows:
            return False
        next_row += video.n_rows
    return next_row > 0
