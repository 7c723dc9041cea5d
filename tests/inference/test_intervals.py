"""Intervals around moments, against all intervals that are possible."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crosstask.inference.intervals import interval_of_largest_iou, intervals_around, tempered_log_posterior


def expected_iou(p, a, b):
    inside = p[a:b].sum()
    return inside / (b - a + p.sum() - inside)


@given(st.lists(st.floats(0.01, 1), min_size=1, max_size=9), st.data())
def test_the_interval_has_the_largest_expected_iou(values, data):
    p = np.array(values)
    t = data.draw(st.integers(0, len(p) - 1))
    low, high = data.draw(st.integers(0, t)), data.draw(st.integers(t + 1, len(p)))
    start, end = interval_of_largest_iou(p, t, low, high)
    assert low <= start <= t < end <= high
    best = max(expected_iou(p, a, b) for a in range(low, t + 1) for b in range(t + 1, high + 1))
    assert expected_iou(p, start, end) == pytest.approx(best)


def test_intervals_contain_their_moment_and_end_before_the_neighbours():
    rng = np.random.default_rng(0)
    scores, times = rng.normal(size=(60, 4)), np.array([5, 20, 21, 59])
    starts, ends = intervals_around(scores, times)
    assert (starts <= times).all() and (ends > times).all()
    assert (starts[1:] > times[:-1]).all() and (ends[:-1] <= times[1:]).all()


def test_a_clear_block_is_found_from_any_kind_of_score():
    inside = np.full((40, 2), 0.01)
    inside[5:15, 0] = inside[22:35, 1] = 0.95
    kinds = {
        "log-probabilities": np.log(inside),
        "any scale": 7 * inside,
        "over steps alone": np.log(inside / inside.sum(axis=1, keepdims=True)),
    }
    for name, scores in kinds.items():
        starts, ends = intervals_around(scores, np.array([9, 30]))
        shared = np.minimum(ends, [15, 35]) - np.maximum(starts, [5, 22])
        overlap = shared / (ends - starts + [10, 13] - shared)
        assert (overlap >= (0.99 if name == "log-probabilities" else 0.5)).all(), (name, starts, ends)


def test_float16_scores_change_the_posterior_by_little():
    inside = np.random.default_rng(1).dirichlet([1, 1, 1], size=30)[:, :2]
    kept = np.log(inside).astype(np.float16)
    assert np.allclose(tempered_log_posterior(kept), tempered_log_posterior(np.log(inside)), atol=0.01)


def test_swapped_times_bound_each_other_in_time_order():
    """Steps 0 and 1 lie at segments 12 and 4: the neighbour of a moment is the next moment in time, whatever its step."""
    scores = np.log(np.full((20, 3), 0.3))  # as likely everywhere, so that an interval ends only at a bound
    starts, ends = intervals_around(scores, np.array([12, 4, 16]))
    assert starts.tolist() == [5, 0, 13] and ends.tolist() == [16, 12, 20]


def test_two_steps_at_one_segment_do_not_bound_each_other():
    """A dropped step is given the segment of its best score, which may be that of another step."""
    starts, ends = intervals_around(np.log(np.full((9, 2), 0.4)), np.array([4, 4]))
    assert starts.tolist() == [0, 0] and ends.tolist() == [9, 9]
