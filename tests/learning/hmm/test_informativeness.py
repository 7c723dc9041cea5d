"""Informativeness of training features: seen from the order of the step lists, cross-fitted."""

from dataclasses import replace

import numpy as np
import pytest

from crosstask.inference.narration_evidence import order_gain
from crosstask.learning.hmm.class_means import LdaWeights, MeanPrior, log_likelihood_ratios
from crosstask.learning.hmm.em import EmSettings, estimate_informativeness, fit_em, summarise
from crosstask.learning.hmm.informativeness import cross_fitted_informativeness, feature_evidence
from crosstask.learning.hmm.statistics import ClassIndex, HmmVideo
from crosstask.learning.hmm.task_prior import initial_prior

N_STEPS = 4


def videos_of(rng, strength, n_videos=12, n_segments=48, n_dimensions=8):
    """Videos of one task whose four steps, one after another, have means of some strength."""
    means = strength * rng.normal(size=(N_STEPS, n_dimensions))
    labels = np.arange(n_segments) * N_STEPS // n_segments
    rows = rng.normal(size=(n_videos, n_segments, n_dimensions)) + means[labels]
    return [HmmVideo(0, video.astype(np.float32), np.zeros((n_segments, N_STEPS), np.bool_)) for video in rows]


def fitted(videos, folds=3):
    settings, classes = (
        EmSettings(iterations=4, folds=folds, mean_prior=MeanPrior(noise=20.0)),
        ClassIndex((N_STEPS,), np.eye(N_STEPS + 1)),
    )
    states = []
    fit_em(videos, classes, settings, states.append)
    return estimate_informativeness(videos, classes, settings, states[-1], summarise(videos, classes, settings))


def test_features_that_show_the_steps_are_informative_and_noise_is_not():
    assert fitted(videos_of(np.random.default_rng(0), 2.0)) > 0.8
    assert np.mean([fitted(videos_of(np.random.default_rng(seed), 0.0)) for seed in range(4)]) < 0.15


def test_without_a_second_fold_nothing_is_known():
    assert fitted(videos_of(np.random.default_rng(0), 2.0)[:1]) == 0.0


def test_it_is_the_mean_order_gain_with_the_weights_of_the_other_folds():
    """By hand: two videos in two folds, a third of a task with one step, which has no order."""
    rng = np.random.default_rng(1)
    classes = ClassIndex((N_STEPS, 1), np.eye(N_STEPS + 3))
    videos = videos_of(rng, 1.0, n_videos=2)
    single = HmmVideo(1, videos[0].rows, np.zeros((48, 1), np.bool_))
    lda = [LdaWeights(rng.normal(size=(7, 8)).astype(np.float32), rng.normal(size=7).astype(np.float32)) for _ in range(2)]
    priors = [initial_prior(N_STEPS), initial_prior(1)]
    found = cross_fitted_informativeness([*videos, single], classes, [0, 1, 0], lda, priors, 2.0)
    gains = [
        order_gain(feature_evidence(log_likelihood_ratios(video.rows, lda[fold], classes.of(0)), priors[0], 2.0))
        for fold, video in enumerate(videos)
    ]
    assert found == pytest.approx(1 - np.exp(-max(sum(gains) / (2 * N_STEPS), 0)))


def test_evidence_has_the_prior_in_segments():
    prior = replace(initial_prior(2), duration=np.array([0.5, 0.001]))
    found = feature_evidence(np.full((20, 3), 6.0), prior, 3.0)
    assert (found.log_ratios == 2.0).all() and found.log_position.shape == (20, 2)
    assert found.mean_duration.tolist() == [5.0, 1.0], "half of the trained duration, at least a segment"
