"""Seconds to segments, by hand and against the segments tried one by one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crosstask.records import Interval
from crosstask.records.interval import segment_at

quarters = st.integers(-8, 60).map(lambda n: n / 4)


@given(quarters, quarters, st.integers(1, 12))
def test_segments_are_those_that_share_time_with_the_interval(start_s, end_s, n_segments):
    touched = [t for t in range(n_segments) if max(t, start_s) < min(t + 1, end_s)]
    if start_s < end_s:
        assert list(Interval(start_s, end_s).segments(n_segments)) == touched


def test_an_interval_outside_the_video_has_no_segment():
    assert list(Interval(12.0, 15.0).segments(10)) == list(Interval(-3.0, -1.0).segments(10)) == []


@given(quarters, quarters)
def test_overlap_is_symmetric_and_at_most_the_shorter_length(a, b):
    one, other = Interval(a, a + 3.0), Interval(b, b + 1.5)
    assert 0 <= one.overlap_s(other) == other.overlap_s(one) <= 1.5


def test_overlap_by_hand():
    assert Interval(0, 4).overlap_s(Interval(3, 9)) == 1 and Interval(0, 4).overlap_s(Interval(4, 9)) == 0
    assert Interval(2.5, 4).length_s == 1.5


@pytest.mark.parametrize(("moment_s", "t"), [(-1.0, 0), (0.0, 0), (3.99, 3), (4.0, 4), (99.0, 9)])
def test_the_segment_of_a_moment(moment_s, t):
    assert segment_at(moment_s, 10) == t
