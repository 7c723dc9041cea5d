"""One second of a video, and what a backbone asks to see of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

SAMPLE_RATE = 16_000  # of the sound: samples a second, one channel

Pictures = npt.NDArray[np.uint8]  # (n, size, size, 3), red green blue
Sound = npt.NDArray[np.float32]  # (16000,), between -1 and 1


class Sampling(NamedTuple):
    """Which pictures of a second: `per_second` of them evenly spaced, or (None) every `every`-th frame there is."""

    size: int
    per_second: int | None
    every: int = 1


@dataclass(frozen=True)
class Second:
    """The pictures of one second by sampling, at least one each, and its sound, silent where there is none."""

    pictures: Mapping[Sampling, Pictures]
    sound: Sound
