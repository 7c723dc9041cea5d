import numpy as np
import pytest
from hypothesis import given

from crosstask.ordering import BadCost, NoOrderedAnswer, place_each_step_allowing_swaps, place_each_step_once
from oracles import best_swapped_times_by_enumeration
from ordering.costs import costs, whole_or_forbidden


def test_neighbours_swap_where_it_pays():
    cost = 1.0 - np.eye(4)[[1, 0, 2, 3]]
    assert place_each_step_allowing_swaps(cost).tolist() == [1, 0, 2, 3]


def test_a_step_does_not_travel_further_than_one_place():
    cost = 1.0 - np.eye(3)[[1, 2, 0]]  # the first step last: two swaps of the same step
    times = place_each_step_allowing_swaps(cost)
    assert cost[times, range(3)].sum() == 2.0


@given(costs(whole_or_forbidden, most_T=6, fits=False))
def test_equals_enumeration_ties_included(cost):
    expected = best_swapped_times_by_enumeration(cost)
    if expected is None:
        with pytest.raises(NoOrderedAnswer):
            place_each_step_allowing_swaps(cost)
    else:
        assert tuple(place_each_step_allowing_swaps(cost)) == expected


def test_more_freedom_never_costs_more():
    rng = np.random.default_rng(0)
    for _ in range(20):
        cost = rng.normal(size=(30, 8))
        total = [cost[place(cost), range(8)].sum() for place in (place_each_step_allowing_swaps, place_each_step_once)]
        assert total[0] <= total[1]


def test_refusals_name_the_video():
    with pytest.raises(NoOrderedAnswer, match="T = 2 segments cannot hold 3 steps in video V"):
        place_each_step_allowing_swaps(np.zeros((2, 3)), name="V")
    with pytest.raises(BadCost, match="segment 1, step 0 in video V"):
        place_each_step_allowing_swaps([[0.0], [np.nan]], name="V")
