from itertools import combinations, product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from crosstask.narration.mentions import mention_posterior


def posterior_by_enumeration(score: np.ndarray, absent: float) -> np.ndarray:
    n_units, n_steps = score.shape
    total, marginals = 0.0, np.zeros_like(score)
    for mentioned in product([False, True], repeat=n_steps):
        steps = [k for k in range(n_steps) if mentioned[k]]
        for units in combinations(range(n_units), len(steps)):
            weight = np.exp(sum(score[l, k] for l, k in zip(units, steps, strict=True)) + absent * (n_steps - len(steps)))
            total += weight
            for l, k in zip(units, steps, strict=True):
                marginals[l, k] += weight
    return marginals / total


@given(st.integers(1, 6), st.integers(1, 4), st.integers(0, 2**32 - 1), st.floats(-3, 3))
@settings(max_examples=60, deadline=None)
def test_mention_posterior_agree_with_enumeration(n_units: int, n_steps: int, seed: int, absent: float) -> None:
    score = np.random.default_rng(seed).normal(size=(n_units, n_steps)) * 2
    np.testing.assert_allclose(mention_posterior(score, absent), posterior_by_enumeration(score, absent), rtol=1e-8, atol=1e-12)


def test_mention_posterior_survive_large_scores() -> None:
    marginals = mention_posterior(np.array([[900.0, -900], [-900, 900]]), 5.0)
    np.testing.assert_allclose(marginals, np.eye(2), atol=1e-12)
