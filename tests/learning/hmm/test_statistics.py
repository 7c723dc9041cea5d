"""Sufficient statistics and their folds against sums over the segments of the videos that remain."""

import numpy as np
import pytest

from crosstask.learning.hmm.class_means import MeanPrior, log_likelihood_ratios
from crosstask.learning.hmm.known_steps import KnownSteps
from crosstask.learning.hmm.statistics import (
    HARD,
    ClassIndex,
    HmmVideo,
    SufficientStatistics,
    assign_folds,
    normalised_labels,
    second_moment_of,
)
from learning.hmm.problems import random_videos
from oracles import (
    log_ratios_by_densities,
    means_by_conditioning,
    statistics_by_sums,
    within_covariance_by_sums,
)


@pytest.fixture
def problem():
    """Videos, classes, random labels (T, K + 1) that sum to 1, folds, and the statistics of all of them."""
    rng = np.random.default_rng(0)
    videos, classes = random_videos(rng, videos_per_task=5)
    labels = [rng.dirichlet(np.ones(classes.n_steps[video.task] + 1), size=len(video.rows)) for video in videos]
    folds = assign_folds(videos, 3)
    statistics = SufficientStatistics(classes, folds, videos)
    for number, (video, found) in enumerate(zip(videos, labels, strict=True)):
        statistics.add(number, video, found)
    return videos, classes, labels, folds, statistics


def test_classes_of_a_task_follow_those_of_earlier_tasks():
    classes = ClassIndex((2, 1, 3), np.eye(9))
    assert [classes.of(task) for task in range(3)] == [slice(0, 3), slice(3, 5), slice(5, 9)]


@pytest.mark.parametrize("seed", range(5))
def test_the_videos_of_a_task_are_spread_over_the_folds(seed):
    tasks = [0] * 7 + [1] * 3 + [2] * 5
    videos = [HmmVideo(task, np.zeros((1, 1), np.float32), np.zeros((1, 1), np.bool_)) for task in tasks]
    folds = assign_folds(videos, 5, seed)
    assert folds == assign_folds(videos, 5, seed) != assign_folds(videos, 5, seed + 5)
    for task, n_videos in ((0, 7), (1, 3), (2, 5)):
        sizes = np.bincount([fold for fold, of in zip(folds, tasks, strict=True) if of == task], minlength=5)
        assert sizes.sum() == n_videos and sizes.max() <= -(-n_videos // 5)


def test_tasks_with_one_video_each_take_different_folds_and_no_fold_is_empty():
    videos = [HmmVideo(task, np.zeros((1, 1), np.float32), np.zeros((1, 1), np.bool_)) for task in range(6)]
    for seed in range(10):
        assert set(assign_folds(videos, 5, seed)) == set(range(max(assign_folds(videos, 5, seed)) + 1))
        assert assign_folds(videos[:1], 5, seed) == [0]
    assert max(assign_folds(videos, 5)) > 0


def test_totals_are_sums_over_segments(problem):
    videos, classes, labels, folds, statistics = problem
    bias = np.linspace(0, 1, len(classes.kernel))
    for without in (None, 0, 1, 2):
        kept = [i for i in range(len(videos)) if folds[i] != without]
        expected = statistics_by_sums([videos[i] for i in kept], [labels[i] for i in kept], classes, bias)
        found = statistics.totals(bias, without)
        assert np.allclose(found.counts, expected.counts) and np.allclose(found.sums, expected.sums, atol=1e-5)
        assert np.array_equal(found.bias, bias)


def test_a_single_fold_is_never_left_out(problem):
    videos, classes, labels, _, _ = problem
    statistics = SufficientStatistics(classes, [0] * len(videos), videos)
    statistics.add(0, videos[0], labels[0])
    bias = np.zeros(len(classes.kernel))
    assert np.array_equal(statistics.totals(bias, without=0).counts, statistics.totals(bias).counts)


def test_weights_without_a_fold_use_the_means_of_the_others_and_the_covariance_of_all(problem):
    videos, classes, labels, folds, statistics = problem
    bias, prior = np.full(len(classes.kernel), 0.3), MeanPrior(noise=2.0)
    second_moment = second_moment_of([video.rows for video in videos])
    of_class = [np.zeros((len(found), len(classes.kernel))) for found in labels]
    for video, found, full in zip(videos, labels, of_class, strict=True):
        full[:, classes.of(video.task)] = found
    rows = np.concatenate([video.rows for video in videos]).astype(np.float64)
    covariance = within_covariance_by_sums(rows, np.concatenate(of_class), prior.ridge)
    weights = statistics.lda_without_each_fold(bias, second_moment, prior)
    assert len(weights) == 3
    for fold, lda in enumerate(weights):
        kept = [i for i in range(len(videos)) if folds[i] != fold]
        remaining = statistics_by_sums([videos[i] for i in kept], [labels[i] for i in kept], classes, bias)
        means = means_by_conditioning(remaining, classes.kernel, prior)
        for task in (0, 1):
            expected = log_ratios_by_densities(rows[:6], means[classes.of(task)], covariance)
            assert np.allclose(log_likelihood_ratios(rows[:6], lda, classes.of(task)), expected, atol=1e-4)


def test_second_moment_is_the_mean_of_outer_products():
    videos = [np.array([[1.0, 2.0]]), np.array([[3.0, 0.0], [0.0, 1.0]])]
    assert np.allclose(second_moment_of(videos), np.array([[1 + 9, 2], [2, 4 + 1]]) / 3)


def test_labels_are_divided_only_where_they_exceed_one():
    assert normalised_labels(np.array([[1.0, 1.0], [0.5, 0.2], [0.0, 0.0]])).tolist() == [[0.5, 0.5], [0.5, 0.2], [0.0, 0.0]]


def test_labels_of_a_person_are_hard_and_the_background_of_a_completely_labelled_video_is_left_out():
    rows, classes = np.arange(8.0, dtype=np.float32).reshape(4, 2), ClassIndex((2,), np.eye(3))
    inside = np.array([[True, False], [False, False], [False, True], [False, False]])
    labels = np.hstack([inside, ~inside.any(axis=1, keepdims=True)]).astype(float)
    complete = KnownSteps(inside, ~inside, np.array([True, True]))
    in_part = KnownSteps(inside & [True, False], ~inside & [True, False], np.array([True, False]))
    for known, weak, hard in ((complete, [0, 0, 0], [1, 1, 0]), (in_part, [0, 1, 2], [1, 0, 0])):
        video = HmmVideo(0, rows, np.zeros((4, 2), dtype=bool), known)
        statistics = SufficientStatistics(classes, [0], [video])
        statistics.add(0, video, labels)
        assert statistics.counts[:, 0].tolist() == [weak, hard]
        assert np.allclose(statistics.sums[HARD, 0, 0], rows[0]) and np.allclose(statistics.sums.sum(axis=(0, 1))[1], rows[2])
