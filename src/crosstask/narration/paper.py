"""Narration windows as in the paper's supplement (`narrate --recipe paper`), each video on its own.

    S = U V^T (L, K),    max over l_1 < ... < l_K of sum_k S[l_k, k],    an interval of 9 s around the match      supplement

The supplement prints min for this programme and means max. The interval is centred shortly after the matched words, since the action
usually follows them.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crosstask.inference.once import decode_once
from crosstask.narration.units import SpokenUnits
from crosstask.narration.windows import windows_around
from crosstask.records import StepInterval


@dataclass(frozen=True)
class PaperSettings:
    """The paper's values, and ours where it prints none."""

    window_words: int = 10  # ours; the paper does not print it
    window_s: int = 9  # paper, Sec. 4.2: average length 9 s
    lag_s: float = 1.0  # ours; the action usually follows the middle of the words


def paper_windows(
    units: SpokenUnits, similarity: npt.NDArray[np.floating], n_segments: int, settings: PaperSettings
) -> tuple[StepInterval, ...]:
    """A window for every step around its match in the best ordered choice; similarity is (L, K), L >= K."""
    matched = decode_once(-np.asarray(similarity, dtype=np.float64))
    moments_s = (units.start_s[matched] + units.end_s[matched]) / 2 + settings.lag_s
    return windows_around(moments_s, n_segments, settings.window_s)
