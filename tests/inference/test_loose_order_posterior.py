"""The posterior of loosely ordered steps: against dense matrix products, and against strict order where nothing jumps back."""

import numpy as np
import pytest

from crosstask.inference.hmm_posterior import hmm_posterior
from crosstask.inference.loose_order_posterior import loose_order_posterior, loose_transitions


def dense_posterior(evidence, stay, background_stay, pause, transitions):
    """States one by one: K steps, then K + 1 backgrounds; forward and backward as matrix products."""
    T, K = len(evidence), len(stay)
    A = np.asarray(transitions)
    move, first, last = np.zeros((2 * K + 1, 2 * K + 1)), np.zeros(2 * K + 1), np.zeros(2 * K + 1)
    for i in range(K + 1):
        move[K + i, K + i] = background_stay
        move[K + i, :K] += (1 - background_stay) * A[i, :K]
        last[K + i] = A[i, K]
    for k in range(K):
        move[k, k] += stay[k]
        move[k, K + k + 1] += (1 - stay[k]) * pause
        move[k, :K] += (1 - stay[k]) * (1 - pause) * A[k + 1, :K]
        last[k] = A[k + 1, K]
    first[K], first[:K] = pause, (1 - pause) * A[0, :K]
    likelihood = np.exp(np.hstack([evidence[:, :K], np.repeat(evidence[:, K:], K + 1, axis=1)]))
    forward, backward = [first * likelihood[0]], [last]
    for t in range(1, T):
        forward.append(forward[-1] @ move * likelihood[t])
        backward.append(move @ (likelihood[T - t] * backward[-1]))
    joint = np.array(forward) * np.array(backward[::-1])
    return (joint / joint.sum(axis=1, keepdims=True))[:, :K]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("backward", [0.0, 0.05, 0.5])
def test_posteriors_equal_those_of_a_dense_chain(seed, backward):
    rng = np.random.default_rng(seed)
    n_segments, n_steps = int(rng.integers(1, 25)), int(rng.integers(1, 6))
    evidence, stay, presence = (
        2 * rng.normal(size=(n_segments, n_steps + 1)),
        rng.uniform(0.1, 0.9, n_steps),
        rng.uniform(0.2, 0.9, n_steps),
    )
    A = loose_transitions(presence, backward, 0.5)
    assert np.allclose(A.sum(axis=1), 1)
    found = loose_order_posterior(evidence, stay, 0.7, 0.4, A)
    assert np.allclose(found, dense_posterior(evidence, stay, 0.7, 0.4, A), atol=1e-8)
    if backward == 0:
        assert np.allclose(found, hmm_posterior(evidence, stay, 0.7, 0.4, presence).in_step, atol=1e-8)


def test_other_shapes_and_nan_are_refused():
    with pytest.raises(ValueError, match="do not fit 2 steps"):
        loose_order_posterior(np.zeros((4, 2)), [0.5, 0.5], 0.5, 0.5, loose_transitions([0.7, 0.7], 0.05, 0.5))
    with pytest.raises(ValueError, match="NaN"):
        loose_order_posterior(np.full((4, 3), np.nan), [0.5, 0.5], 0.5, 0.5, loose_transitions([0.7, 0.7], 0.05, 0.5))
