"""Decoders by name, against enumeration of all their answers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crosstask.inference.decoders import DECODERS, decode_scores
from inference.costs import costs
from oracles import best_swapped_times_by_enumeration, best_times_by_enumeration, best_times_with_drops_by_enumeration


@given(costs(most_T=6))
def test_once_and_swaps_maximise_the_sum_of_scores(cost):
    assert tuple(decode_scores(-cost)) == tuple(decode_scores(-cost, "once")) == best_times_by_enumeration(cost)
    assert tuple(decode_scores(-cost, "swaps")) == best_swapped_times_by_enumeration(cost)


@given(st.integers(1, 5), st.integers(1, 3), st.integers(0, 10**6))
def test_drops_maximise_log_probabilities_relative_to_a_random_segment(T, K, seed):
    scores = np.random.default_rng(seed).normal(0, 3, (T, K))
    cost = np.array([[-np.log(np.exp(scores[t, k]) / np.exp(scores[:, k]).sum()) for k in range(K)] for t in range(T)])
    expected = best_times_with_drops_by_enumeration(cost, np.full(K, np.log(T)))
    if T > 1:  # a single segment has probability 1, which ties with a random one
        assert tuple(decode_scores(scores, "drops")) == expected


def test_drops_by_hand():
    """Step 1 stands out before step 0. In order it could only lie where its probability is below 1 / 4, so it is dropped."""
    scores = np.log(np.array([[0.01, 0.85], [0.01, 0.05], [0.97, 0.05], [0.01, 0.05]]))
    assert decode_scores(scores, "once").tolist() == [2, 3]
    assert decode_scores(scores, "swaps").tolist() == [2, 0]
    assert decode_scores(scores, "drops").tolist() == [2, -1]
    shifted = scores + np.array([100.0, -1000.0])  # a constant for all segments of a step changes no probability
    assert decode_scores(shifted, "drops").tolist() == [2, -1]


def test_large_scores_of_any_type_do_not_overflow():
    scores = np.zeros((4, 2), np.float32)
    scores[1, 0] = scores[3, 1] = 1e6
    for decoder in DECODERS:
        assert decode_scores(scores, decoder).tolist() == [1, 3]


def test_an_unknown_decoder_is_rejected():
    with pytest.raises(ValueError, match="decoder 'greedy' is unknown; expected one of once, swaps, drops"):
        decode_scores(np.zeros((3, 2)), "greedy")
