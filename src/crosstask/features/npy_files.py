"""A folder of `VIDEO.npy` files, one (T, D) array each, as published."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from crosstask.records import InputError, refuse_escaping_id, stack_rows
from crosstask.storage import NotAnArray, load_array, open_regular, paths_in, raise_if_disk_failed, read_header, replace_file


@dataclass(frozen=True)
class NpyFeatures:
    """Feature rows read lazily from `folder/VIDEO.npy`."""

    folder: Path
    _lengths: dict[str, int] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def ids(self) -> frozenset[str]:
        """Ids of the videos that have a file."""
        return frozenset(path.stem for path in paths_in(self.folder) if path.suffix == ".npy" and not path.name.startswith("."))

    def __contains__(self, video_id: object) -> bool:
        """True if the video has a file."""
        return video_id in self.ids

    def __iter__(self) -> Iterator[str]:
        """Video ids, sorted."""
        return iter(sorted(self.ids))

    def path(self, video_id: str) -> Path:
        """Path of a video's file."""
        return self.folder / f"{refuse_escaping_id(video_id, 'video')}.npy"

    def length(self, video_id: str) -> int:
        """T, from the file's header alone."""
        if video_id not in self._lengths:
            self._lengths[video_id] = read_shape(self.path(video_id))[0]
        return self._lengths[video_id]

    def rows(self, video_id: str) -> npt.NDArray[np.floating]:
        """(T, D), read into memory; an error where the file had another length before, as what was made of that length does not fit."""
        rows = read_rows(self.path(video_id))
        before = self._lengths.pop(video_id, len(rows))
        if before != len(rows):  # a later call sees the new length
            raise InputError(f"{video_id}.npy: has {len(rows)} rows, had {before}: changed while it was used; repeat the command")
        self._lengths[video_id] = before
        return rows

    def stack(self, video_ids: Sequence[str]) -> tuple[npt.NDArray[np.floating], dict[str, int]]:
        """(R, D) rows of some videos, loaded and concatenated, and the first row of each."""
        return stack_rows(self, video_ids)


def read_shape(path: Path) -> tuple[int, int]:
    """(T, D) of a feature file, from its header."""
    try:
        with open_regular(path) as file:
            header = read_header(file)
    except (OSError, NotAnArray) as error:
        raise _input_error(path, error) from None
    return check_shape(path, header.shape, header.dtype)


def read_rows(path: Path, read: Callable[[Path], npt.NDArray[np.generic]] = load_array) -> npt.NDArray[np.floating]:
    """(T, D) of a feature file, in native floating point; read into memory, as a mapped file that shrinks would end the process."""
    read_shape(path)
    try:
        rows: npt.NDArray[np.floating] = read(path)  # type: ignore[assignment] # `read_shape` has checked the dtype
    except (OSError, NotAnArray) as error:
        raise _input_error(path, error) from None
    return rows if rows.dtype.isnative else rows.astype(rows.dtype.newbyteorder("="))


def _input_error(path: Path, error: Exception) -> InputError:
    if isinstance(error, OSError):
        raise_if_disk_failed(error)
        return InputError(f"{path.name}: cannot be read: {error.strerror}")
    if "truncated" in str(error):
        return InputError(f"{path.name}: {error}; fetch or extract it again")
    return InputError(f"{path.name}: {error}; expected {path.stem}.npy holding (T, D) numbers")


def check_shape(path: Path, shape: tuple[int, ...], dtype: np.dtype[np.generic]) -> tuple[int, int]:
    """(T, D) of an array of features; an array of another shape or type is refused."""
    if dtype.kind != "f":
        raise InputError(f"{path.name}: holds {dtype}; expected floating point numbers (float16, float32 or float64)")
    if len(shape) != 2:
        raise InputError(f"{path.name}: shape {shape}; expected (T, D), one row per second")
    if shape[0] < 1 or shape[1] < 1:
        raise InputError(f"{path.name}: shape {shape} has no rows; extract this video again or take it off the list")
    return int(shape[0]), int(shape[1])


def write_rows(path: Path, rows: npt.NDArray[np.floating]) -> Path:
    """`path`, now holding the rows; written atomically."""
    rows = np.ascontiguousarray(rows)
    with replace_file(path) as file:
        np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(rows))
        file.write(rows.data)  # `write_array` would leave out the reason where the disk is full
    return path
