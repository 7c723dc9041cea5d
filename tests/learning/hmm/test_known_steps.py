"""Hard labels: posteriors conditional on them against enumeration, and class means against conditioning of a joint Gaussian."""

import numpy as np
import pytest

from crosstask.learning.hmm.class_means import ClassStatistics, MeanPrior, class_means, mean_coefficients
from crosstask.learning.hmm.em import EmSettings, labels_given_known, mixed_labels, uniform_labels
from crosstask.learning.hmm.known_steps import KnownSteps, start_probabilities
from crosstask.learning.hmm.task_prior import initial_prior
from oracles import chain_of, hmm_posterior_by_enumeration


def known(inside, outside, labelled):
    return KnownSteps(np.array(inside, dtype=bool), np.array(outside, dtype=bool), np.array(labelled, dtype=bool))


def one_moment(T, K, t, k):
    inside = np.zeros((T, K), dtype=bool)
    inside[t, k] = True
    return KnownSteps(inside, np.zeros((T, K), dtype=bool), np.arange(K) == k)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_other_steps_are_conditional_on_a_labelled_moment(seed):
    rng = np.random.default_rng(seed)
    T, K = 6, 3
    ratios, prior = rng.normal(size=(T, K + 1)), initial_prior(K)
    t, k = 2 + seed, 1
    clamped = ratios.copy()
    clamped[t] = -np.inf  # enumeration sums over paths: every path that is not in step k at segment t has probability 0
    clamped[t, k] = 0.0
    expected = hmm_posterior_by_enumeration(np.maximum(clamped, -1e3), chain_of(prior, T))
    labels, starts = labels_given_known(ratios, one_moment(T, K, t, k), prior)
    assert np.allclose(labels, expected.in_step, atol=1e-6)
    assert labels[t].tolist() == [0.0, 1.0, 0.0]
    assert starts[k] == 1 and np.allclose(np.delete(starts, k), np.delete(expected.starts.sum(axis=0), k), atol=1e-6)


def test_a_step_that_is_not_shown_has_no_label():
    T, K = 8, 2
    absent = known(np.zeros((T, K)), np.tile([True, False], (T, 1)), [True, False])
    labels, starts = labels_given_known(np.random.default_rng(0).normal(size=(T, K + 1)), absent, initial_prior(K))
    assert labels[:, 0].max() == 0 and starts[0] == 0 and labels[:, 1].max() > 0
    assert absent.complete.tolist() == [True, False]


def test_labels_against_the_order_of_the_list_are_kept():
    T, K = 10, 2
    inside = np.zeros((T, K), dtype=bool)
    inside[6:8, 0] = inside[1:3, 1] = True
    swapped = KnownSteps(inside, ~inside, np.ones(K, dtype=bool))
    assert not swapped.in_order
    labels, starts = labels_given_known(np.zeros((T, K + 1)), swapped, initial_prior(K))
    assert (labels == inside).all() and starts.tolist() == [1, 1]
    assert swapped.complete.all()


def test_a_repeated_step_is_not_in_order_but_one_interval_is():
    inside = np.zeros((6, 1), dtype=bool)
    inside[[1, 4]] = True
    assert not KnownSteps(inside, ~inside, np.ones(1, dtype=bool)).in_order
    assert KnownSteps(inside, np.zeros_like(inside), np.ones(1, dtype=bool)).in_order  # two moments of one interval


def test_segments_of_two_steps_are_shared():
    inside = np.array([[True, True], [True, False]])
    shared = KnownSteps(inside, ~inside, np.ones(2, dtype=bool))
    assert shared.impose(np.zeros((2, 2))).tolist() == [[0.5, 0.5], [1.0, 0.0]]


def test_unlabelled_steps_of_a_labelled_video_stay_weak():
    """Their labels are the usual mixture, with a posterior conditional on the label; the labelled step takes nothing of its initial label."""
    T, K = 12, 3
    ratios, prior, settings = np.random.default_rng(4).normal(size=(T, K + 1)), initial_prior(K), EmSettings()
    moment = one_moment(T, K, 6, 1)
    initial, no_windows = uniform_labels(T, K), np.zeros((T, K), dtype=bool)
    mixed, _ = mixed_labels(initial, ratios, no_windows, prior, settings, moment)
    conditional, _ = labels_given_known(ratios, moment, prior)
    assert np.allclose(mixed[:, 1], conditional[:, 1], atol=0.2) and mixed[6].tolist() == [0, 1, 0]
    assert not np.allclose(mixed[:, 0], conditional[:, 0], atol=0.01)  # part of its label is even spacing


def test_probability_of_being_shown_follows_the_labels():
    absent = known(np.zeros((3, 2)), [[True, False]] * 3, [True, False])
    assert start_probabilities(absent, np.array([0.4, 0.6])).tolist() == [0.0, 0.6]


@pytest.mark.parametrize("seed", [0, 1])
def test_means_from_weak_and_hard_labels_equal_conditioning(seed):
    """A class mean has up to two observations, with variance noise / n + bias (weak) and noise / n (hard)."""
    rng = np.random.default_rng(seed)
    C, d, prior = 4, 2, MeanPrior(noise=3.0)
    words = rng.random((C, 5))
    kernel = words @ words.T
    weak, hard = rng.random(C) * 9 + 1, np.array([0.0, 2.0, 7.0, 0.0])
    weak_means, hard_means, bias = rng.normal(size=(C, d)), rng.normal(size=(C, d)), rng.random(C)
    statistics = ClassStatistics(weak, weak_means * weak[:, None], bias, hard, hard_means * hard[:, None])
    found = class_means(mean_coefficients(statistics, kernel, prior), kernel, prior)
    covariance = prior.shared * kernel + prior.own * np.eye(C)
    observed = np.vstack([np.eye(C), np.eye(C)[hard > 0]])
    y = np.vstack([weak_means, hard_means[hard > 0]])
    variance = np.concatenate([prior.noise / weak + bias, prior.noise / hard[hard > 0]])
    gain = covariance @ observed.T @ np.linalg.inv(observed @ covariance @ observed.T + np.diag(variance))
    assert np.allclose(found, gain @ y, atol=1e-6)
