"""DIFFRAC under order and windows (Alayrac et al., 2016): square loss, its ridge solved in closed form, labels by Frank-Wolfe.

For one task, X (N, D) holds all rows of its V videos and Y (N, K) the labels: in every video each step has one row, in order, in its window.
With Xc centred and r the ridge, the best linear map leaves a quadratic in Y alone:

    h(Y) = min_{W,b} 1/(2N) (‖Y - X W - 1 b‖² + r ‖W‖²) = 1/(2N) (‖Y‖² - K V²/N - ‖UᵀY‖²),    U Uᵀ = Xc (XcᵀXc + r I)⁻¹ Xcᵀ

since every column of Y sums to V. h is convex; Frank-Wolfe minimises it over the convex hull of all such Y. The linear oracle is the *once* programme of
every video, gap(Y) = <h'(Y), Y - oracle(h'(Y))> bounds how far h(Y) is from the optimum, and each video in turn moves towards its vertex by an exact
line search of its own: never worse than one common step, and in far fewer iterations. Only allowed cells of Y can differ from zero: only their rows of U
are formed, and h' is computed only there.

As published, every relaxed Y is rounded by the programme on the scores of its own linear map; the map of the iterate whose rounding has the
least h is the answer.
With `refit`, the vertices of the iterations are the roundings, and the map is fitted to the integer labels of the best of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from crosstask.inference import decode_once_batch, once_marginals_in_batch
from crosstask.inference.compiled import compiled_with_reordered_sums

Floats = npt.NDArray[np.floating]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class DiffracSettings:
    """How strongly to regularise, and when to stop."""

    ridge: float | None = None  # r in units of N times the mean variance of a feature; None: as published, r = N / (K V)
    refit: bool = False  # fit the map to the best integer labels instead of the relaxed ones
    iterations: int = 300
    gap: float = 1e-3  # relative to h of any labelling under W = 0, (K V - K V²/N) / (2N)

    def __post_init__(self) -> None:
        """Refuse settings without a meaning."""
        if self.ridge is not None and not self.ridge > 0:
            raise ValueError(f"ridge {self.ridge} is out of range; expected a number above 0")
        if self.iterations < 1:
            raise ValueError(f"{self.iterations} iterations are too few; expected at least 1")


class Diffrac(NamedTuple):
    """The linear map (K, D + 1) with the best rounding, its times per video, and objective and gap of every relaxed iterate."""

    weights: npt.NDArray[np.float64]
    times: tuple[Ints, ...]
    relaxed: tuple[npt.NDArray[np.float64], ...]  # (T, K) each
    objectives: tuple[float, ...]
    gaps: tuple[float, ...]
    rounded_objective: float


class Ridge(NamedTuple):
    """X centred, and what is needed to fit any Y: r and the smaller of the two forms XcᵀXc + r I and XcXcᵀ + r I."""

    centred: npt.NDArray[np.float64]
    mean: npt.NDArray[np.float64]
    strength: float
    gram: npt.NDArray[np.float64]  # (min(N, D), min(N, D))

    @property
    def few_columns(self) -> bool:
        """True if XcᵀXc is the smaller form."""
        return len(self.mean) <= len(self.centred)


def ridge_problem(X: Floats, ridge: float | None, n_labels: int = 1) -> Ridge:
    """The ridge problem of X (N, D), its products formed once in the smaller of its two forms; `n_labels` is K V."""
    n_rows, n_dimensions = X.shape
    mean = X.mean(axis=0, dtype=np.float64)
    centred = X - mean  # (N, D) float64
    in_variances = float(np.einsum("nd,nd->", centred, centred)) / n_dimensions
    strength = max(n_rows / n_labels if ridge is None else ridge * in_variances, 1e-12)
    products = centred.T @ centred if n_dimensions <= n_rows else centred @ centred.T
    return Ridge(centred, mean, strength, products + strength * np.eye(len(products)))


def ridge_factor(problem: Ridge, rows: Ints) -> npt.NDArray[np.float64]:
    """(A, min(N, D)): some rows of a factor U, U Uᵀ = Xc (XcᵀXc + r I)⁻¹ Xcᵀ.

    >>> U = ridge_factor(ridge_problem(np.array([[0.0], [1.0], [2.0]]), 1.0), np.array([0, 2]))
    >>> (U @ U.T).round(2).tolist()
    [[0.25, -0.25], [-0.25, 0.25]]
    """
    from scipy.linalg import cholesky, eigh, solve_triangular

    if problem.few_columns:
        lower = cholesky(problem.gram, lower=True)
        return np.ascontiguousarray(solve_triangular(lower, problem.centred[rows].T, lower=True).T)  # Xc L⁻ᵀ
    values, vectors = eigh(problem.gram)
    return np.ascontiguousarray(vectors[rows] * np.sqrt(np.maximum(values - problem.strength, 0.0) / values))


def linear_map(problem: Ridge, Y: Floats) -> npt.NDArray[np.float64]:
    """(K, D + 1): the ridge fit of Y (N, K), bias last."""
    X = problem.centred
    W = np.linalg.solve(problem.gram, X.T @ Y) if problem.few_columns else X.T @ np.linalg.solve(problem.gram, Y)
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
        """(V, K) active rows of the feasible labelling with the least <gradient, Y>; what is not allowed does not matter."""
        return self.cheapest(np.where(self.allowed, gradient, np.inf))

    def cheapest(self, costs: Floats) -> Ints:
        """(V, K) active rows of the labelling of least cost, which is infinite where nothing is allowed."""
        times = decode_once_batch(costs.ravel(), self.n_segments, self.steps_per_video)
        places: Ints = times.reshape(self.n_videos, self.n_steps) + self.first[:-1, None]
        return places

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
    labels = _Labels(allowed)
    problem = ridge_problem(features, settings.ridge, labels.n_steps * labels.n_videos)
    U = ridge_factor(problem, labels.rows)  # (A, R)
    N, K, V = labels.n_rows, labels.n_steps, labels.n_videos
    fixed = K * V * V / N  # K V²/N
    Y, costs = labels.mean_placement(), np.empty((len(U), K))
    UY = np.stack([Y[rows].T @ U[rows] for rows in labels.videos()])  # (V, K, R)
    best, best_places, best_Y = np.inf, labels.oracle(-Y), Y.copy()
    objectives, gaps = [], []
    for _ in range(settings.iterations):
        total = UY.sum(axis=0)  # (UᵀY)ᵀ
        towards_Y = _gradient_into(U, labels.allowed, Y, total, N, costs)
        places = labels.cheapest(costs)
        rounded = places if settings.refit else labels.cheapest(N * costs - Y)  # least sum of -(X W + b)
        value = _rounded_objective(U, labels, rounded, fixed)
        if value < best or (value == best and not settings.refit):  # of equals the published code keeps the last
            best, best_places, best_Y = value, rounded, Y.copy()
        objectives.append((float(np.einsum("ak,ak->", Y, Y)) - fixed - float((total**2).sum())) / (2 * N))
        gaps.append(towards_Y - float(costs[places, np.arange(K)].sum()))
        if gaps[-1] <= settings.gap * (K * V - fixed) / (2 * N):
            break
        _line_search(U, labels.first, places, Y, UY, total)
    nearest = labels.oracle(-Y)
    value = _rounded_objective(U, labels, nearest, fixed)
    if settings.refit and value < best:
        best, best_places = value, nearest
    rows = labels.rows[best_places] - np.concatenate([[0], np.cumsum([len(a) for a in allowed])])[:-1, None]
    weights = linear_map(problem, labels.full(labels.filled(best_places) if settings.refit else best_Y))
    relaxed = np.split(labels.full(Y), np.cumsum([len(places) for places in allowed])[:-1])
    return Diffrac(weights, tuple(rows), tuple(relaxed), tuple(objectives), tuple(gaps), float(best))


def _rounded_objective(U: Floats, labels: _Labels, places: Ints, fixed: float) -> float:
    """h of the labelling with these active rows (V, K)."""
    fitted = float(_squared_sums(U, places))
    return float(labels.n_steps * labels.n_videos - fixed - fitted) / (2 * labels.n_rows)


@compiled_with_reordered_sums
def _squared_sums(U: Floats, places: Ints) -> float:
    """‖UᵀY‖² of a labelling."""
    squares = 0.0
    total = np.empty(U.shape[1])
    for k in range(places.shape[1]):
        total[:] = 0.0
        for video in range(places.shape[0]):
            row = U[places[video, k]]
            for r in range(total.size):
                total[r] += row[r]
        for r in range(total.size):
            squares += total[r] * total[r]
    return squares


@compiled_with_reordered_sums
def _gradient_into(U: Floats, allowed: npt.NDArray[np.bool_], Y: Floats, total: Floats, n_rows: int, gradient: Floats) -> float:
    """Fill `gradient` with h'(Y) (A, K), infinite where nothing is allowed; return <h'(Y), Y>."""
    along_Y = 0.0
    for a in range(U.shape[0]):
        row = U[a]
        for k in range(total.shape[0]):
            if not allowed[a, k]:
                gradient[a, k] = np.inf
                continue
            column, fitted = total[k], 0.0
            for r in range(row.size):
                fitted += row[r] * column[r]
            gradient[a, k] = (Y[a, k] - fitted) / n_rows
            along_Y += gradient[a, k] * Y[a, k]
    return along_Y


@compiled_with_reordered_sums
def _line_search(U: Floats, first: Ints, places: Ints, Y: Floats, UY: Floats, total: Floats) -> None:
    """Move every video towards its places to the least h on that line, in place, given what the videos before it did."""
    for video in range(places.shape[0]):
        slope, curvature = 0.0, 0.0
        for k in range(places.shape[1]):
            for a in range(first[video], first[video + 1]):
                d = (1.0 if a == places[video, k] else 0.0) - Y[a, k]
                slope += Y[a, k] * d
                curvature += d * d
            row, of_video, column = U[places[video, k]], UY[video, k], total[k]
            for r in range(row.size):
                through = row[r] - of_video[r]
                slope -= column[r] * through
                curvature -= through * through
        if slope >= 0:
            continue
        step = 1.0 if curvature <= 0 else min(1.0, -slope / curvature)
        for k in range(places.shape[1]):
            for a in range(first[video], first[video + 1]):
                Y[a, k] += step * ((1.0 if a == places[video, k] else 0.0) - Y[a, k])
            row, of_video, column = U[places[video, k]], UY[video, k], total[k]
            for r in range(row.size):
                moved = step * (row[r] - of_video[r])
                of_video[r] += moved
                column[r] += moved
