"""Thresholds of absence by hand."""

import numpy as np
import pytest

from crosstask.inference.absence import absence_thresholds, scores_at


@pytest.mark.parametrize(("n", "n_absent"), [(10, 3), (11, 3), (20, 6), (25, 8)])
def test_three_tenths_of_the_videos_lie_below_the_threshold(n, n_absent):
    scores = np.stack([np.arange(float(n)), -np.arange(float(n))], axis=1)
    assert (scores < absence_thresholds(scores)).sum(axis=0).tolist() == [n_absent, n_absent]


def test_a_threshold_is_one_of_the_scores():
    scores = np.random.default_rng(0).normal(size=(37, 3))
    found = absence_thresholds(scores)
    assert all(found[k] in scores[:, k] for k in range(3))
    assert (absence_thresholds(scores, share=0.0) == scores.min(axis=0)).all()


def test_equal_scores_are_all_shown():
    assert not (np.ones((12, 1)) < absence_thresholds(np.ones((12, 1)))).any()


def test_with_fewer_than_ten_videos_every_step_counts_as_shown():
    assert (absence_thresholds(np.arange(18.0).reshape(9, 2)) == -np.inf).all()
    assert absence_thresholds(np.zeros((0, 3))).tolist() == [-np.inf] * 3


def test_scores_at_the_segments_of_the_steps():
    scores = np.array([[1, 2, 3], [4, 5, 6]])
    assert scores_at(scores, np.array([1, 0, 1])).tolist() == [4, 2, 6]
