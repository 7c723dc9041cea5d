"""DIFFRAC under order and windows (Alayrac et al., 2016): square loss, its ridge solved in closed form, labels by Frank-Wolfe.

For one task, X (N, D) holds all rows of its V videos and Y (N, K) the labels: in every video each step has one row, in order, in its window.
With Xc centred and r the ridge, the best linear map leaves a quadratic in Y alone:

    h(Y) = min_{W,b} 1/(2N) (‖Y - X W - 1 b‖² + r ‖W‖²) = 1/(2N) (‖Y‖² - K V²/N - ‖UᵀY‖²),    U Uᵀ = Xc (XcᵀXc + r I)⁻¹ Xcᵀ

since every column of Y sums to V. h is convex; Frank-Wolfe walks over the hull of all such Y: the linear oracle is the *once* programme of every
video, gap(Y) = <h'(Y), Y - oracle(h'(Y))> bounds how far h(Y) is from the optimum, and each video walks towards its vertex by an exact line
search of its own, one after another: never worse than one common step, and far fewer of them. Every vertex on the way is a rounding; the
best of them by h is the answer. Only allowed cells of Y can differ from zero: only their rows of U are read.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from crosstask.ordering import once_marginals_in_batch, place_each_step_once_in_batch

Floats = npt.NDArray[np.floating]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class DiffracSettings:
    """How strongly to regularise, and when to stop."""

    ridge: float = 1.0  # r in units of N times the mean variance of a feature
    iterations: int = 300
    gap: float = 1e-3  # relative to h of any labelling under W = 0, (K V - K V²/N) / (2N)

    def __post_init__(self) -> None:
        """Refuse settings without a meaning."""
        if not self.ridge > 0:
            raise ValueError(f"ridge {self.ridge} is out of range; expected a number above 0")
        if self.iterations < 1:
            raise ValueError(f"{self.iterations} iterations are too few; expected at least 1")


class Diffrac(NamedTuple):
    """The linear map (K, D + 1) of the best rounding, its times per video, and objective and gap of every relaxed iterate."""

    weights: npt.NDArray[np.float64]
    times: tuple[Ints, ...]
    relaxed: tuple[npt.NDArray[np.float64], ...]  # (T, K) each
    objectives: tuple[float, ...]
    gaps: tuple[float, ...]
    rounded_objective: float


class Ridge(NamedTuple):
    """X centred, and what is needed to fit any Y: r and the factor U, U Uᵀ = Xc (XcᵀXc + r I)⁻¹ Xcᵀ."""

    centred: npt.NDArray[np.float64]
    mean: npt.NDArray[np.float64]
    strength: float
    factor: npt.NDArray[np.float64]  # (N, min(N, D))


def factored_ridge(X: Floats, ridge: float) -> Ridge:
    """The ridge problem of X (N, D), factored once in the smaller of its two forms.

    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> U = factored_ridge(X, 1.0).factor
    >>> (U @ U.T).round(2).tolist()
    [[0.25, 0.0, -0.25], [0.0, 0.0, 0.0], [-0.25, 0.0, 0.25]]
    """
    from scipy.linalg import cholesky, eigh, solve_triangular

    n_rows, n_dimensions = X.shape
    mean = X.mean(axis=0, dtype=np.float64)
    centred = X - mean  # (N, D) float64
    strength = max(ridge * float(np.einsum("nd,nd->", centred, centred)) / n_dimensions, 1e-12)
    if n_dimensions <= n_rows:
        lower = cholesky(centred.T @ centred + strength * np.eye(n_dimensions), lower=True)
        factor = solve_triangular(lower, centred.T, lower=True).T  # Xc L⁻ᵀ
    else:
        values, vectors = eigh(centred @ centred.T)
        values = np.maximum(values, 0.0)
        factor = vectors * np.sqrt(values / (values + strength))
    return Ridge(centred, mean, strength, np.ascontiguousarray(factor))


def linear_map(problem: Ridge, Y: Floats) -> npt.NDArray[np.float64]:
    """(K, D + 1): the ridge fit of Y (N, K), bias last."""
    X, r = problem.centred, problem.strength
    n_rows, n_dimensions = X.shape
    few_columns = n_dimensions <= n_rows
    gram = (X.T @ X if few_columns else X @ X.T) + r * np.eye(min(X.shape))
    W = np.linalg.solve(gram, X.T @ Y) if few_columns else X.T @ np.linalg.solve(gram, Y)
    b = Y.mean(axis=0) - problem.mean @ W
    return np.concatenate([W.T, b[:, None]], axis=1)


class _Labels:
    """The cells where labels may lie: rows with an allowed step, one video after another."""

    def __init__(self, allowed: Sequence[npt.NDArray[np.bool_]]) -> None:
        starts = np.concatenate([[0], np.cumsum([len(places) for places in allowed])])
        kept = [np.flatnonzero(places.any(axis=1)) for places in allowed]
        self.n_videos, self.n_steps, self.n_rows = len(allowed), allowed[0].shape[1], int(starts[-1])
        self.rows = np.concatenate([start + rows for start, rows in zip(starts, kept, strict=False)])  # of X, (A,)
        self.allowed = np.concatenate([places[rows] for places, rows in zip(allowed, kept, strict=True)])  # (A, K)
        self.n_segments = np.array([len(rows) for rows in kept], dtype=np.int64)
        self.first = np.concatenate([[0], np.cumsum(self.n_segments)])
        self.steps_per_video = np.full(self.n_videos, self.n_steps, dtype=np.int64)

    def videos(self) -> list[slice]:
        """The active rows of each video."""
        return [slice(int(a), int(b)) for a, b in pairwise(self.first)]

    def mean_placement(self) -> npt.NDArray[np.float64]:
        """(A, K): the mean of all feasible labellings."""
        costs = np.where(self.allowed, 0.0, np.inf).ravel()
        return once_marginals_in_batch(costs, self.n_segments, self.steps_per_video).reshape(self.allowed.shape)

    def oracle(self, gradient: Floats) -> Ints:
        """(V, K) active rows of the feasible labelling with the least <gradient, Y>."""
        costs = np.where(self.allowed, gradient, np.inf).ravel()
        times = place_each_step_once_in_batch(costs, self.n_segments, self.steps_per_video)
        return times.reshape(self.n_videos, self.n_steps) + self.first[:-1, None]

    def full(self, active: Floats) -> npt.NDArray[np.float64]:
        """(A, K) -> (N, K)."""
        Y = np.zeros((self.n_rows, self.n_steps))
        Y[self.rows] = active
        return Y

    def filled(self, places: Ints) -> npt.NDArray[np.float64]:
        """(V, K) active rows -> (A, K) zeros and ones."""
        Y = np.zeros(self.allowed.shape)
        Y[places, np.arange(self.n_steps)] = 1.0
        return Y


def diffrac(features: Floats, allowed: Sequence[npt.NDArray[np.bool_]], settings: DiffracSettings | None = None) -> Diffrac:
    """Learn one task: features (N, D) of its videos one after another, allowed (T, K) of each video, feasible.

    >>> rng = np.random.default_rng(0)
    >>> found = diffrac(rng.standard_normal((8, 2)), [np.ones((4, 2), bool)] * 2)
    >>> found.weights.shape, [len(t) for t in found.times], found.gaps[-1] <= found.gaps[0]
    ((2, 3), [2, 2], True)
    """
    settings = settings or DiffracSettings()
    labels, problem = _Labels(allowed), factored_ridge(features, settings.ridge)
    U = np.ascontiguousarray(problem.factor[labels.rows])  # (A, R)
    N, K, V = labels.n_rows, labels.n_steps, labels.n_videos
    fixed = K * V * V / N  # K V²/N
    Y = labels.mean_placement()
    UY = np.stack([U[rows].T @ Y[rows] for rows in labels.videos()])  # (V, R, K)
    best, best_places = np.inf, labels.oracle(-Y)
    objectives, gaps = [], []
    for _ in range(settings.iterations):
        total = UY.sum(axis=0)  # UᵀY
        gradient = (Y - U @ total) / N
        places = labels.oracle(gradient)
        US = U[places].transpose(0, 2, 1)  # (V, R, K)
        vertex = (K * V - fixed - float((US.sum(axis=0) ** 2).sum())) / (2 * N)
        if vertex < best:
            best, best_places = vertex, places
        objectives.append((float(np.einsum("ak,ak->", Y, Y)) - fixed - float((total**2).sum())) / (2 * N))
        direction = labels.filled(places) - Y
        gaps.append(-float(np.einsum("ak,ak->", gradient, direction)))
        if gaps[-1] <= settings.gap * (K * V - fixed) / (2 * N):
            break
        _walk(Y, UY, direction, US - UY, labels)
    best, best_places = _rounding(U, labels, labels.oracle(-Y), best, best_places, fixed)
    rows = labels.rows[best_places] - np.concatenate([[0], np.cumsum([len(a) for a in allowed])])[:-1, None]
    weights = linear_map(problem, labels.full(labels.filled(best_places)))
    relaxed = np.split(labels.full(Y), np.cumsum([len(places) for places in allowed])[:-1])
    return Diffrac(weights, tuple(rows), tuple(relaxed), tuple(objectives), tuple(gaps), float(best))


def _walk(Y: Floats, UY: Floats, direction: Floats, along: Floats, labels: _Labels) -> None:
    """Move every video along its direction to the least h on that line, in place, given what the videos before it did."""
    total = UY.sum(axis=0)
    for video, rows in enumerate(labels.videos()):
        d, through = direction[rows], along[video]
        slope = float((Y[rows] * d).sum() - (total * through).sum())
        curvature = float((d * d).sum() - (through * through).sum())
        if slope >= 0:
            continue
        step = 1.0 if curvature <= 0 else min(1.0, -slope / curvature)
        Y[rows] += step * d
        UY[video] += step * through
        total += step * through


def _rounding(U: Floats, labels: _Labels, nearest: Ints, best: float, places: Ints, fixed: float) -> tuple[float, Ints]:
    """The better of the best vertex so far and the labelling nearest to the last relaxed one."""
    US = U[nearest].sum(axis=0)  # (K, R)
    value = (labels.n_steps * labels.n_videos - fixed - float(np.einsum("kr,kr->", US, US))) / (2 * labels.n_rows)
    return (value, nearest) if value < best else (best, places)
