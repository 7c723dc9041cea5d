import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from crosstask.ordering import BadCost, NoOrderedAnswer, place_each_step_once, place_steps_that_pay
from oracles import best_paying_times_by_enumeration
from ordering.costs import costs, whole_or_forbidden


@given(costs(whole_or_forbidden, most_T=5, most_K=3, fits=False), st.data())
def test_equals_enumeration_ties_included(cost, data):
    absence = data.draw(arrays(np.float64, cost.shape[1], elements=whole_or_forbidden))
    expected = best_paying_times_by_enumeration(cost, absence)
    if expected is None:
        with pytest.raises(NoOrderedAnswer, match="compulsory"):
            place_steps_that_pay(cost, absence)
    else:
        assert tuple(place_steps_that_pay(cost, absence)) == expected


def test_absence_without_end_price_is_the_once_programme():
    cost = np.random.default_rng(0).normal(size=(40, 6))
    assert (place_steps_that_pay(cost, np.inf) == place_each_step_once(cost)).all()


def test_a_step_that_costs_just_its_absence_stays_out():
    assert place_steps_that_pay([[1.0], [2.0]], 1.0).tolist() == [-1]
    assert place_steps_that_pay([[1.0], [2.0]], 1.5).tolist() == [0]


def test_too_short_a_video_keeps_the_steps_that_pay_most():
    assert place_steps_that_pay([[-1.0, -3.0, -2.0]], 0.0).tolist() == [-1, 0, -1]


def test_refusals_name_the_video():
    with pytest.raises(NoOrderedAnswer, match=r"T = 1 segments.*the 2 compulsory of 2 steps"):
        place_steps_that_pay(np.zeros((1, 2)), np.inf)
    with pytest.raises(BadCost, match=r"absence costs \[0.0, nan\] in video V"):
        place_steps_that_pay(np.zeros((3, 2)), [0.0, np.nan], name="V")
    with pytest.raises(BadCost, match="expected one number or 2"):
        place_steps_that_pay(np.zeros((3, 2)), [0.0, 1.0, 2.0])
