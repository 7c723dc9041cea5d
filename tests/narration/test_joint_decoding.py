"""Features and narration in one posterior: windows or subtitles, one video or a collection."""

from dataclasses import replace

import numpy as np
import pytest

from crosstask.evaluation.evaluate import evaluate
from crosstask.inference.narration_evidence import (
    ACCURACIES,
    Reliability,
    WindowAccuracy,
    feature_hits,
    independent_hits,
    independent_posterior,
    joint_posterior,
    order_posterior,
    windows_of,
)
from crosstask.methods import method_named
from crosstask.methods.hmm_ensemble import HmmEnsemble
from crosstask.narration.joint_decoding import (
    evidence_scorer,
    fit_joint_decoder,
    joint_scores,
    joint_scores_of_one,
    narration_centres,
    subtitle_centres,
    window_centres,
)
from crosstask.records import Cue, InputError, Interval, Narration, StepInterval, StepLabel, Word
from tiny import tiny_corpus


@pytest.fixture(scope="module")
def corpus():
    return tiny_corpus(n_segments=60)


@pytest.fixture(scope="module")
def scorer(corpus):
    return method_named("hmm").fit(corpus, np.random.default_rng(0))


def spoken(*lines, each_s=5.0):
    """A narration of cues of equal length."""
    words, cues = [], []
    for i, line in enumerate(lines):
        first = len(words)
        words += [Word(text, i * each_s, (i + 1) * each_s) for text in line.split()]
        cues.append(Cue(first, len(words), i * each_s, (i + 1) * each_s))
    return Narration(tuple(words), tuple(cues))


def certain(accuracy, informativeness=0.8):
    """An accuracy without uncertainty."""
    at_accuracy = np.arange(len(ACCURACIES)) == np.abs(ACCURACIES - accuracy).argmin()
    return Reliability(WindowAccuracy(at_accuracy.astype(float)), informativeness)


def with_noise_features(corpus):
    """The same videos with features that contain no evidence."""
    from crosstask.features import FeaturesInMemory

    rng = np.random.default_rng(7)
    rows = {v.id: rng.standard_normal(corpus.features.rows(v.id).shape).astype(np.float32) for v in corpus.videos}
    return replace(corpus, features=FeaturesInMemory(rows))


def test_windows_lead_where_features_contain_no_evidence(corpus):
    noise = with_noise_features(corpus)
    blind = method_named("hmm").fit(noise.without_windows(), np.random.default_rng(0))
    alone, joint = evaluate(blind, noise), evaluate(blind, noise, with_narration=True)
    assert joint.recall > alone.recall + 0.4


def test_random_windows_have_little_accuracy_and_true_ones_much(corpus, scorer):
    rng = np.random.default_rng(0)
    many = tiny_corpus(n_segments=60, videos_per_task=40)
    anywhere = {
        v.key: tuple(StepInterval(k, Interval(c, c + 2)) for k, c in enumerate(rng.uniform(0, 58, len(many.task_of(v).steps))))
        for v in many.videos
    }
    trained = method_named("hmm").fit(many.without_windows(), rng)
    assert fit_joint_decoder(trained, replace(many, windows=anywhere), many.videos).reliability.accuracy.mean < 0.2
    assert fit_joint_decoder(trained, many, many.videos).reliability.accuracy.mean > 0.8


def test_without_narration_every_number_stays(corpus, scorer):
    silent = corpus.without_windows()
    assert evaluate(scorer, silent, with_narration=True).to_json() == evaluate(scorer, silent).to_json()


def test_speech_features_are_not_counted_twice(corpus, scorer, caplog):
    speech = replace(corpus, feature_spec="log-mel,speech")
    assert evaluate(scorer, speech, with_narration=True).to_json() == evaluate(scorer, corpus).to_json()
    assert "contain speech already" in caplog.text


def test_methods_without_a_posterior_are_refused(corpus):
    with pytest.raises(InputError, match="has no posterior"):
        evaluate("uniform", corpus, with_narration=True)
    with pytest.raises(InputError, match="train such a model"):
        evidence_scorer(object())


def test_subtitles_are_used_where_there_are_no_windows(corpus, monkeypatch):
    monkeypatch.setattr("crosstask.narration.joint_decoding.installed_sentence_encoder", lambda: None)
    video = corpus.videos[1]
    told = spoken("hello there", "now pour milk", "", "then stir coffee", "", "and pour coffee", "goodbye")
    subtitled = replace(corpus.without_windows(), subtitles={video.id: told})
    centres = narration_centres(subtitled, subtitled.videos)
    assert list(centres) == [video.key]
    assert ((centres[video.key] > [5, 15, 25]) & (centres[video.key] < [15, 25, 35])).all()
    nothing = subtitle_centres(corpus.task_of(video), Narration(()), 60, None)
    assert np.isnan(nothing).all()


def test_a_window_over_most_of_the_video_is_no_evidence(corpus):
    video = corpus.videos[1]
    windows = (StepInterval(0, Interval(0, 50)), StepInterval(1, Interval(10, 20)))
    centres = window_centres(replace(corpus, windows={video.key: windows}), video)
    assert np.isnan(centres[[0, 2]]).all() and centres[1] == 15


def test_one_video_follows_its_narration_where_its_features_are_silent(corpus, scorer):
    task = corpus.tasks["1"]
    found = joint_scores_of_one(scorer, task, np.zeros((60, 6), np.float32), np.array([8.0, 40.0, 52.0]))
    assert np.abs(found.scores.argmax(axis=0) - [8, 40, 52]).max() <= 2


