"""Spans against every interval tried, and absence by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crosstask.inference.absence import absence_thresholds, scores_at
from crosstask.inference.intervals import interval_of_largest_iou, intervals_around, tempered_log_posterior


def ratio(p, a, b):
    inside = p[a:b].sum()
    return inside / (b - a + p.sum() - inside)


@given(st.lists(st.floats(0.01, 1), min_size=1, max_size=9), st.data())
def test_the_span_is_the_best_of_all_intervals(values, data):
    p = np.array(values)
    t = data.draw(st.integers(0, len(p) - 1))
    low, high = data.draw(st.integers(0, t)), data.draw(st.integers(t + 1, len(p)))
    start, end = interval_of_largest_iou(p, t, low, high)
    assert low <= start <= t < end <= high
    best = max(ratio(p, a, b) for a in range(low, t + 1) for b in range(t + 1, high + 1))
    assert ratio(p, start, end) == pytest.approx(best)


def test_spans_hold_their_moment_and_stop_before_the_neighbours():
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


def test_half_floats_change_a_span_by_little():
    inside = np.random.default_rng(1).dirichlet([1, 1, 1], size=30)[:, :2]
    kept = np.log(inside).astype(np.float16)
    assert np.allclose(tempered_log_posterior(kept), tempered_log_posterior(np.log(inside)), atol=0.01)


def test_absent_is_what_scores_low_beside_the_others():
    placed = np.stack([np.arange(20.0), -np.arange(20.0)], axis=1)
    least = absence_thresholds(placed)
    assert (placed < least).sum(axis=0).tolist() == [6, 6]
    assert (absence_thresholds(placed[:9]) == -np.inf).all()  # too few to compare
    assert scores_at(placed, np.array([3, 4])).tolist() == [3, -4]
