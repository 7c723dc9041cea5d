import numpy as np
import pytest
from hypothesis import given

from crosstask.inference import BadCost, NoOrderedAnswer, decode_once
from crosstask.inference.swaps import decode_with_swaps
from inference.costs import costs, whole_or_forbidden
from oracles import best_swapped_times_by_enumeration


def test_neighbours_are_swapped_where_that_costs_less():
    cost = 1.0 - np.eye(4)[[1, 0, 2, 3]]
    assert decode_with_swaps(cost).tolist() == [1, 0, 2, 3]


def test_a_step_moves_by_one_place_at_most():
    cost = 1.0 - np.eye(3)[[1, 2, 0]]  # the first step last: two swaps of the same step
    times = decode_with_swaps(cost)
    assert cost[times, range(3)].sum() == 2.0


@given(costs(whole_or_forbidden, most_T=6, fits=False))
def test_equals_enumeration_ties_included(cost):
    expected = best_swapped_times_by_enumeration(cost)
    if expected is None:
        with pytest.raises(NoOrderedAnswer):
            decode_with_swaps(cost)
    else:
        assert tuple(decode_with_swaps(cost)) == expected


def test_swaps_never_cost_more_than_list_order():
    rng = np.random.default_rng(0)
    for _ in range(20):
        cost = rng.normal(size=(30, 8))
        total = [cost[place(cost), range(8)].sum() for place in (decode_with_swaps, decode_once)]
        assert total[0] <= total[1]


def test_errors_name_the_video():
    with pytest.raises(NoOrderedAnswer, match="T = 2 segments cannot hold 3 steps in video V"):
        decode_with_swaps(np.zeros((2, 3)), name="V")
    with pytest.raises(BadCost, match="segment 1, step 0 in video V"):
        decode_with_swaps([[0.0], [np.nan]], name="V")
