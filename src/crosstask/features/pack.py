"""Packing thousands of small feature files into a few memory-mapped files of rows; `pack_index` says what a pack is.

Rows are written to `unfinished.bin`, which becomes a part when it is large enough or complete. After each part the index is written, so that packing which
was interrupted goes on after the last part, like packing to which videos were added. Parts never change: a process that has an older pack open keeps
reading its rows.
"""

import logging
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
import numpy.typing as npt

from crosstask.features.npy_files import NpyFeatures
from crosstask.features.pack_index import PackedFeatures, PackedVideo, Part, checksum, index_of, part_name, read_index
from crosstask.records import InputError
from crosstask.storage import blocking_lock, nonblocking_lock, write_json

log = logging.getLogger(__name__)
_PART_BYTES = 2**30  # ours: at most so much is packed again after an interruption
_MOST_SMALL_PARTS = 64  # ours: beyond what the size of the rows requires; with more, everything is packed anew
_READ_AHEAD = 2  # videos read by threads while one is written
# Float16 is refused when its rounding error exceeds 0.05 standard deviations in more than a tenth of the columns (both ours).
_MAX_RELATIVE_ERROR = 0.05
_MAX_COARSE_COLUMNS = 0.1
_N_PROBED_ROWS = 16  # rows of a video on which that is measured
_LARGEST_FLOAT32 = float(np.finfo(np.float32).max)
Progress = Callable[[int, int], None]  # videos done, videos in all


def all_finite(rows: npt.NDArray[np.floating]) -> bool:
    """True if all values are finite; float16 is tested by its exponent bits, which takes a third of the time.

    >>> all_finite(np.ones((2, 2), np.float16)), all_finite(np.array([[np.nan]], np.float16))
    (True, False)
    """
    if rows.dtype != np.float16 or not rows.dtype.isnative or rows.size == 0:
        return bool(np.isfinite(rows).all())
    return bool((np.ascontiguousarray(rows).view(np.uint16) & np.uint16(0x7FFF)).max() < 0x7C00)


def finite_rows(rows: npt.NDArray[np.floating], name: str) -> npt.NDArray[np.floating]:
    """The rows themselves; InputError if one of their values is not finite."""
    if not all_finite(rows):
        raise InputError(f"{name}: its features contain NaN or infinity; extract them again")
    return rows


def pack_features(
    source: NpyFeatures,
    video_ids: Iterable[str],
    folder: Path,
    dtype: str = "float16",
    progress: Progress | None = None,
    needs_float32: str = "",
) -> PackedFeatures:
    """The packed rows of some videos; a pack that is up to date is reused, otherwise what is missing is appended.

    `needs_float32` is the id of a video for which float32 is chosen.
    """
    wanted = sorted(set(video_ids))
    finished = open_packed(folder, source, wanted, dtype)
    if finished is not None:
        remove_stale_files(finished)
        return finished
    folder.mkdir(parents=True, exist_ok=True)
    with blocking_lock(folder / "index.json", lambda owner: log.warning("process %s is packing these files: waiting", owner)):
        finished = open_packed(folder, source, wanted, dtype)
        return finished if finished is not None else _pack(source, wanted, folder, dtype, progress, needs_float32)


def _pack(
    source: NpyFeatures, wanted: Sequence[str], folder: Path, dtype: str, progress: Progress | None, needs_float32: str
) -> PackedFeatures:
    """A pack of the wanted videos: what is current of an older one, then new parts, then removal of the files of older packs."""
    pack = _current_part_of(source, folder, dtype) or PackedFeatures(folder, 0, dtype, {}, ())
    pack = replace(pack, needs_float32=needs_float32 or pack.needs_float32)
    missing = [video_id for video_id in wanted if video_id not in pack.videos]
    flushed: Future[None] | None = None  # a thread waits for the disk while the next rows are written
    prepared, n_packed = _prepared(source, missing, dtype), len(wanted) - len(missing)
    with ThreadPoolExecutor(1) as flusher:
        for longer, file in _appended(pack, prepared, n_packed, len(wanted), progress):
            pack = longer
            if flushed is not None:
                flushed.result()
            flushed = flusher.submit(_flush_and_index, file, pack)
        if flushed is not None:
            flushed.result()
        elif pack.videos:  # nothing was missing: files were copied or swapped back and have other times
            write_json(folder / "index.json", index_of(pack))
    _remove_older(pack)
    return pack


