"""Feature scaling: rows are centred within their video, divided by one deviation per dimension, and wide features projected.

Centring within the video removes what a whole video shares (camera, kitchen, loudness), which says nothing about steps. Features wider than
`LARGEST_WIDTH` are projected onto their principal directions, found by randomised subspace iteration (Halko et al. 2011) on a sample of rows.
"""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from crosstask.learning.float16 import as_float32

Floats = npt.NDArray[np.floating]
Part = TypeVar("Part")
LARGEST_WIDTH = 512  # dimensions; a covariance of this size is solved in milliseconds
_SAMPLED_ROWS = 8_000  # rows of all videos together from which the directions are found
_OVERSAMPLING = 32  # directions that the subspace iteration finds beyond those that are kept
_ITERATIONS = 2  # of the subspace iteration
_LARGEST_LAG_S = 60  # seconds over which the autocorrelation is summed
_SMALLEST_CORRELATION = 0.05  # the sum stops where the autocorrelation falls below this
_AUTOCORRELATION_ROWS = 100_000  # rows from which the autocorrelation is computed
_SMALLEST_DEVIATION = 1e-12  # where every dimension is constant
_CONSTANT = 1e-6  # a dimension whose deviation is below this share of the largest is constant


@dataclass(frozen=True)
class Whitening:
    """One deviation per dimension (D,), and principal directions (D, d) where D is large."""

    deviation: npt.NDArray[np.float32]
    directions: npt.NDArray[np.float32] | None = None

    @property
    def width(self) -> int:
        """d, the dimensions of a transformed row."""
        return len(self.deviation) if self.directions is None else self.directions.shape[1]

    def transform(self, rows: Floats) -> npt.NDArray[np.float32]:
        """(T, D) of one video -> (T, d)."""
        scaled = centred(rows) / self.deviation
        return np.asarray(scaled if self.directions is None else scaled @ self.directions, dtype=np.float32)

    def fold_into(self, weights: Floats) -> npt.NDArray[np.float32]:
        """(C, D) weights for centred rows that give the products of weights (C, d) with transformed rows."""
        projected = weights if self.directions is None else weights @ self.directions.T
        return np.ascontiguousarray(projected / self.deviation, dtype=np.float32)


def fit_whitening(videos: Sequence[Floats]) -> Whitening:
    """The scaling of some videos' rows (T, D); constant dimensions are switched off by an infinite deviation."""
    n_rows, width = sum(len(rows) for rows in videos), videos[0].shape[1]
    stride = max(1, n_rows // _SAMPLED_ROWS) if width > LARGEST_WIDTH else 0
    (squares, sampled), (further, more) = of_two_halves(lambda part: _squares_and_sample(videos, part, stride), len(videos))
    squares, sampled = squares + further, sampled + more
    deviation = np.sqrt(squares / n_rows)
    constant = deviation < _CONSTANT * max(float(deviation.max()), _SMALLEST_DEVIATION)
    deviation[constant | (deviation == 0)] = np.inf
    deviation = deviation.astype(np.float32)
    if width <= LARGEST_WIDTH:
        return Whitening(deviation)
    return Whitening(deviation, principal_directions((rows / deviation for rows in sampled), LARGEST_WIDTH))


def _squares_and_sample(
    videos: Sequence[Floats], part: range, stride: int
) -> tuple[npt.NDArray[np.float64], list[npt.NDArray[np.float32]]]:
    """(D,) sums of squared centred rows over some of the videos, and every `stride`-th of these rows by video; none if it is 0."""
    squares, sampled = np.zeros(videos[0].shape[1]), []
    for number in part:
        rows = centred(videos[number])
        squares += np.einsum("td,td->d", rows, rows, dtype=np.float64)
        if stride:
            sampled.append(rows[::stride].copy())
    return squares, sampled


def of_two_halves(function: Callable[[range], Part], n_items: int) -> tuple[Part, Part]:
    """The results for the first and the second half of some items, on two threads: the same on any number of cores."""
    middle = n_items // 2
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(function, (range(middle), range(middle, n_items)))
    return first, second


def centred(rows: Floats) -> npt.NDArray[np.float32]:
    """(T, D) rows of one video without their mean."""
    single = as_float32(rows)
    return single - single.mean(axis=0, dtype=np.float64).astype(np.float32)


def principal_directions(pieces: Iterable[Floats], n_directions: int) -> npt.NDArray[np.float32]:
    """(D, d) orthonormal principal directions of stacked rows, by randomised subspace iteration."""
    sample = np.concatenate(list(pieces))
    kept = min(n_directions, *sample.shape)
    subspace = np.random.default_rng(0).normal(size=(sample.shape[1], kept + _OVERSAMPLING)).astype(np.float32)
    for _ in range(_ITERATIONS):
        subspace = np.linalg.qr(sample.T @ (sample @ subspace))[0]
    projected = sample @ subspace
    _, eigenvectors = np.linalg.eigh(projected.T @ projected)  # smallest eigenvalue first
    return np.ascontiguousarray(subspace @ eigenvectors[:, ::-1][:, :kept], dtype=np.float32)


def autocorrelation_time(videos: Sequence[Floats]) -> float:
    """The integrated autocorrelation time of transformed rows in seconds: 1 when each second is independent.

    >>> round(autocorrelation_time([np.repeat(np.random.default_rng(0).normal(size=(500, 3)), 4, axis=0)]))
    4
    """
    videos = videos[:: max(1, sum(len(rows) for rows in videos) // _AUTOCORRELATION_ROWS)]
    variance = _autocovariance(videos, 0)
    if variance <= 0:
        return 1.0
    total = 1.0
    for lag in range(1, _LARGEST_LAG_S + 1):
        correlation = _autocovariance(videos, lag) / variance
        if correlation < _SMALLEST_CORRELATION:
            break
        total += 2 * correlation
    return total


def _autocovariance(videos: Sequence[Floats], lag: int) -> float:
    """The mean product of a row and the row `lag` seconds later."""
    product, count = 0.0, 0
    for rows in videos:
        if len(rows) >= lag + 2:
            product += float((rows[: len(rows) - lag] * rows[lag:]).sum())
            count += len(rows) - lag
    return product / max(count, 1)
