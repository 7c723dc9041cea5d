"""Starts within five seconds and IoU, by hand."""

import numpy as np
import pytest

from crosstask.metrics.intervals import IntervalMetrics
from crosstask.records import Interval, StepInterval


def test_starts_and_iou_of_two_videos_by_hand():
    metrics = IntervalMetrics()
    starts, ends = np.array([10.0, 30.0]), np.array([20.0, 40.0])
    truth = [StepInterval(0, Interval(15, 25)), StepInterval(1, Interval(0, 5)), StepInterval(1, Interval(35.5, 38))]
    metrics.add("7", (starts, ends), np.array([True, True]), truth, 60)  # start off by 5 s and by 5.5 s
    metrics.add("7", (starts, ends), np.array([False, True]), truth[:1], 60)  # a dropped step is found nowhere
    assert metrics.start_5s() == {"7": 1 / 3}
    assert metrics.iou() == {"7": pytest.approx((5 / 15 + 2.5 / 10) / 3)}


def test_an_interval_that_covers_no_segment_shows_no_step():
    """As for recall: an annotation of no length on a whole second, or after the video."""
    metrics = IntervalMetrics()
    truth = [StepInterval(0, Interval(5, 5)), StepInterval(1, Interval(60, 60.5)), StepInterval(2, Interval(7, 9))]
    metrics.add("7", (np.array([5.0, 59.0, 7.0]), np.array([6.0, 60.0, 9.0])), np.ones(3, dtype=bool), truth, 60)
    assert metrics.start_5s() == metrics.iou() == {"7": 1.0}