def test_unrelated_narration_leaves_the_scores_of_the_features(corpus, scorer):
    task, rows = corpus.tasks["1"], corpus.features.rows("-v1_1")
    found = joint_scores(scorer, task, rows, np.array([8.0, 40.0, 52.0]), np.full(3, np.nan), certain(0.0))
    np.testing.assert_allclose(found.scores, scorer.score(task, rows), atol=1e-12)


def test_scores_equal_the_mixture_of_the_module(corpus, scorer):
    task, rows, centres = corpus.tasks["1"], corpus.features.rows("-v1_1"), np.array([8.0, np.nan, 52.0])
    reliability, usual = certain(0.4, 0.5), np.full(3, np.nan)
    evidence, alone = scorer.feature_evidence(task, rows), scorer.posterior(task, rows).in_step
    windows = windows_of(evidence, centres, usual)
    in_order = 0.6 * alone + 0.4 * joint_posterior(evidence, windows, 0.4).in_step
    two_observers = independent_posterior(alone, evidence.mean_duration, windows, reliability)
    w = 0.6 * 0.5 / (0.6 * 0.5 + 0.4)
    expected = np.where([True, False, True], w * in_order + (1 - w) * two_observers, in_order)
    found = joint_scores(scorer, task, rows, centres, usual, reliability)
    np.testing.assert_allclose(found.posterior.in_step, expected, atol=1e-12)
    by_order = order_posterior(evidence).in_step
    in_order_hits = 0.6 * feature_hits(alone, by_order, 0.5) + 0.4 * joint_posterior(evidence, windows, 0.4).in_step
    two_hits = independent_hits(alone, by_order, evidence.mean_duration, windows, reliability)
    expected = np.where([True, False, True], w * in_order_hits + (1 - w) * two_hits, in_order_hits)
    np.testing.assert_allclose(found.hits, expected, atol=1e-12)


def test_a_label_is_certain_beside_narration(corpus, scorer):
    task, rows, centres = corpus.tasks["1"], corpus.features.rows("-v1_1"), np.array([8.0, np.nan, 52.0])
    labels = (StepLabel(0, moment_s=20.0),)
    found = joint_scores(scorer, task, rows, centres, np.full(3, np.nan), certain(0.4, 0.5), labels)
    assert found.scores[:, 0].argmax() == 20 and found.hits[20, 0] > 0.99
    assert ((found.hits >= 0) & (found.hits <= 1)).all()


def test_windows_of_at_most_four_other_videos_tell_what_is_usual(corpus, scorer, monkeypatch):
    taken = []
    monkeypatch.setattr(
        "crosstask.narration.joint_decoding.estimate_reliability",
        lambda videos, n_members: taken.extend(len(v.unrelated_ratio) for v in videos) or certain(0.5),
    )
    many = tiny_corpus(n_segments=60, videos_per_task=7)
    fit_joint_decoder(scorer, many, many.videos)
    n_windows = [len(many.windows[v.key]) for v in many.videos]
    assert len(taken) == len(scorer.members) * len(n_windows) and max(taken) <= 4 * max(n_windows) and min(taken) > 0


def test_every_member_tells_how_far_windows_agree_with_features(corpus, scorer):
    """The accuracy follows from the mean log-likelihood over the members, not from their mean posterior."""
    alone = [fit_joint_decoder(HmmEnsemble((member,)), corpus, corpus.videos).reliability for member in scorer.members]
    together = fit_joint_decoder(scorer, corpus, corpus.videos).reliability
    low, high = min(r.accuracy.mean for r in alone), max(r.accuracy.mean for r in alone)
    assert low - 0.02 <= together.accuracy.mean <= high + 0.02
    repeated = fit_joint_decoder(HmmEnsemble(scorer.members[:1] * 3), corpus, corpus.videos).reliability
    assert np.allclose(repeated.accuracy.probability, alone[0].accuracy.probability)


def test_labels_are_certain_beside_narration_and_move_the_other_steps(corpus, scorer):
    from crosstask.records import StepLabel

    video = next(v for v in corpus.videos if v.task == "1")
    task, rows, accuracy = corpus.task_of(video), corpus.features.rows(video.id), certain(0.7)
    centres = np.where(
        np.arange(3) == 0, window_centres(corpus, video), np.nan
    )  # a window may contradict the order, so the others have none
    asked = (scorer, task, rows, centres, np.full(3, np.nan), accuracy)
    free = joint_scores(*asked)
    late = joint_scores(*asked, labels=[StepLabel(0, intervals=(Interval(50, 55),))])
    assert free.scores[:, 0].argmax() < 25 and 50 <= late.scores[:, 0].argmax() < 55
    assert late.posterior.in_step[:50, 0].max() < 1e-6, "an interval says where the step is not"
    before = free.posterior.in_step[:50, 1:].sum()
    assert late.posterior.in_step[:50, 1:].sum() < 0.4 * before, "the steps after it in the list come later, or are not shown"
    absent = joint_scores(*asked, labels=[StepLabel(1)])
    assert absent.posterior.p_shown[1] < 1e-6 < free.posterior.p_shown[1]


def test_windows_after_the_end_of_a_video_are_no_evidence(corpus, scorer):
    after = {video.key: (StepInterval(0, Interval(70, 80)), StepInterval(1, Interval(60, 64))) for video in corpus.videos}
    beyond = replace(corpus, windows=after, subtitles={})
    assert np.isnan(window_centres(beyond, corpus.videos[0])).all()
    assert evaluate(scorer, beyond, with_narration=True).to_json() == evaluate(scorer, beyond).to_json()
