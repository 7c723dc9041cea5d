"""Features in `.npz` archives, one (T, D) array each, as some data sets publish them."""

import math
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
import numpy.typing as npt

from crosstask.features.npy_files import check_shape
from crosstask.records import InputError, stack_rows
from crosstask.storage import NotAnArray, open_regular, raise_if_disk_failed, read_array, read_header

_MAX_RATIO = 1032  # of DEFLATE, by its format: bytes that one compressed byte can stand for
ARRAY_NAME = "arr_0"  # the name that NumPy gives an array saved without one


@dataclass(frozen=True)
class NpzFeatures:
    """Feature rows by video id, read lazily from the files of a mapping; the array is called `arr_0`."""

    files: Mapping[str, Path]

    def __contains__(self, video_id: object) -> bool:
        """True if the video has a file."""
        return video_id in self.files

    def __iter__(self) -> Iterator[str]:
        """Video ids, sorted."""
        return iter(sorted(self.files))

    def length(self, video_id: str) -> int:
        """T, from the header of the array."""
        return read_npz(self.path(video_id), header_only=True).shape[0]

    def rows(self, video_id: str) -> npt.NDArray[np.floating]:
        """(T, D), read into memory."""
        return read_npz(self.path(video_id))

    def stack(self, video_ids: Sequence[str]) -> tuple[npt.NDArray[np.floating], dict[str, int]]:
        """(R, D) rows of some videos, concatenated, and the first row of each."""
        return stack_rows(self, video_ids)

    def path(self, video_id: str) -> Path:
        """Path of a video's file."""
        if video_id not in self.files:
            raise InputError(f"video {video_id}: no features")
        return self.files[video_id]


def read_npz(path: Path, header_only: bool = False) -> npt.NDArray[np.floating]:
    """(T, D), the array `arr_0` of an archive; with `header_only` an array of that shape without memory of its own."""
    try:
        with open_regular(path) as file, zipfile.ZipFile(file) as archive:
            entry = archive.getinfo(f"{ARRAY_NAME}.npy")
            with archive.open(entry) as stream:
                header = read_header(cast(BinaryIO, stream))
                n_rows, n_columns = check_shape(path, header.shape, header.dtype)
                if entry.file_size > _MAX_RATIO * (entry.compress_size + 1):
                    raise InputError(
                        f"{path.name}: claims {entry.file_size:,} bytes, more than {entry.compress_size:,} compressed ones can hold; "
                        "fetch or extract it again"
                    )
                if entry.file_size != header.offset + header.dtype.itemsize * math.prod(header.shape):
                    raise NotAnArray("truncated")
                if header_only:
                    return np.broadcast_to(np.zeros((), dtype=np.float32), (n_rows, n_columns))
                return cast(
                    "npt.NDArray[np.floating]", read_array(cast(BinaryIO, stream), header)
                )  # `check_shape` has checked the dtype
    except OSError as error:
        raise_if_disk_failed(error)
        raise InputError(f"{path.name}: cannot be read: {error.strerror}") from None
    except InputError:
        raise
    except Exception:  # zipfile and zlib raise many kinds of error for damaged archives
        raise InputError(f"{path.name}: not an archive with '{ARRAY_NAME}' of shape (T, D); fetch or extract it again") from None
