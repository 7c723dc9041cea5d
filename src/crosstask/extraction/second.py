"""One second of a video: the input of a backbone."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

SAMPLE_RATE = 16_000  # audio samples per second, one channel; what VGGish and Whisper expect

Image = npt.NDArray[np.uint8]  # (height, width, 3), RGB
Frames = npt.NDArray[np.uint8]  # (n, size, size, 3), RGB
Audio = npt.NDArray[np.float32]  # (16000,), between -1 and 1


class Sampling(NamedTuple):
    """Frames sampled from a second: `per_second` evenly spaced ones, or (None) every `every`-th frame; scaled to `size` pixels."""

    size: int
    per_second: int | None
    every: int = 1


@dataclass(frozen=True)
class Second:
    """The frames of one second by sampling, at least one each, and its audio (zeros without an audio stream)."""

    frames: Mapping[Sampling, Frames]
    audio: Audio
