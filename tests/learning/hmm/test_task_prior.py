"""The prior of a task by worked examples, and its update against one written number by number."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crosstask.learning.hmm.task_prior import (
    DECODING_WEIGHT,
    TRAINING_WEIGHT,
    PositionWeight,
    PriorCounts,
    TaskPrior,
    initial_prior,
    update_prior,
    zero_counts,
)
from oracles import position_log_ratios_by_interpolation, updated_prior_by_loops


def test_initial_prior_of_two_steps():
    prior = initial_prior(2)
    assert prior.duration.tolist() == pytest.approx([0.5, 0.5])  # 0.7 of the video, two steps, each in 0.7 of the videos
    assert prior.background_duration == pytest.approx(0.2)  # 0.3 of the video, and three places for half as much background
    assert prior.presence.tolist() == [0.7, 0.7] and prior.trained
    assert np.allclose(prior.position.mean(axis=0), 1.001) and np.allclose(prior.position[:, 2], 1.001)
    assert np.allclose(prior.position[:, 0], prior.position[::-1, 1])  # centres 1/4 and 3/4
    density, deviation = prior.position[:, 0] - 0.001, 0.5 / 2**0.5
    expected = np.exp(-0.5 * ((0.025 - 0.25) / deviation) ** 2) / np.exp(-0.5 * ((0.525 - 0.25) / deviation) ** 2)
    assert density[0] / density[10] == pytest.approx(expected)


def test_position_is_interpolated_between_the_centres_of_bins():
    rising = np.arange(1.0, 21.0)
    prior = TaskPrior(np.stack([rising, np.ones(20)], axis=1), np.ones(1), 0.1, np.ones(1))
    at_centres = prior.position_log_ratios(20, PositionWeight(20.0, 1.0))
    assert np.allclose(np.exp(at_centres[:, 0]), rising) and (at_centres[:, 1] == 0).all()
    between = np.exp(prior.position_log_ratios(10, PositionWeight(10.0, 1.0))[:, 0])
    assert np.allclose(between, np.arange(1.5, 20, 2))
    ends = np.exp(prior.position_log_ratios(40, PositionWeight(40.0, 1.0))[[0, -1], 0])
    assert np.allclose(ends, [1.0, 20.0])  # constant outside the outermost centres


def test_weight_of_the_position_falls_with_the_length_of_the_video():
    prior = initial_prior(3)
    density = prior.position_log_ratios(120, PositionWeight(120.0, 1.0))
    assert np.allclose(prior.position_log_ratios(120), 4 * 3 / 120 * density)
    assert np.allclose(prior.position_log_ratios(120, DECODING_WEIGHT), 10 * 3 / 120 * density)
    assert np.allclose(prior.position_log_ratios(12), 0.3 / 0.5 * prior.position_log_ratios(12, DECODING_WEIGHT))
    assert TRAINING_WEIGHT == (4.0, 0.3)


@given(st.integers(1, 70), st.integers(1, 4))
def test_position_equals_interpolation(T, K):
    prior = initial_prior(K)
    assert np.allclose(prior.position_log_ratios(T), position_log_ratios_by_interpolation(prior, T, 4.0, 0.3))


def test_self_transitions_give_the_mean_durations():
    prior = replace(initial_prior(2), duration=np.array([0.25, 0.01]), background_duration=0.5)
    assert prior.self_transition(8).tolist() == pytest.approx([1 - 1 / 2, 1 - 1 / 1.01])  # at least 1.01 segments
    assert prior.background_self_transition(8) == pytest.approx(1 - 1 / 4)
    assert prior.background_self_transition(1) == pytest.approx(1 - 1 / 1.01)


def test_counts_are_shares_of_the_video_by_bin():
    counts = zero_counts(1)
    labels = np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0], [0.0, 1.0]])
    counts.add(labels, np.array([0.9]))
    expected = np.zeros((20, 2))
    expected[[2, 7, 12, 17]] = labels / 4  # relative times 1/8, 3/8, 5/8, 7/8
    assert np.array_equal(counts.histogram, expected) and counts.starts.tolist() == [0.9] and counts.videos == 1
    counts.add(np.tile([[0.25, 0.75]], (40, 1)), np.array([0.4]))
    assert np.allclose(counts.histogram, expected + np.array([0.25, 0.75]) / 20)
    assert counts.starts.tolist() == pytest.approx([1.3]) and counts.videos == 2


def test_update_from_ten_videos():
    """One step, in nine of ten videos, a fifth of each video long, always in bin 10."""
    histogram = np.zeros((20, 2))
    histogram[10, 0], histogram[:, 1] = 2.0, 8.0 / 20
    found = update_prior(PriorCounts(histogram, np.array([9.0]), 10), initial_prior(1))
    assert found.presence.tolist() == pytest.approx([(9 + 7) / 20])
    assert found.duration.tolist() == pytest.approx([(2 + 10 * 1.0) / (9 + 10)])
    assert found.background_duration == pytest.approx(2 * 0.8 / 1.7)  # intervals: one more than steps shown, 0.7 + 1
    assert np.allclose(found.position[:, 1], 1.0)
    weights = np.exp(-0.5 * (np.arange(-4, 5) / 1.5) ** 2)
    expected = np.full(20, 0.01)
    expected[6:15] += 2 * weights / weights.sum()
    assert np.allclose(found.position[:, 0], expected / 2.2 * 20)


@pytest.mark.parametrize("seed", range(5))
def test_update_equals_loops(seed):
    rng = np.random.default_rng(seed)
    counts = PriorCounts(rng.random((20, 4)), rng.uniform(0, 6, 3), 6)
    found, expected = update_prior(counts, initial_prior(3)), updated_prior_by_loops(counts)
    for name in ("position", "duration", "background_duration", "presence"):
        assert np.allclose(getattr(found, name), getattr(expected, name)), name


def test_no_step_becomes_certain_or_impossible_and_background_keeps_a_duration():
    counts = PriorCounts(np.zeros((20, 3)), np.array([0.0, 1000.0]), 1000)
    found = update_prior(counts, initial_prior(2))
    assert found.presence.tolist() == [0.05, 0.98] and found.background_duration == 0.01


def test_without_videos_the_prior_stays():
    before = replace(initial_prior(2), background_duration=0.123)
    assert update_prior(zero_counts(2), before) is before
