import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from crosstask.inference import BadCost, NoOrderedAnswer, decode_once
from crosstask.inference.drops import decode_with_drops
from inference.costs import costs, whole_or_forbidden
from oracles import best_times_with_drops_by_enumeration


@given(costs(whole_or_forbidden, most_T=5, most_K=3, fits=False), st.data())
def test_equals_enumeration_ties_included(cost, data):
    absence = data.draw(arrays(np.float64, cost.shape[1], elements=whole_or_forbidden))
    expected = best_times_with_drops_by_enumeration(cost, absence)
    if expected is None:
        with pytest.raises(NoOrderedAnswer, match="compulsory"):
            decode_with_drops(cost, absence)
    else:
        assert tuple(decode_with_drops(cost, absence)) == expected


def test_infinite_absence_costs_give_the_answer_of_decode_once():
    cost = np.random.default_rng(0).normal(size=(40, 6))
    assert (decode_with_drops(cost, np.inf) == decode_once(cost)).all()


def test_a_step_that_costs_exactly_its_absence_is_dropped():
    assert decode_with_drops([[1.0], [2.0]], 1.0).tolist() == [-1]
    assert decode_with_drops([[1.0], [2.0]], 1.5).tolist() == [0]


def test_a_short_video_keeps_the_cheapest_steps():
    assert decode_with_drops([[-1.0, -3.0, -2.0]], 0.0).tolist() == [-1, 0, -1]


def test_errors_name_the_video():
    with pytest.raises(NoOrderedAnswer, match=r"T = 1 segments.*the 2 compulsory of 2 steps"):
        decode_with_drops(np.zeros((1, 2)), np.inf)
    with pytest.raises(BadCost, match=r"absence costs \[0.0, nan\] in video V"):
        decode_with_drops(np.zeros((3, 2)), [0.0, np.nan], name="V")
    with pytest.raises(BadCost, match="expected one number or 2"):
        decode_with_drops(np.zeros((3, 2)), [0.0, 1.0, 2.0])
