"""EM against iterations written with plain loops and enumeration, and on data generated from the model."""

from dataclasses import replace

import numpy as np
import pytest

from crosstask.learning.hmm.class_means import LdaWeights, MeanPrior, class_means, lda_weights
from crosstask.learning.hmm.em import (
    EmSettings,
    StartingPoint,
    fit_em,
    soft_labels,
    start_from_labels,
    tasks_with_labels,
    uniform_labels,
    window_log_ratios,
)
from crosstask.learning.hmm.known_steps import KnownSteps
from crosstask.learning.hmm.statistics import ClassIndex, HmmVideo, SufficientStatistics, second_moment_of
from crosstask.learning.hmm.task_prior import initial_prior
from learning.hmm.problems import random_videos
from oracles import first_em_step, means_by_conditioning, next_em_step, statistics_by_sums, within_covariance_by_sums

SETTINGS = EmSettings(iterations=3, folds=3, mean_prior=MeanPrior(noise=2.0))


def bias_by_counting(videos, classes, settings):
    """(C,): of a step, the mean over its videos of the window bias where it has a window and the spacing bias where not."""
    biases = [[] for _ in classes.kernel]
    for video in videos:
        for k, c in enumerate(range(*classes.of(video.task).indices(len(classes.kernel)))):
            is_background = k == video.windows.shape[1]
            labelled = is_background or video.windows[:, k].any()
            biases[c].append(settings.window_bias if labelled else settings.spacing_bias)
    return np.array([np.mean(of_class) for of_class in biases])


@pytest.mark.parametrize("p_window", [0.0, 0.6])
@pytest.mark.parametrize("seed", [0, 1])
def test_iterations_equal_plain_loops(seed, p_window):
    videos, classes = random_videos(np.random.default_rng(seed), videos_per_task=4, n_segments=5, p_window=p_window)
    bias = bias_by_counting(videos, classes, SETTINGS)
    states = []
    found = fit_em(videos, classes, SETTINGS, states.append)
    assert found.windows_used == (p_window > 0) and [state.iterations for state in states] == [1, 2, 3]
    step = first_em_step(videos, classes)
    for iteration, state in enumerate(states):
        step = next_em_step(videos, classes, SETTINGS, step, bias) if iteration else step
        expected = statistics_by_sums(videos, step.labels, classes, bias)
        assert np.allclose(state.counts.sum(axis=(0, 1)), expected.counts, atol=1e-4)
        assert np.allclose(state.sums.sum(axis=(0, 1)), expected.sums, atol=1e-4)
        for prior, wanted in zip(state.priors, step.priors, strict=True):
            for name in ("position", "duration", "background_duration", "presence"):
                assert np.allclose(getattr(prior, name), getattr(wanted, name), atol=1e-4), name
    means = class_means(found.coefficients, classes.kernel, SETTINGS.mean_prior)
    assert np.allclose(means, means_by_conditioning(expected, classes.kernel, SETTINGS.mean_prior), atol=1e-3)
    rows, labels = np.concatenate([video.rows for video in videos]), []
    for video, of_video in zip(videos, step.labels, strict=True):
        labels.append(np.zeros((len(video.rows), len(classes.kernel))))
        labels[-1][:, classes.of(video.task)] = of_video
    assert np.allclose(found.covariance, within_covariance_by_sums(rows, np.concatenate(labels), 0.3), atol=1e-4)
    assert found.priors == states[-1].priors


def test_resumed_training_ends_with_the_same_parameters():
    videos, classes = random_videos(np.random.default_rng(3), n_segments=12)
    settings = replace(SETTINGS, iterations=4)
    states = []
    whole = fit_em(videos, classes, settings, states.append)
    for state in states:
        remaining = []
        resumed = fit_em(videos, classes, settings, remaining.append, resume_from=state)
        assert [s.iterations for s in remaining] == list(range(state.iterations + 1, 5))
        assert np.array_equal(resumed.coefficients, whole.coefficients) and np.array_equal(resumed.covariance, whole.covariance)
        for prior, wanted in zip(resumed.priors, whole.priors, strict=True):
            assert np.array_equal(prior.position, wanted.position) and np.array_equal(prior.duration, wanted.duration)


def sampled_video(rng, means, a, a_bg, presence):
    """Rows and states of a video of the model with unit covariance; it ends when no step is left."""
    K, states = len(a), []

    def background():
        states.extend([K] * rng.geometric(1 - a_bg))

    if rng.random() < 0.5:
        background()
    for k in range(K):
        if rng.random() < presence[k]:
            states.extend([k] * rng.geometric(1 - a[k]))
            if rng.random() < 0.5:
                background()
    states = states or [K]
    return (means[states] + rng.normal(size=(len(states), means.shape[1]))).astype(np.float32), states


