"""The HMM posterior against the sum over all paths."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crosstask.inference.hmm_posterior import hmm_posterior
from oracles import Chain, hmm_posterior_by_enumeration, path_probability


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 5), st.integers(1, 3), st.integers(0, 10**6))
def test_equals_the_sum_over_all_paths(T, K, seed):
    rng = np.random.default_rng(seed)
    log_ratios = rng.normal(0, 2, (T, K + 1))
    chain = Chain(rng.uniform(0.1, 0.9, K), *rng.uniform(0.1, 0.9, 2), rng.uniform(0.1, 0.9, K))
    found, expected = hmm_posterior(log_ratios, *chain), hmm_posterior_by_enumeration(log_ratios, chain)
    assert np.allclose(found.in_step, expected.in_step, atol=1e-9)
    assert np.allclose(found.starts, expected.starts, atol=1e-9)
    assert found.log_likelihood == pytest.approx(expected.log_likelihood)


def test_path_probabilities_by_hand():
    """Two steps; 2 is background. Checks the oracle itself."""
    chain = Chain(np.array([0.5, 0.6]), 0.7, 0.4, np.array([0.8, 0.9]))
    assert path_probability([2, 0, 0, 1], chain) == pytest.approx(0.4 * (0.3 * 0.8) * 0.5 * (0.5 * 0.6 * 0.9))
    assert path_probability([1, 2], chain) == pytest.approx(0.6 * 0.2 * 0.9 * (0.4 * 0.4))  # step 0 skipped
    assert path_probability([0], chain) == pytest.approx(0.6 * 0.8 * 0.1)  # step 1 skipped at the end
    assert path_probability([1, 0], chain) == path_probability([0, 2, 0], chain) == 0  # out of order; twice


def test_probability_of_a_step_is_that_of_its_start():
    found = hmm_posterior(np.random.default_rng(0).normal(size=(8, 4)), [0.5] * 3, 0.5, 0.5, [0.7] * 3)
    assert np.array_equal(found.p_shown, found.starts.sum(axis=0)) and (found.p_shown < 1).all()


def test_is_invariant_to_a_constant_added_to_all_classes_of_a_segment():
    rng = np.random.default_rng(0)
    log_ratios = rng.normal(size=(40, 5))
    arguments = ([0.8] * 4, 0.9, 0.5, [0.7] * 4)
    shifted = log_ratios + rng.normal(size=(40, 1)) * 50
    assert np.allclose(hmm_posterior(log_ratios, *arguments).in_step, hmm_posterior(shifted, *arguments).in_step)


def test_is_finite_for_long_videos_and_large_log_ratios():
    rng = np.random.default_rng(0)
    found = hmm_posterior(1000 * rng.normal(size=(20_000, 9)), [0.99] * 8, 0.99, 0.5, [0.7] * 8)
    assert np.isfinite(found.in_step).all() and (found.p_shown <= 1 + 1e-9).all()


def test_steps_are_found_at_both_ends_of_a_long_video():
    """The product of 20,000 transition probabilities is far below the smallest float."""
    planted = np.zeros((20_000, 2), dtype=bool)
    planted[100:200, 0] = planted[19_000:19_500, 1] = True
    log_ratios = np.hstack([np.where(planted, 5.0, -5.0), np.zeros((20_000, 1))])
    found = hmm_posterior(log_ratios, [0.9, 0.9], 0.9, 0.5, [0.7, 0.7])
    assert np.array_equal(found.in_step > 0.5, planted) and np.allclose(found.p_shown, 1)


def test_wrong_shapes_and_nan_are_rejected():
    with pytest.raises(ValueError, match=r"shape \(4, 2\) do not fit 2 steps; expected \(T, 3\)"):
        hmm_posterior(np.zeros((4, 2)), [0.5, 0.5], 0.5, 0.5, [0.5, 0.5])
    with pytest.raises(ValueError, match="NaN"):
        hmm_posterior(np.full((4, 2), np.nan), [0.5], 0.5, 0.5, [0.5])
