from itertools import groupby

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from crosstask.inference import (
    BadCost,
    NoOrderedAnswer,
    decode_once,
    place_each_step_as_run,
    place_runs_without_background,
    runs_marginals,
)
from crosstask.inference.marginals import runs_marginals_into
from inference.costs import costs, smooth, whole, whole_or_forbidden
from oracles import all_ordered_runs, best_runs_by_enumeration, cost_of_labels, runs_marginals_by_enumeration


@st.composite
def costs_with_background(draw, elements=whole):
    cost = draw(costs(elements, most_T=5, most_K=3, fits=False))
    return cost, draw(arrays(np.float64, cost.shape[0], elements=elements))


def test_worked_by_hand():
    cost = np.array([[1, 9], [-4, 9], [2, 9], [-4, 9], [9, 1]])
    assert place_each_step_as_run(cost).tolist() == [0, 1, 1, 1, 2]  # bridging 2 is cheaper than giving up -4


def test_neighbouring_steps_need_no_background_between():
    assert place_each_step_as_run(np.full((3, 3), -1.0)).tolist() == [1, 2, 3]


@given(costs_with_background(whole_or_forbidden))
def test_equals_enumeration_ties_included(given_costs):
    cost, background = given_costs
    expected = best_runs_by_enumeration(cost, background)
    if expected is None:
        with pytest.raises(NoOrderedAnswer):
            place_each_step_as_run(cost, background)
    else:
        assert tuple(place_each_step_as_run(cost, background)) == expected


@given(costs(whole, most_T=5, most_K=3))
def test_without_background_equals_enumeration_over_full_labellings(cost):
    full = [y for y in all_ordered_runs(*cost.shape) if 0 not in y]
    least = min((cost_of_labels(cost, np.zeros(len(cost)), y), y[::-1]) for y in full)
    assert tuple(place_runs_without_background(cost)) == least[1][::-1]


@given(costs(whole), st.integers(-9, 9))
def test_a_number_added_to_everything_moves_nothing(cost, number):
    assert (place_each_step_as_run(cost + number, number) == place_each_step_as_run(cost, 0)).all()


def test_costly_segments_shrink_runs_to_the_once_answer():
    cost = 1.0 + np.random.default_rng(0).random((60, 6))
    labels = place_each_step_as_run(cost)
    assert np.flatnonzero(labels).tolist() == decode_once(cost).tolist()


def test_long_planted_runs_are_found():
    rng = np.random.default_rng(1)
    truth = np.repeat([0, 1, 2, 0, 3, 0], [50, 30, 20, 100, 5, 40])
    cost = 0.3 * rng.normal(size=(245, 3)) + 2.0
    cost[truth > 0, truth[truth > 0] - 1] -= 4.0
    labels = place_each_step_as_run(cost)
    assert [label for label, _ in groupby(labels)] == [0, 1, 2, 0, 3, 0]
    assert (labels == truth).all()


def test_no_steps_leave_background():
    assert place_each_step_as_run(np.empty((3, 0))).tolist() == [0, 0, 0]


def test_refusals_name_the_video():
    with pytest.raises(NoOrderedAnswer, match="T = 2 segments cannot hold 3 steps in video V"):
        place_each_step_as_run(np.zeros((2, 3)), name="V")
    with pytest.raises(NoOrderedAnswer, match="no ordered answer in video V"):
        place_each_step_as_run([[0.0], [np.inf]], background_cost=np.inf, name="V")
    with pytest.raises(BadCost, match="background cost is nan or -inf in video V"):
        place_each_step_as_run(np.zeros((3, 2)), [0, np.nan, 0], name="V")
    with pytest.raises(BadCost, match=r"shape \(2,\) in video V: expected one number or 3"):
        runs_marginals(np.zeros((3, 2)), [0, 0], name="V")


@given(costs_with_background(st.one_of(smooth, st.just(np.inf))))
def test_marginals_equal_enumeration(given_costs):
    cost, background = given_costs
    T, K = cost.shape
    log_partition = runs_marginals_into(cost, background, np.empty(2 * K + 1), np.empty((T, 2 * K + 1, 3)), np.empty((T, K)))
    if best_runs_by_enumeration(cost, background) is None:
        assert log_partition == -np.inf
        with pytest.raises(NoOrderedAnswer):
            runs_marginals(cost, background)
    else:
        marginals, Z = runs_marginals_by_enumeration(cost.astype(float), background)
        np.testing.assert_allclose(runs_marginals(cost, background), marginals, atol=1e-12)
        assert log_partition == pytest.approx(np.log(Z), abs=1e-9)


@pytest.mark.parametrize("scale", [1.0, 1e9])
def test_marginals_are_probabilities_and_every_step_fills_a_segment(scale):
    cost = scale * np.random.default_rng(2).normal(size=(400, 9))
    marginals = runs_marginals(cost)
    assert marginals.min() >= 0.0
    assert marginals.sum(axis=1).max() <= 1.0 + 1e-12
    assert marginals.sum(axis=0).min() >= 1.0 - 1e-12


def test_without_background_marginal_rows_sum_to_one():
    marginals = runs_marginals(np.random.default_rng(3).normal(size=(300, 7)), background_cost=np.inf)
    np.testing.assert_allclose(marginals.sum(axis=1), 1.0, atol=1e-12)


def test_mode_of_marginals_is_the_label_when_the_answer_is_clear():
    cost = 20.0 * np.random.default_rng(4).choice([-1.0, 1.5], size=(40, 4))
    labels = place_each_step_as_run(cost)
    marginals = runs_marginals(cost)
    with_background = np.column_stack([1.0 - marginals.sum(axis=1), marginals])
    sure = with_background.max(axis=1) > 0.99
    assert sure.sum() > 20
    assert (with_background.argmax(axis=1) == labels)[sure].all()
