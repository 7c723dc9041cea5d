import numpy as np
import pytest
import torch

from crosstask.learning.zhukov19.component_model import (
    component_scores,
    gradient_norms,
    log_softmax,
    step_scores,
    upper_bound_cost,
)
from learning.zhukov19.problems import random_problem


@pytest.mark.parametrize("seed", range(5))
def test_gradient_norms_equal_autodiff(seed):
    rng = np.random.default_rng(seed)
    M, K, D, T = 7, 4, 5, 6
    A = (rng.random((K, M)) < 0.4).astype(float)
    A[np.arange(K), rng.integers(M, size=K)] = 1
    averaging = A / A.sum(axis=1, keepdims=True)
    X, P = rng.standard_normal((T, D)), rng.standard_normal((M, D + 1))
    f = step_scores(component_scores(X, P), A)
    norms = gradient_norms(f, averaging, (X**2).sum(axis=1))
    weights = torch.tensor(P, requires_grad=True)
    for t in range(T):
        for k in range(K):
            scores = torch.tensor(averaging) @ (weights[:, :-1] @ torch.tensor(X[t]) + weights[:, -1])
            (gradient,) = torch.autograd.grad(-torch.log_softmax(scores, 0)[k], weights)
            assert norms[t, k] == pytest.approx(float((gradient**2).sum()), rel=1e-6)
    cost = upper_bound_cost(f, averaging, (X**2).sum(axis=1), 0.2)
    assert np.allclose(cost, -log_softmax(f) - 0.1 * norms)


def test_renumbering_components_changes_no_score():
    rng = np.random.default_rng(0)
    X, P = rng.standard_normal((6, 5)), rng.standard_normal((7, 6))
    A = (rng.random((3, 7)) < 0.6).astype(float) + np.eye(3, 7)
    A = np.minimum(A, 1)
    order = rng.permutation(7)
    assert np.allclose(step_scores(component_scores(X, P), A), step_scores(component_scores(X, P[order]), A[:, order]))


def test_random_problems_are_reproducible():
    first, again = random_problem(3), random_problem(3)
    assert np.array_equal(first[0], again[0]) and np.array_equal(first[1].allowed, again[1].allowed)