def test_planted_parameters_are_recovered():
    """150 videos without windows; every second step is rare or short, which even spacing does not know."""
    rng = np.random.default_rng(0)
    means = 4 * np.vstack([np.eye(4), np.zeros(4)])[[0, 1, 2, 4]]  # three steps and background, 4 deviations apart
    a, presence = 1 - 1 / np.array([12.0, 5.0, 9.0]), np.array([0.95, 0.5, 0.9])
    sampled = [sampled_video(rng, means, a, 1 - 1 / 6, presence) for _ in range(150)]
    videos = [HmmVideo(0, rows, np.zeros((len(rows), 3), np.bool_)) for rows, _ in sampled]
    classes = ClassIndex((3,), np.eye(4))
    settings = EmSettings(
        iterations=15, window_weight=0.0, spacing_weight=0.0, spacing_bias=0.0, mean_prior=MeanPrior(noise=1.0, ridge=0.0)
    )
    found = fit_em(videos, classes, settings)
    assert not found.windows_used
    assert np.allclose(class_means(found.coefficients, classes.kernel, settings.mean_prior), means, atol=0.3)
    assert np.allclose(found.covariance, np.eye(4), atol=0.15)
    shown = np.mean([[k in states for k in range(3)] for _, states in sampled], axis=0)
    assert np.allclose(found.priors[0].presence, shown, atol=0.05)
    shares = np.mean([[states.count(k) / len(states) for k in range(3)] for _, states in sampled], axis=0) / shown
    assert np.allclose(found.priors[0].duration, shares, atol=0.06)
    assert (np.argsort(found.priors[0].position.T @ np.arange(20.0))[[0, -1]] == [0, 2]).all()


def labelled_by_a_person(video, states):
    """The video with the true interval of every step as labels; absent steps are labelled as not shown."""
    inside = np.array(states)[:, None] == np.arange(video.windows.shape[1])
    return replace(video, known=KnownSteps(inside, ~inside, np.ones(inside.shape[1], np.bool_)))


def unevenly_spaced_videos(n_videos):
    """Videos of one task whose two steps share the last sixth; features of the steps differ by less than those of early and late background."""
    rng = np.random.default_rng(4)
    videos, states = [], []
    for _ in range(n_videos):
        of_video = [2] * 50 + [0] * 5 + [1] * 5
        rows = rng.normal(size=(60, 3))
        rows[:25, 0] += 3.0
        rows[50:55, 1] += 2.0
        rows[55:, 2] += 2.0
        videos.append(HmmVideo(0, rows.astype(np.float32), np.zeros((60, 2), np.bool_)))
        states.append(of_video)
    return videos, states


def separation(found, settings):
    """How far the means of the two steps stand out from background along their own dimensions; the smaller of both."""
    means = class_means(found.coefficients, np.eye(3), settings.mean_prior)
    return min(means[0, 1] - means[2, 1], means[1, 2] - means[2, 2])


def test_one_labelled_video_leads_the_others():
    """Even spacing puts the first step into the first half, where features change; one labelled video says otherwise."""
    videos, states = unevenly_spaced_videos(8)
    classes = ClassIndex((2,), np.eye(3))
    settings = EmSettings(mean_prior=MeanPrior(noise=1.0))
    corrected = [labelled_by_a_person(videos[0], states[0]), *videos[1:]]
    weak = fit_em(videos, classes, settings)
    assert separation(weak, settings) < 0.5 < 1.0 < separation(fit_em(corrected, classes, settings), settings)
    lda = lda_weights(class_means(weak.coefficients, classes.kernel, settings.mean_prior), weak.covariance)
    continued = fit_em(corrected, classes, replace(settings, iterations=1), start=StartingPoint(lda, weak.priors))
    assert separation(continued, settings) > 1.25  # 1.1 if the first labels come from the weak model


def test_a_starting_point_is_replaced_for_some_tasks_alone():
    classes = ClassIndex((2, 1), np.eye(5))

    def start(value, background_duration):
        priors = tuple(replace(initial_prior(n), background_duration=background_duration) for n in (2, 1))
        return StartingPoint(LdaWeights(np.full((5, 3), value, np.float32), np.full(5, value, np.float32)), priors)

    found = start(1.0, 0.1).replaced_by(start(2.0, 0.2), {1}, classes)
    assert found.lda.weights[:, 0].tolist() == found.lda.offsets.tolist() == [1, 1, 1, 2, 2]
    assert [prior.background_duration for prior in found.priors] == [0.1, 0.2]


