"""The paper's recipe, plainly.

    S = U V^T (L, K),    max over l_1 < ... < l_K of sum_k S[l_k, k],    an interval of 9 s around the match      supplement

The supplement prints min for this programme and means max. The interval lies around a moment shortly after the matched words were
said, since the action rather follows them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crosstask.inference.once import decode_once
from crosstask.narration.units import SpokenUnits
from crosstask.records import Interval, StepInterval

Matrix = npt.NDArray[np.floating]


@dataclass(frozen=True)
class PlainSettings:
    """The paper's numbers."""

    window_words: int = 10  # ours; the paper does not print it
    window_s: int = 9  # paper, Sec. 4.2: average length 9 s
    lag_s: float = 1.0  # ours; the action rather follows the middle of its words


def plain_windows(units: SpokenUnits, similarity: Matrix, n_segments: int, settings: PlainSettings) -> tuple[StepInterval, ...]:
    """A window for every step, around where its best ordered match was said; similarity is (L, K), L >= K."""
    said = decode_once(-np.asarray(similarity, dtype=np.float64))
    moments = (units.start_s[said] + units.end_s[said]) / 2 + settings.lag_s
    return windows_around(moments, n_segments, settings.window_s)


def windows_around(
    moments: Sequence[float] | npt.NDArray[np.float64] | npt.NDArray[np.int64], n_segments: int, window_s: int
) -> tuple[StepInterval, ...]:
    """For step k the `window_s` whole seconds around moment k, moved (or, in a shorter video, cut) to lie inside the video.

    >>> [(w.interval.start_s, w.interval.end_s) for w in windows_around([1.5, 50.7, 99], n_segments=60, window_s=9)]
    [(0.0, 9.0), (46.0, 55.0), (51.0, 60.0)]
    """
    windows = []
    for step, moment in enumerate(moments):
        start = max(0, min(int(moment) - window_s // 2, n_segments - window_s))
        windows.append(StepInterval(step, Interval(float(start), float(min(start + window_s, n_segments)))))
    return tuple(windows)
