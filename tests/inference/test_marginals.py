import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crosstask.inference import (
    BadCost,
    NoOrderedAnswer,
    concatenated,
    decode_once,
    once_marginals,
    once_marginals_in_batch,
    separated,
)
from crosstask.inference.marginals import once_marginals_into
from inference.costs import costs, smooth, whole
from oracles import best_times_by_enumeration, once_marginals_by_enumeration


def once_log_partition(cost):
    """log Z as the kernel returns it."""
    array = np.ascontiguousarray(cost)
    return once_marginals_into(array, np.empty(array.shape[1]), np.empty(array.shape))


@given(costs(st.one_of(smooth, st.just(np.inf)), fits=False))
def test_equal_enumeration(cost):
    if best_times_by_enumeration(cost) is None:
        assert once_log_partition(cost) == -np.inf
        with pytest.raises(NoOrderedAnswer):
            once_marginals(cost)
    else:
        marginals, Z = once_marginals_by_enumeration(cost.astype(float))
        np.testing.assert_allclose(once_marginals(cost), marginals, atol=1e-12)
        assert once_log_partition(cost) == pytest.approx(np.log(Z), abs=1e-9)


@given(costs(smooth), st.floats(-1e6, 1e6))
def test_invariant_to_a_constant_added_to_all_costs(cost, number):
    cost = cost.astype(float)
    np.testing.assert_allclose(once_marginals(cost + number), once_marginals(cost), atol=1e-7)


@pytest.mark.parametrize("scale", [1.0, 1e3, 1e9])
def test_each_step_sums_to_one_and_each_segment_to_at_most_one(scale):
    marginals = once_marginals(scale * np.random.default_rng(0).normal(size=(400, 12)))
    np.testing.assert_allclose(marginals.sum(axis=0), 1.0, atol=1e-12)
    assert marginals.min() >= 0.0
    assert marginals.sum(axis=1).max() <= 1.0 + 1e-12


def test_mode_is_the_label_when_the_answer_is_clear():
    rng = np.random.default_rng(1)
    cost = rng.random((200, 7))
    cost[np.sort(rng.choice(200, 7, replace=False)), np.arange(7)] = -30.0
    marginals = once_marginals(cost)
    assert (marginals.argmax(axis=0) == decode_once(cost)).all()
    assert marginals.max(axis=0).min() > 0.999


@given(costs(whole, most_T=6, most_K=3))
def test_are_minus_the_gradient_of_the_log_partition(cost):
    cost = cost.astype(float)
    h = 1e-5
    slope = np.empty(cost.shape)
    for place in np.ndindex(cost.shape):
        nudge = np.zeros(cost.shape)
        nudge[place] = h
        slope[place] = (once_log_partition(cost + nudge) - once_log_partition(cost - nudge)) / (2 * h)
    np.testing.assert_allclose(once_marginals(cost), -slope, atol=1e-7)


@given(st.lists(costs(whole), max_size=4))
def test_batch_equals_one_by_one(matrices):
    flat, n_segments, n_steps = concatenated(matrices)
    batch = separated(once_marginals_in_batch(flat, n_segments, n_steps), n_segments, n_steps)
    for cost, marginals in zip(matrices, batch, strict=True):
        np.testing.assert_array_equal(marginals, once_marginals(cost))


def test_errors_name_the_video():
    with pytest.raises(NoOrderedAnswer, match="T = 1 segments cannot hold 2 steps in video b"):
        once_marginals_in_batch(*concatenated([np.zeros((2, 2)), np.zeros((1, 2))]), names=["a", "b"])
    with pytest.raises(NoOrderedAnswer, match="in video V"):
        once_marginals(np.full((3, 2), np.inf), name="V")
    with pytest.raises(BadCost, match="segment 0, step 0 in video V"):
        once_marginals([[np.nan]], name="V")
