"""Thousands of small feature files packed into one memory-mapped file of rows.

A pack is a folder of two files: `rows-DIGEST.bin` (all rows, one video after the other, float16 or float32, C order) and
`index.json` (first row of each video, the checksum of its rows, and the size and modification time of its source file). Rows are
appended to `unfinished.bin`, which is renamed when complete; the index is written last and names its rows file, so that a process
that has an older pack open keeps reading the old rows. Interrupted packing resumes after the last video known to be on disk.
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
from crosstask.storage import blocking_lock, nonblocking_lock, read_text, stable_json, write_json

log = logging.getLogger(__name__)
FORMAT = 2  # of index.json
_ROWS_FILE_NAME = re.compile(r"rows-[0-9a-f]{16}\.bin")
_FLUSH_EVERY_BYTES = 256 * 2**20  # ours: at most so much is packed again after an interruption
_READ_AHEAD = 2  # videos read by threads while one is written
# Float16 is refused when its rounding error exceeds 0.05 standard deviations in more than a tenth of the columns (both ours).
_MAX_RELATIVE_ERROR = 0.05
_MAX_COARSE_COLUMNS = 0.1
_N_PROBED_ROWS = 16  # rows of a video on which that is measured
Progress = Callable[[int, int], None]  # videos done, videos in all


@dataclass(frozen=True)
class PackedVideo:
    """Position and checksum of one video's rows in the pack, and size and modification time of their source file."""

    id: str
    first_row: int
    n_rows: int
    crc32: int
    source_size: int
    source_mtime_ns: int


@dataclass(frozen=True)
class PackedFeatures:
    """Feature rows of a pack; `all_rows` is the whole file as one memory-mapped (R, D) array."""

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
        """Size of the rows file in bytes."""
        return self.shape[0] * self.shape[1] * np.dtype(self.dtype).itemsize

    @cached_property
    def all_rows(self) -> npt.NDArray[np.floating]:
        """(R, D), read-only, memory-mapped."""
        return np.memmap(self.folder / self.rows_file, dtype=self.dtype, mode="r", shape=self.shape)

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
        return self._video(video_id).first_row

    def rows(self, video_id: str) -> npt.NDArray[np.floating]:
        """(T, D), a view into the mapped file."""
        video = self._video(video_id)
        return self.all_rows[video.first_row : video.first_row + video.n_rows]

    def stack(self, video_ids: Sequence[str]) -> tuple[npt.NDArray[np.floating], dict[str, int]]:
        """The whole mapped file (R, D), and the first row of each video in it."""
        return self.all_rows, {video_id: self.first_row(video_id) for video_id in video_ids}

    def _video(self, video_id: str) -> PackedVideo:
        if video_id not in self.videos:
            raise InputError(f"video {video_id}: not in the pack {self.folder.name}; run `crosstask pack` again")
        return self.videos[video_id]

    def damaged(self) -> list[str]:
        """Ids of the videos whose rows no longer match their checksum, sorted."""
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
    """The packed rows of some videos; resumes an unfinished pack and reuses one that is up to date."""
    wanted = sorted(set(video_ids))
    finished = open_packed(folder, source, wanted, dtype)
    if finished is not None:
        _remove_stale_files(finished)
        return finished
    folder.mkdir(parents=True, exist_ok=True)
    with blocking_lock(folder / "index.json", lambda owner: log.warning("process %s is packing these files: waiting", owner)):
        finished = open_packed(folder, source, wanted, dtype)
        return finished if finished is not None else _pack(source, wanted, folder, dtype, progress)


def _pack(source: NpyFeatures, wanted: Sequence[str], folder: Path, dtype: str, progress: Progress | None) -> PackedFeatures:
    """A new pack: rows, then the index, then removal of the files of older packs."""
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


def _remove_stale_files(pack: PackedFeatures) -> None:
    """Remove files of older packs, left by a process killed just after it had finished; skipped if the pack is locked or read-only."""
    if {path.name for path in pack.folder.iterdir()} > {"index.json", pack.rows_file}:
        with suppress(OSError), nonblocking_lock(pack.folder / "index.json"):
            _remove_older(pack.folder, pack.rows_file)


def _append(
    source: NpyFeatures, wanted: Sequence[str], folder: Path, dtype: str, progress: Progress | None
) -> tuple[list[PackedVideo], int]:
    """Entries of all videos and D; the rows are appended after those that an earlier attempt has flushed."""
    videos, n_dimensions = _resumable_prefix(source, wanted, folder, dtype)
    row_bytes = n_dimensions * np.dtype(dtype).itemsize
    next_row = sum(video.n_rows for video in videos)
    unflushed_bytes = 0
    flushed: Future[None] | None = None  # a thread waits for the disk while the next rows are written
    with _open_for_append(folder / "unfinished.bin", next_row * row_bytes) as file, ThreadPoolExecutor(1) as flusher:
        prepared = _prepared(source, wanted[len(videos) :], dtype)
        for done, (video_id, rows, crc32, (size, mtime)) in enumerate(prepared, start=len(videos) + 1):
            n_dimensions = n_dimensions or rows.shape[1]
            if rows.shape[1] != n_dimensions:
                raise InputError(f"{video_id}.npy: {rows.shape[1]} columns; the videos before it have {n_dimensions}")
            file.write(rows.view(np.uint8).reshape(-1).data)
            videos.append(PackedVideo(video_id, next_row, len(rows), crc32, size, mtime))
            next_row += len(rows)
            unflushed_bytes += rows.nbytes
            if unflushed_bytes >= _FLUSH_EVERY_BYTES:
                unflushed_bytes = 0
                if flushed is not None:
                    flushed.result()
                file.flush()
                flushed = flusher.submit(_write_resume_point, file, folder, _index(dtype, n_dimensions, videos))
            if progress is not None:
                progress(done, len(wanted))
        if flushed is not None:
            flushed.result()
        file.flush()
        os.fsync(file.fileno())
    return videos, n_dimensions


def _write_resume_point(file: BinaryIO, folder: Path, index: Mapping[str, Any]) -> None:
    """Flush the rows to disk, then write the index from which a later attempt resumes."""
    os.fsync(file.fileno())
    write_json(folder / "unfinished.json", index)


class _Prepared(NamedTuple):
    """A video's rows in the dtype of the pack, their checksum, and (size, mtime) of the source file."""

    id: str
    rows: npt.NDArray[np.floating]
    crc32: int
    stamp: tuple[int, int]


def _prepared(source: NpyFeatures, video_ids: Sequence[str], dtype: str) -> Iterator[_Prepared]:
    """Videos ready to be written, in order; the next ones are read and checked by threads while one is written."""
    waiting: deque[Future[_Prepared]] = deque()
    with ThreadPoolExecutor(_READ_AHEAD) as threads:
        try:
            for video_id in video_ids:
                waiting.append(threads.submit(_prepare, source, video_id, dtype))
                if len(waiting) > _READ_AHEAD:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for video in waiting:
                video.cancel()


def _prepare(source: NpyFeatures, video_id: str, dtype: str) -> _Prepared:
    source.length(video_id)  # an InputError for a file that cannot be read
    stamp = _size_and_mtime(source.path(video_id))  # before the rows are read, so that a later change of the file is detected
    rows = as_packed(source.load(video_id), dtype, video_id)
    return _Prepared(video_id, rows, _checksum(rows), stamp)


def _open_for_append(path: Path, keep_bytes: int) -> BinaryIO:
    """The rows file truncated to `keep_bytes` and positioned at its end."""
    file = path.open("r+b" if path.exists() else "w+b")
    file.truncate(keep_bytes)
    file.seek(keep_bytes)
    return file


def _resumable_prefix(source: NpyFeatures, wanted: Sequence[str], folder: Path, dtype: str) -> tuple[list[PackedVideo], int]:
    """Entries and D that an interrupted attempt at the same files has flushed to disk; ([], 0) without one."""
    found = _read_index(folder / "unfinished.json")
    rows_file = folder / "unfinished.bin"
    if found is None or not rows_file.exists() or found.dtype != dtype:
        return [], 0
    videos = list(found.videos.values())
    same = [v.id for v in videos] == list(wanted[: len(videos)]) and all(_is_current(source, v) for v in videos)
    return (videos, found.n_dimensions) if same and rows_file.stat().st_size >= found.n_bytes else ([], 0)


class NeedsFloat32(InputError):
    """Rows whose values overflow float16 or lose too much precision in it."""


def as_packed(rows: npt.NDArray[np.floating], dtype: str, video_id: str) -> npt.NDArray[np.floating]:
    """(T, D) rows in the dtype of the pack, C order; InputError for NaN, infinity, or values that float16 cannot represent well."""
    with np.errstate(over="ignore"):
        packed = np.ascontiguousarray(rows, dtype=dtype)
    if not all_finite(packed):
        bad = np.argwhere(~np.isfinite(packed))[0]
        where = f"{video_id}.npy: row {bad[0]}, column {bad[1]} is"
        if np.isfinite(rows[bad[0], bad[1]]):
            raise NeedsFloat32(f"{where} too large for float16: pack with --dtype float32")
        raise InputError(f"{where} NaN or infinite: extract it again")
    if packed.dtype == np.float16 and rows.dtype != np.float16 and _float16_loses_precision(rows):
        raise NeedsFloat32(
            f"{video_id}.npy: float16 is too coarse for these columns (tiny, or far from 0): pack with --dtype float32"
        )
    return packed


def _float16_loses_precision(rows: npt.NDArray[np.floating]) -> bool:
    """True if rounding to float16 is coarse against the standard deviation in over a tenth of the columns, on a few rows.

    >>> rows = np.random.default_rng(0).normal(size=(50, 8))
    >>> _float16_loses_precision(rows), _float16_loses_precision(rows * 1e-7), _float16_loses_precision(rows + 1000)
    (False, True, True)
    """
    few = rows[:: max(1, len(rows) // _N_PROBED_ROWS)].astype(np.float64)
    error = np.sqrt(((few - few.astype(np.float16).astype(np.float64)) ** 2).mean(axis=0))
    return bool((error > _MAX_RELATIVE_ERROR * few.std(axis=0)).mean() > _MAX_COARSE_COLUMNS) if len(few) > 1 else False


def open_packed(folder: Path, source: NpyFeatures, video_ids: Iterable[str], dtype: str = "float16") -> PackedFeatures | None:
    """The pack in `folder`, or None if it is absent, unfinished, of another dtype, or a source file has changed."""
    pack = _read_index(folder / "index.json")
    if pack is None or pack.dtype != dtype:
        return None
    wanted = list(video_ids)
    if not all(video_id in pack.videos and _is_current(source, pack.videos[video_id]) for video_id in wanted):
        return None
    with suppress(OSError, ValueError):  # rows file missing or truncated: pack again
        if (folder / pack.rows_file).stat().st_size == pack.n_bytes and len(pack.all_rows):
            return pack
    return None


def dtype_of_pack(folder: Path) -> str | None:
    """The dtype of the pack in a folder, even if it is out of date; None without a pack."""
    pack = _read_index(folder / "index.json")
    return None if pack is None else pack.dtype


def _is_current(source: NpyFeatures, video: PackedVideo) -> bool:
    return video.id in source and _size_and_mtime(source.path(video.id)) == (video.source_size, video.source_mtime_ns)


def _size_and_mtime(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def _index(dtype: str, n_dimensions: int, videos: Sequence[PackedVideo]) -> dict[str, Any]:
    """The index as JSON values; the rows file is named by a digest of dtype, ids, lengths and checksums."""
    contents = [dtype, n_dimensions, [[video.id, video.n_rows, video.crc32] for video in videos]]
    digest = hashlib.sha256(stable_json(contents).encode()).hexdigest()[:16]
    listed = [asdict(video) for video in videos]
    return {"format": FORMAT, "dtype": dtype, "n_dimensions": n_dimensions, "rows": f"rows-{digest}.bin", "videos": listed}


def _read_index(path: Path) -> PackedFeatures | None:
    """The pack that an index file describes, or None if the file is not a valid index."""
    try:
        data = json.loads(read_text(path, "utf-8"))
        if data["format"] != FORMAT or data["dtype"] not in ("float16", "float32") or not _ROWS_FILE_NAME.fullmatch(data["rows"]):
            return None
        videos = {entry["id"]: PackedVideo(**entry) for entry in data["videos"]}
        pack = PackedFeatures(path.parent, data["n_dimensions"], data["dtype"], videos, data["rows"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return pack if _is_valid(pack) else None


def _is_valid(pack: PackedFeatures) -> bool:
    """True if all numbers are valid and the videos follow one another without gaps."""
    numbers = [getattr(video, field.name) for video in pack.videos.values() for field in fields(video)[1:]]
    if not all(type(number) is int and number >= 0 for number in [pack.n_dimensions, *numbers]) or not pack.n_dimensions:
        return False
    next_row = 0
    for video in pack.videos.values():
        if type(video.id) is not str or video.first_row != next_row or not video.n_rows:
            return False
        next_row += video.n_rows
    return next_row > 0
