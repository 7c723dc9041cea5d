from itertools import combinations, product

import numpy as np
import pytest
from scipy.optimize import minimize

from crosstask.learning.baselines.discriminative_clustering import (
    DiffracSettings,
    diffrac,
    linear_map,
    ridge_factor,
    ridge_problem,
)


def problem(seed, n_videos=3, n_segments=5, n_steps=2, n_dimensions=4, windows=False):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_videos * n_segments, n_dimensions))
    allowed = [np.ones((n_segments, n_steps), bool) for _ in range(n_videos)]
    if windows:
        for places in allowed:
            places[3:, 0] = places[:2, 1] = False
    return X, allowed


def loss_of_best_map(X, Y, ridge):
    """h(Y) from its definition: fit, then measure."""
    Xc = X - X.mean(axis=0)
    r = ridge * (Xc**2).sum() / X.shape[1]
    W = np.linalg.solve(Xc.T @ Xc + r * np.eye(X.shape[1]), Xc.T @ Y)
    residual = Y - Y.mean(axis=0) - Xc @ W
    return ((residual**2).sum() + r * (W**2).sum()) / (2 * len(X))


def placements(places):
    n_segments, n_steps = places.shape
    for times in combinations(range(n_segments), n_steps):
        if all(places[t, k] for k, t in enumerate(times)):
            Y = np.zeros(places.shape)
            Y[list(times), range(n_steps)] = 1
            yield Y


@pytest.mark.parametrize("n_dimensions", [3, 40])  # fewer and more columns than rows
def test_the_factored_ridge_is_the_ridge(n_dimensions):
    X, _ = problem(0, n_dimensions=n_dimensions)
    Y = np.random.default_rng(1).standard_normal((len(X), 2))
    found = ridge_problem(X, 0.3)
    U = ridge_factor(found, np.arange(len(X)))
    weights = linear_map(found, Y)
    fitted = X @ weights[:, :-1].T + weights[:, -1]
    assert np.allclose(U @ (U.T @ Y) + Y.mean(axis=0), fitted)


@pytest.mark.parametrize("n_dimensions", [4, 30])
@pytest.mark.parametrize("windows", [False, True])
def test_the_objective_never_increases_and_the_gap_closes(n_dimensions, windows):
    X, allowed = problem(2, n_videos=4, n_segments=8, n_steps=3, n_dimensions=n_dimensions, windows=windows)
    found = diffrac(X, allowed, DiffracSettings(ridge=0.5, iterations=4000, gap=0.0))
    assert (np.diff(found.objectives) <= 1e-12).all()
    without_a_map = 12 * (1 - 4 / len(X)) / (2 * len(X))  # h of any labelling when W = 0
    assert found.gaps[-1] < 1e-3 * without_a_map and min(found.gaps) >= -1e-12
    assert found.objectives[-1] == pytest.approx(loss_of_best_map(X, np.concatenate(found.relaxed), 0.5), abs=1e-4)
    assert found.rounded_objective >= found.objectives[-1] - found.gaps[-1] - 1e-12


def test_the_relaxed_optimum_equals_a_general_convex_solvers():
    X, allowed = problem(3, n_videos=2, n_segments=4, n_steps=2, windows=True)
    found = diffrac(X, allowed, DiffracSettings(ridge=0.5, iterations=5000, gap=1e-6))
    vertices = [np.array(list(placements(places))) for places in allowed]  # per video (P, T, K)
    sizes = [len(v) for v in vertices]

    def loss(weights):
        parts = np.split(weights, np.cumsum(sizes)[:-1])
        Y = np.concatenate([np.tensordot(w, v, 1) for w, v in zip(parts, vertices, strict=True)])
        return loss_of_best_map(X, Y, 0.5)

    sums = [
        {"type": "eq", "fun": lambda w, a=a, b=b: w[a:b].sum() - 1}
        for a, b in zip(np.cumsum([0, *sizes[:-1]]), np.cumsum(sizes), strict=True)
    ]
    start = np.concatenate([np.full(n, 1 / n) for n in sizes])
    best = minimize(loss, start, bounds=[(0, 1)] * sum(sizes), constraints=sums, method="SLSQP", options={"ftol": 1e-12})
    assert best.success
    assert found.objectives[-1] == pytest.approx(best.fun, abs=2e-5)
    assert found.objectives[-1] - found.gaps[-1] <= best.fun + 1e-9


def test_a_worked_case_of_the_published_form():
    """Two equal videos with X = 0, 1, 2 and two steps. The mean of the orders (0,1), (0,2), (1,2) is Y = (2/3, 1/3, 0), (0, 1/3, 2/3).

    Centred, XᵀX = 4 and XᵀY = -4/3, 4/3; the published lambda is 1 / (K V) = 1/4, so r = N / 4 = 1.5 and W = -+(4/3) / 5.5 = -+8/33.
    """
    X = np.array([[0.0], [1.0], [2.0], [0.0], [1.0], [2.0]])
    found = diffrac(X, [np.ones((3, 2), bool)] * 2, DiffracSettings(iterations=1, gap=0.0))
    assert found.weights == pytest.approx(np.array([[-8 / 33, 1 / 3 + 8 / 33], [8 / 33, 1 / 3 - 8 / 33]]))
    assert [times.tolist() for times in found.times] == [[0, 2], [0, 2]], "scores fall for the first step and rise for the second"
    refitted = diffrac(X, [np.ones((3, 2), bool)] * 2, DiffracSettings(iterations=1, gap=0.0, refit=True))
    assert refitted.weights[:, 0] == pytest.approx([-2 / 5.5, 2 / 5.5]), "the map of the integer labels (0, 2)"


def test_the_map_is_that_of_the_relaxed_labels_with_the_best_rounding():
    X, allowed = problem(6, n_videos=3, n_segments=6, n_steps=2)
    found = diffrac(X, allowed, DiffracSettings(ridge=0.5, iterations=1))
    mean = np.zeros((6, 2))
    for labels in placements(allowed[0]):
        mean += labels
    Y = np.concatenate([mean / 15] * 3)
    assert found.weights == pytest.approx(linear_map(ridge_problem(X, 0.5), Y))


def test_the_rounding_is_near_the_best_of_all_labellings():
    X, allowed = problem(4, n_videos=2, n_segments=4, n_steps=2)
    found = diffrac(X, allowed, DiffracSettings(ridge=0.5, iterations=500, refit=True))
    everything = [loss_of_best_map(X, np.concatenate(Y), 0.5) for Y in product(*(list(placements(a)) for a in allowed))]
    rounded = np.zeros((8, 2))
    for video, times in enumerate(found.times):
        rounded[4 * video + times, [0, 1]] = 1
    assert loss_of_best_map(X, rounded, 0.5) == pytest.approx(found.rounded_objective)
    assert min(everything) - 1e-12 <= found.rounded_objective <= np.quantile(everything, 0.2)


def test_a_planted_step_is_found():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((20 * 30, 6)) * 0.3
    truth = np.sort(np.array([rng.choice(30, 3, replace=False) for _ in range(20)]), axis=1)
    for video, times in enumerate(truth):
        X[30 * video + times, range(3)] += 4
    found = diffrac(X, [np.ones((30, 3), bool)] * 20, DiffracSettings(ridge=0.01))
    assert (np.array(found.times) == truth).mean() > 0.9


@pytest.mark.parametrize("bad", [{"ridge": 0}, {"iterations": 0}])
def test_settings_without_a_meaning_are_refused(bad):
    with pytest.raises(ValueError, match="expected"):
        DiffracSettings(**bad)