def test_start_from_labels_uses_labelled_videos_alone():
    videos, states = unevenly_spaced_videos(4)
    classes = ClassIndex((2, 1), np.eye(5))
    corrected = [labelled_by_a_person(videos[0], states[0]), *videos[1:], HmmVideo(1, videos[1].rows, videos[1].windows[:, :1])]
    assert tasks_with_labels(corrected) == {0} and tasks_with_labels(videos) == frozenset()
    in_part = replace(corrected[0], known=replace(corrected[0].known, labelled=np.array([True, False])))
    assert tasks_with_labels([in_part]) == frozenset()
    settings, second_moment, bias = (
        EmSettings(mean_prior=MeanPrior(noise=1.0)),
        second_moment_of([v.rows for v in corrected]),
        np.ones(5),
    )
    folds = [0] * len(corrected)
    start = start_from_labels(corrected, SufficientStatistics(classes, folds, corrected), bias, second_moment, settings)
    others = [corrected[0], *(replace(v, rows=v.rows[::-1].copy()) for v in corrected[1:])]  # the same second moment
    again = start_from_labels(others, SufficientStatistics(classes, folds, others), bias, second_moment, settings)
    assert np.array_equal(start.lda.weights, again.lda.weights)
    assert start.lda.weights[0] @ corrected[0].rows[50:55].mean(axis=0) > 1 and not start.lda.weights[3:].any()
    assert start.priors[0].position[:, 0].argmax() >= 16 > initial_prior(2).position[:, 0].argmax()
    assert np.array_equal(start.priors[1].position, initial_prior(1).position)


def test_windows_at_random_leave_training_as_without_windows():
    rng = np.random.default_rng(0)
    videos = []
    for _ in range(2500):
        windows = np.zeros((10, 2), dtype=np.bool_)
        for k in range(2):
            windows[rng.integers(10), k] = True
        videos.append(HmmVideo(0, rng.normal(size=(10, 2)).astype(np.float32), windows))
    classes = ClassIndex((2,), np.eye(3))
    settings = replace(SETTINGS, iterations=2)
    found = fit_em(videos, classes, settings)
    without = fit_em([replace(video, windows=np.zeros_like(video.windows)) for video in videos], classes, settings)
    assert not found.windows_used and np.array_equal(found.coefficients, without.coefficients)


def test_initial_labels_are_windows_and_else_even_spacing():
    windows = np.zeros((4, 2), dtype=np.bool_)
    windows[1:3, 1] = True  # step 0 has no window: the first half
    video = HmmVideo(0, np.zeros((4, 1), np.float32), windows)
    labels, starts = soft_labels(video, windows, slice(0, 3), None, initial_prior(2), EmSettings())
    assert labels.tolist() == [[1, 0, 0], [0.5, 0.5, 0], [0, 1, 0], [0, 0, 1]]
    assert starts.tolist() == [0.7, 0.7]


def test_even_spacing_by_hand():
    assert uniform_labels(5, 2).argmax(axis=1).tolist() == [0, 0, 1, 1, 1]
    assert uniform_labels(2, 3).argmax(axis=1).tolist() == [0, 2]


def test_a_window_counts_as_one_observation():
    windows = np.zeros((8, 2), dtype=np.bool_)
    windows[2:4, 0] = True
    found = window_log_ratios(windows)
    assert found.shape == (8, 3) and found[2:4, 0].tolist() == pytest.approx([np.log(5) / 2] * 2)
    assert found.sum() == pytest.approx(np.log(1 + 8 / 2))


def test_the_weight_of_the_evidence_multiplies_the_log_likelihood_ratios():
    videos, classes = random_videos(np.random.default_rng(3), videos_per_task=2, n_segments=5, p_window=0.0)
    video, rng = videos[0], np.random.default_rng(0)
    weights = rng.normal(size=(len(classes.kernel), video.rows.shape[1])).astype(np.float32)
    offsets = rng.normal(size=len(weights)).astype(np.float32)
    prior, of_task = initial_prior(video.windows.shape[1]), classes.of(video.task)
    one = soft_labels(video, video.windows, of_task, LdaWeights(2 * weights, 2 * offsets), prior, SETTINGS)
    other = soft_labels(
        video, video.windows, of_task, LdaWeights(weights, offsets), prior, replace(SETTINGS, evidence_weight=2.0)
    )
    plain = soft_labels(video, video.windows, of_task, LdaWeights(weights, offsets), prior, SETTINGS)
    assert np.allclose(one[0], other[0]) and not np.allclose(one[0], plain[0])
