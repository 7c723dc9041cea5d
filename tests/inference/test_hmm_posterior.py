"""Against the same walk written as a sum over all labellings."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crosstask.inference.hmm_posterior import hmm_posterior


def walk_probability(labels, K, stay, rest_stay, pause, presence):
    """Prior probability of a labelling (K = background), with the ways through the junctions written out."""

    def through(done, target):
        """From a junction after `done` steps to the start of step `target`, or (target = K) to the end."""
        skipped = np.prod([1 - presence[k] for k in range(done, target)])
        return skipped * (presence[target] if target < K else 1.0)

    probability, done = 1.0, 0
    for t, now in enumerate(labels):
        if t == 0:
            if now == K:
                probability *= pause
            else:
                probability *= (1 - pause) * through(0, now)
                done = now + 1
            continue
        before = labels[t - 1]
        if before == K:
            if now == K:
                probability *= rest_stay
            elif now >= done:
                probability *= (1 - rest_stay) * through(done, now)
                done = now + 1
            else:
                return 0.0
        elif now == before:
            probability *= stay[before]
        elif now == K:
            probability *= (1 - stay[before]) * pause
        elif now >= done:
            probability *= (1 - stay[before]) * (1 - pause) * through(done, now)
            done = now + 1
        else:
            return 0.0
    return probability * through(done, K)


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 5), st.integers(1, 3), st.integers(0, 10**6))
def test_posteriors_equal_the_sum_over_all_labellings(T, K, seed):
    rng = np.random.default_rng(seed)
    L = rng.normal(0, 2, (T, K + 1))
    stay, presence = rng.uniform(0.1, 0.9, K), rng.uniform(0.1, 0.9, K)
    rest_stay, pause = rng.uniform(0.1, 0.9, 2)
    total, inside = 0.0, np.zeros((T, K + 1))
    starts = np.zeros((T, K + 1))
    for labels in product(range(K + 1), repeat=T):
        weight = walk_probability(labels, K, stay, rest_stay, pause, presence) * np.exp(L[np.arange(T), labels].sum())
        total += weight
        inside[np.arange(T), labels] += weight
        for t in range(T):
            if t == 0 or labels[t] != labels[t - 1]:
                starts[t, labels[t]] += weight
    found = hmm_posterior(L, stay, rest_stay, pause, presence)
    assert np.allclose(found.in_step, inside[:, :K] / total, atol=1e-9)
    assert np.allclose(found.starts, starts[:, :K] / total, atol=1e-9)
    assert found.log_likelihood == pytest.approx(np.log(total))


def test_adding_a_number_to_a_segment_changes_nothing():
    rng = np.random.default_rng(0)
    L = rng.normal(size=(40, 5))
    arguments = ([0.8] * 4, 0.9, 0.5, [0.7] * 4)
    assert np.allclose(hmm_posterior(L, *arguments).in_step, hmm_posterior(L + rng.normal(size=(40, 1)) * 50, *arguments).in_step)


def test_long_videos_and_strong_evidence_stay_finite():
    rng = np.random.default_rng(0)
    found = hmm_posterior(1000 * rng.normal(size=(20_000, 9)), [0.99] * 8, 0.99, 0.5, [0.7] * 8)
    assert np.isfinite(found.in_step).all() and (found.p_shown <= 1 + 1e-9).all()


def test_misfits_are_refused():
    with pytest.raises(ValueError, match="expected"):
        hmm_posterior(np.zeros((4, 2)), [0.5, 0.5], 0.5, 0.5, [0.5, 0.5])
    with pytest.raises(ValueError, match="NaN"):
        hmm_posterior(np.full((4, 2), np.nan), [0.5], 0.5, 0.5, [0.5])