def _current_part_of(source: NpyFeatures, folder: Path, dtype: str) -> PackedFeatures | None:
    """The older pack with the videos whose files have not changed; None where there is little to keep, or too many small parts."""
    old = read_index(folder / "index.json")
    if old is None or old.dtype != dtype or not old.files_are_complete:
        return None
    kept = [video for video in (_renewed(source, video, dtype) for video in old.videos.values()) if video is not None]
    used = sorted({video.part for video in kept})
    number = {part: i for i, part in enumerate(used)}
    videos = {video.id: replace(video, part=number[video.part]) for video in kept}
    pack = replace(old, videos=videos, parts=tuple(old.parts[part] for part in used))
    worth_keeping = 2 * pack.shape[0] * pack.row_bytes > old.n_bytes
    return pack if worth_keeping and len(used) <= _MOST_SMALL_PARTS + 2 * pack.n_bytes // _PART_BYTES else None


def _appended(
    pack: PackedFeatures, prepared: Iterator["_Prepared"], done: int, total: int, progress: Progress | None
) -> Iterator[tuple[PackedFeatures, BinaryIO]]:
    """The pack with one more part, and the open file of that part, each time one is complete; not flushed to disk yet."""
    waiting = next(prepared, None)
    while waiting is not None:
        unfinished = pack.folder / "unfinished.bin"
        unfinished.unlink(missing_ok=True)  # of a killed process; a link would be followed
        file, added, n_rows = unfinished.open("xb"), list[PackedVideo](), 0
        try:
            while waiting is not None and (not added or n_rows * pack.row_bytes < _PART_BYTES):
                pack = pack if pack.n_dimensions else replace(pack, n_dimensions=waiting.rows.shape[1])
                _refuse_other_width(waiting, pack.n_dimensions)
                file.write(waiting.rows.view(np.uint8).reshape(-1).data)
                added.append(_entry(waiting, len(pack.parts), n_rows))
                n_rows, done, waiting = n_rows + len(waiting.rows), done + 1, next(prepared, None)
                if progress is not None:
                    progress(done, total)
            file.flush()
        except BaseException:
            file.close()
            raise
        pack = _with_part(pack, added, n_rows)
        yield pack, file


def _refuse_other_width(video: "_Prepared", n_dimensions: int) -> None:
    if video.rows.shape[1] != n_dimensions:
        raise InputError(f"{video.id}.npy: {video.rows.shape[1]} columns; the videos before it have {n_dimensions}")


def _entry(video: "_Prepared", part: int, first_row: int) -> PackedVideo:
    return PackedVideo(video.id, part, first_row, len(video.rows), video.crc32, *video.stamp)


def _with_part(pack: PackedFeatures, added: Sequence[PackedVideo], n_rows: int) -> PackedFeatures:
    """The pack with the rows of `unfinished.bin` as a part under its final name, which no index on disk names yet."""
    part = Part(part_name(pack.dtype, pack.n_dimensions, added), n_rows)
    (pack.folder / "unfinished.bin").replace(pack.folder / part.rows)
    return replace(pack, videos=pack.videos | {video.id: video for video in added}, parts=(*pack.parts, part))


def _flush_and_index(file: BinaryIO, pack: PackedFeatures) -> None:
    """Flush a part to disk, then write the index that names it."""
    with file:
        os.fsync(file.fileno())
    write_json(pack.folder / "index.json", index_of(pack))


def _remove_older(pack: PackedFeatures) -> None:
    current = {part.rows for part in pack.parts}
    for old in [*pack.folder.glob("rows*.bin"), *pack.folder.glob("unfinished.*")]:
        if old.name not in current:
            old.unlink(missing_ok=True)


def remove_stale_files(pack: PackedFeatures) -> None:
    """Remove files of older packs, left by a process killed just after it had finished; skipped if the pack is locked or read-only."""
    if {path.name for path in pack.folder.iterdir()} > {"index.json", *(part.rows for part in pack.parts)}:
        with suppress(OSError), nonblocking_lock(pack.folder / "index.json"):
            _remove_older(pack)


