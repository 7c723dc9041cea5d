"""Intervals of time. Only this module converts seconds to segments.

A segment t covers the second [t, t + 1). Intervals are half-open, [start_s, end_s).
"""

import math
from dataclasses import dataclass

TOLERATED_OVERSHOOT_S = 1.0  # six annotations of the release end up to 0.43 s after their video
MAX_VIDEO_S = 1_000_000  # ours: eleven days, longer than any video; bounds what is allocated for a crafted time


@dataclass(frozen=True, order=True)
class Interval:
    """A half-open span of seconds."""

    start_s: float
    end_s: float

    @property
    def length_s(self) -> float:
        """Seconds covered."""
        return self.end_s - self.start_s

    def segments(self, n_segments: int) -> range:
        """The segments it touches: floor of the start to ceiling of the end, clipped to the video.

        >>> Interval(2.1, 5.7).segments(100)
        range(2, 6)
        >>> Interval(98.5, 100.4).segments(100)
        range(98, 100)
        """
        first = max(0, math.floor(self.start_s))
        return range(min(first, n_segments), max(min(first, n_segments), min(n_segments, math.ceil(self.end_s))))

    def frames(self, frames_per_second: float) -> tuple[int, int]:
        """The first and the last frame, counted from 1, as Label Studio does.

        >>> Interval(1.0, 2.0).frames(25)
        (26, 50)
        """
        first = int(self.start_s * frames_per_second) + 1
        return first, max(first, round(self.end_s * frames_per_second))

    def overlap_s(self, other: "Interval") -> float:
        """Seconds shared with another interval."""
        return max(0.0, min(self.end_s, other.end_s) - max(self.start_s, other.start_s))


@dataclass(frozen=True, order=True)
class StepInterval:
    """Step `step` of the task (numbered from 0) within `interval`: an annotated span or a narration window."""

    step: int
    interval: Interval


def segment_at(second: float, n_segments: int) -> int:
    """The segment that holds a moment, clipped to the video.

    >>> segment_at(3.9, 10), segment_at(12.0, 10)
    (3, 9)
    """
    return min(max(0, math.floor(second)), n_segments - 1)
