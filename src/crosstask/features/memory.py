"""Feature rows from arrays in memory."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crosstask.records import InputError, stack_rows


@dataclass(frozen=True)
class FeaturesInMemory:
    """Feature rows from a dictionary of arrays.

    >>> FeaturesInMemory({"a": np.zeros((3, 2))}).length("a")
    3
    """

    arrays: Mapping[str, npt.NDArray[np.floating]]

    def __contains__(self, video_id: object) -> bool:
        """True if the video has rows."""
        return video_id in self.arrays

    def __iter__(self) -> Iterator[str]:
        """Video ids, sorted."""
        return iter(sorted(self.arrays))

    def length(self, video_id: str) -> int:
        """T."""
        return len(self.rows(video_id))

    def rows(self, video_id: str) -> npt.NDArray[np.floating]:
        """(T, D)."""
        if video_id not in self.arrays:
            raise InputError(f"video {video_id}: no features")
        return self.arrays[video_id]

    def stack(self, video_ids: Sequence[str]) -> tuple[npt.NDArray[np.floating], dict[str, int]]:
        """(R, D) rows of some videos, concatenated, and the first row of each."""
        return stack_rows(self, video_ids)