class _Prepared(NamedTuple):
    """A video's rows in the dtype of the pack, their checksum, and (size, mtime, ctime) of the source file."""

    id: str
    rows: npt.NDArray[np.floating]
    crc32: int
    stamp: tuple[int, int, int]


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
    stamp = _size_and_times(source.path(video_id))  # before the rows are read, so that a later change of the file is detected
    rows = as_packed(source.rows(video_id), dtype, video_id)
    return _Prepared(video_id, rows, checksum(rows), stamp)


class NeedsFloat32(InputError):
    """Rows of a video whose values overflow float16 or lose too much precision in it."""

    def __init__(self, message: str, video_id: str) -> None:
        super().__init__(message)
        self.video_id = video_id


def as_packed(rows: npt.NDArray[np.floating], dtype: str, video_id: str) -> npt.NDArray[np.floating]:
    """(T, D) rows in the dtype of the pack, C order; InputError for NaN, infinity, or values that float16 cannot represent well."""
    with np.errstate(over="ignore"):
        packed = np.ascontiguousarray(rows, dtype=dtype)
    if not all_finite(packed):
        bad = np.argwhere(~np.isfinite(packed))[0]
        where = f"{video_id}.npy: row {bad[0]}, column {bad[1]} is"
        value = rows[bad[0], bad[1]]
        if not np.isfinite(value):
            raise InputError(f"{where} NaN or infinite: extract it again")
        if abs(float(value)) > _LARGEST_FLOAT32:
            raise InputError(f"{where} {value:.3g}, too large for float32: scale the features, or extract it again")
        raise NeedsFloat32(f"{where} too large for float16: pack with --dtype float32", video_id)
    if packed.dtype == np.float16 and rows.dtype != np.float16 and _float16_loses_precision(rows):
        raise NeedsFloat32(
            f"{video_id}.npy: float16 is too coarse for these columns (tiny, or far from 0): pack with --dtype float32", video_id
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
    pack = read_index(folder / "index.json")
    if pack is None or pack.dtype != dtype:
        return None
    wanted = list(video_ids)
    if not all(video_id in pack.videos and _is_current(source, pack.videos[video_id]) for video_id in wanted):
        return None
    with suppress(OSError, ValueError):  # a part is missing or truncated: pack again
        if pack.files_are_complete and len(pack.all_rows):
            return pack
    return None


def dtype_of_pack(folder: Path, source: NpyFeatures, video_ids: Iterable[str]) -> str | None:
    """The dtype of the pack in a folder, even if it is out of date; None without a pack, or if float32 was chosen for a video that is gone or changed.

    A corpus is then packed like a fresh copy of it.
    """
    pack = read_index(folder / "index.json")
    if pack is None:
        return None
    needed_by = pack.needs_float32
    changed = needed_by not in set(video_ids) or needed_by not in pack.videos or not _is_current(source, pack.videos[needed_by])
    return None if needed_by and changed else pack.dtype


def _is_current(source: NpyFeatures, video: PackedVideo) -> bool:
    """True if the source file is the one that was packed, by its size and times."""
    if video.id not in source:
        return False
    size, mtime_ns, ctime_ns = _size_and_times(source.path(video.id))
    return (size, mtime_ns) == (video.source_size, video.source_mtime_ns) and video.source_ctime_ns in (0, ctime_ns)


def _renewed(source: NpyFeatures, video: PackedVideo, dtype: str) -> PackedVideo | None:
    """The packed video if its source file is current; None if it has changed.

    Archives and copies can give another file the same modification time, so that a file of which only the change time differs is compared by its rows.
    """
    if _is_current(source, video):
        return video
    if video.id not in source or _size_and_times(source.path(video.id))[:2] != (video.source_size, video.source_mtime_ns):
        return None
    try:
        now = _prepare(source, video.id, dtype)
    except InputError:  # packing it again says why
        return None
    same = (len(now.rows), now.crc32) == (video.n_rows, video.crc32)
    return replace(video, source_ctime_ns=now.stamp[2]) if same else None


def _size_and_times(path: Path) -> tuple[int, int, int]:
    """Size, modification time and change time of a file."""
    status = path.stat()
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns
