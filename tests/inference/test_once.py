import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crosstask.inference import (
    BadCost,
    NoOrderedAnswer,
    concatenated,
    decode_once,
    decode_once_batch,
)
from crosstask.inference.once import once_into
from inference.costs import costs, smooth, whole, whole_or_forbidden
from oracles import all_increasing_times, best_times_by_enumeration, cost_of_times


def test_worked_by_hand():
    cost = np.array([[3, 0], [0, 5], [9, 1], [0, 2]])
    assert decode_once(cost).tolist() == [1, 2]  # the free times 3 and 0 stand in the wrong order


@given(costs(whole_or_forbidden, fits=False))
def test_equals_enumeration_ties_included(cost):
    expected = best_times_by_enumeration(cost)
    if expected is None:
        with pytest.raises(NoOrderedAnswer):
            decode_once(cost)
    else:
        assert tuple(decode_once(cost)) == expected


@given(costs(st.integers(0, 1).map(float), most_T=6, most_K=3))
def test_every_step_is_as_early_as_in_any_best_answer(cost):
    best = [
        t for t in all_increasing_times(*cost.shape) if cost_of_times(cost, t) == cost_of_times(cost, tuple(decode_once(cost)))
    ]
    assert decode_once(cost).tolist() == np.min(best, axis=0).tolist()


@given(costs(smooth))
def test_cost_is_least_for_any_numbers(cost):
    least = min(cost_of_times(cost.astype(float), t) for t in all_increasing_times(*cost.shape))
    assert cost_of_times(cost.astype(float), tuple(decode_once(cost))) == pytest.approx(least, abs=1e-9)


@given(costs(whole), st.integers(-50, 50), st.data())
def test_invariant_to_a_constant_added_to_all_costs_or_to_one_step(cost, number, data):
    k = data.draw(st.integers(0, cost.shape[1] - 1))
    times = decode_once(cost)
    moved_step = cost.copy()
    moved_step[:, k] += number
    assert (decode_once(cost + number) == times).all()
    assert (decode_once(moved_step) == times).all()


def test_as_many_segments_as_steps_leave_no_choice():
    assert decode_once(np.random.default_rng(0).normal(size=(5, 5))).tolist() == [0, 1, 2, 3, 4]


def test_one_step_goes_to_its_cheapest_segment_and_the_first_of_equals():
    assert decode_once([[3], [1], [2], [1]]).tolist() == [1]


def test_no_steps_need_no_time():
    assert decode_once(np.empty((4, 0))).tolist() == []


def test_planted_path_in_a_long_video_is_found():
    rng = np.random.default_rng(1)
    truth = np.sort(rng.choice(3000, 40, replace=False))
    cost = rng.random((3000, 40)).astype(np.float32)
    cost[truth, np.arange(40)] = -40.0
    assert (decode_once(cost) == truth).all()


def test_argument_is_kept():
    cost = np.random.default_rng(2).random((6, 3))
    before = cost.copy()
    decode_once(cost)
    assert (cost == before).all()


def test_column_order_and_strided_costs_are_fine():
    cost = np.random.default_rng(3).random((20, 6))
    assert (decode_once(np.asfortranarray(cost)) == decode_once(cost)).all()
    assert (decode_once(cost[::2, ::3]) == decode_once(cost[::2, ::3].copy())).all()


def test_too_few_segments_are_an_error_that_names_the_video():
    with pytest.raises(NoOrderedAnswer, match=r"T = 3 segments cannot hold 5 steps in video -a b: give a longer"):
        decode_once(np.zeros((3, 5)), name="-a b")


def test_too_many_infinite_costs_are_an_error_that_names_the_video():
    cost = np.array([[np.inf, 0], [0, np.inf], [np.inf, np.inf]])
    with pytest.raises(NoOrderedAnswer, match=r"no ordered answer in video V: its infinite costs leave no increasing times"):
        decode_once(cost, name="V")


@pytest.mark.parametrize("bad", [np.nan, -np.inf])
def test_an_invalid_cost_is_an_error_that_names_its_place(bad):
    cost = np.zeros((4, 3))
    cost[2, 1] = bad
    with pytest.raises(BadCost, match=rf"cost {bad} at segment 2, step 1 in video V"):
        decode_once(cost, name="V")


def test_other_shapes_are_rejected():
    with pytest.raises(BadCost, match=r"shape \(4,\).*expected \(T, K\)"):
        decode_once(np.zeros(4))


@given(st.lists(costs(whole), max_size=5))
def test_batch_equals_one_by_one(matrices):
    times = decode_once_batch(*concatenated(matrices))
    assert times.tolist() == [t for cost in matrices for t in decode_once(cost)]


def test_batch_errors_name_the_video():
    def place(bad, names=("first", "second")):
        return decode_once_batch(*concatenated([np.zeros((3, 2)), bad]), names=names)

    broken = np.zeros((5, 2))
    broken[4, 1] = np.nan
    with pytest.raises(NoOrderedAnswer, match="T = 3 segments cannot hold 5 steps in video second"):
        place(np.zeros((3, 5)))
    with pytest.raises(NoOrderedAnswer, match="no ordered answer in video number 1 of the batch"):
        place(np.full((3, 2), np.inf), names=None)
    with pytest.raises(BadCost, match="cost nan at segment 4, step 1 in video second"):
        place(broken)
    with pytest.raises(BadCost, match="1 names for 2 videos"):
        place(np.zeros((3, 2)), names=["only one"])


def test_kernel_accepts_larger_work_space_and_returns_false_without_an_answer():
    rng = np.random.default_rng(4)
    value, placed = np.full(40, np.nan), rng.random((50, 40)) < 0.5  # what is left from another video does not matter
    cost, times = rng.random((30, 6)), np.full(6, -7)
    assert once_into(cost, value, placed, times)
    assert (times == decode_once(cost)).all()
    untouched = np.full(6, -7)
    assert not once_into(np.full((30, 6), np.nan), value, placed, untouched)
    assert not once_into(cost[:5], value, placed, untouched)
    assert (untouched == -7).all()
