"""Feature rows on a common footing: centred within their video, one unit a column, and no more columns than can be learnt from.

Centring within the video takes away what a whole video shares (camera, kitchen, loudness), which says nothing about steps. Wide features
are turned onto their main directions, found by a randomised range finder on a sample of rows.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crosstask.learning.float16 import as_float32

Floats = npt.NDArray[np.floating]
LARGEST_WIDTH = 512  # a covariance of this size is solved in milliseconds; real features lose nothing that 30 videos could teach
_SAMPLED_ROWS = 8_000
_SPARE_DIRECTIONS = 32
_LONGEST_LAG, _FORGOTTEN = 60, 0.05


@dataclass(frozen=True)
class Whitening:
    """One unit per column (D,), and main directions (D, d) where D is large."""

    unit: npt.NDArray[np.float32]
    directions: npt.NDArray[np.float32] | None = None

    @property
    def width(self) -> int:
        """Columns of a described row."""
        return len(self.unit) if self.directions is None else self.directions.shape[1]

    def describe(self, rows: Floats) -> npt.NDArray[np.float32]:
        """(T, D) of one video -> (T, d)."""
        scaled = centred(rows) / self.unit
        return np.asarray(scaled if self.directions is None else scaled @ self.directions, dtype=np.float32)

    def fold_into(self, weights: Floats) -> npt.NDArray[np.float32]:
        """(C, D) whose products with centred rows are those of weights (C, d) with described ones: one narrow product instead of two."""
        back = weights if self.directions is None else weights @ self.directions.T
        return np.ascontiguousarray(back / self.unit, dtype=np.float32)


def autocorrelation_time(videos: Sequence[Floats]) -> float:
    """How many seconds in a row say about the same: the integrated autocorrelation of described rows, 1 when each second is new.

    >>> round(autocorrelation_time([np.repeat(np.random.default_rng(0).normal(size=(500, 3)), 4, axis=0)]))
    4
    """
    own = _alike_after(videos, 0)
    if own <= 0:
        return 1.0
    total = 1.0
    for lag in range(1, _LONGEST_LAG + 1):
        alike = _alike_after(videos, lag) / own
        if alike < _FORGOTTEN:
            break
        total += 2 * alike
    return total


def _alike_after(videos: Sequence[Floats], lag: int) -> float:
    """The mean product of a row and the one so many seconds later."""
    product, count = 0.0, 0
    for rows in videos:
        if len(rows) >= lag + 2:
            product += float((rows[: len(rows) - lag] * rows[lag:]).sum())
            count += len(rows) - lag
    return product / max(count, 1)


def centred(rows: Floats) -> npt.NDArray[np.float32]:
    """Rows of one video without their mean."""
    single = as_float32(rows)
    return single - single.mean(axis=0, dtype=np.float64).astype(np.float32)


def fit_whitening(videos: Sequence[Floats]) -> Whitening:
    """The basis of some videos' rows; columns that never change are switched off."""
    n_rows, width = sum(len(rows) for rows in videos), videos[0].shape[1]
    every = max(1, n_rows // _SAMPLED_ROWS)
    squares, sampled = np.zeros(width), []
    for rows in videos:
        around = centred(rows)
        squares += np.einsum("td,td->d", around, around, dtype=np.float64)
        if width > LARGEST_WIDTH:
            sampled.append(around[::every].copy())
    unit = np.sqrt(squares / n_rows)
    dead = unit < 1e-6 * max(float(unit.max()), 1e-12)
    unit[dead | (unit == 0)] = np.inf
    unit = unit.astype(np.float32)
    if width <= LARGEST_WIDTH:
        return Whitening(unit)
    return Whitening(unit, principal_directions((rows / unit for rows in sampled), LARGEST_WIDTH))


def principal_directions(pieces: Iterable[Floats], n_directions: int) -> npt.NDArray[np.float32]:
    """(D, d) orthonormal main directions of stacked rows, by one turn of a randomised range finder on the side of the columns."""
    sample = np.concatenate(list(pieces))
    kept = min(n_directions, *sample.shape)
    image = np.random.default_rng(0).normal(size=(sample.shape[1], kept + _SPARE_DIRECTIONS)).astype(np.float32)
    for _ in range(2):
        image = np.linalg.qr(sample.T @ (sample @ image))[0]
    inside = sample @ image
    _, turned = np.linalg.eigh(inside.T @ inside)  # least first
    return np.ascontiguousarray(image @ turned[:, ::-1][:, :kept], dtype=np.float32)
