"""Windows as evidence: reliability found without labels, no weight where they are unrelated, windows lead where features contain no evidence."""

import numpy as np
import pytest

from crosstask.inference.confidence import HIT, calibrated
from crosstask.inference.narration_evidence import (
    FeatureEvidence,
    NarratedEvidence,
    WindowAgreement,
    agreement_densities,
    anchor_log_ratios,
    estimate_reliability,
    estimate_window_accuracy,
    feature_posterior,
    fit_narration,
    independent_posterior,
    joint_posterior,
    offset_density,
    usual_density,
)

T, K = 120, 4


def video_with(rng, strength=1.0):
    """A video with four intervals of ten seconds at random places in order, and features that show them with some strength."""
    starts = np.sort(rng.choice(np.arange(1, 10), K, replace=False)) * 12 - 5
    ratios = rng.normal(size=(T, K + 1))
    for k, start in enumerate(starts):
        ratios[start : start + 10, k] += 3.0
    ratios = strength * (ratios - ratios[:, -1:])
    evidence = FeatureEvidence(ratios, np.zeros((T, K)), np.full(K, 10.0), 0.9, 0.5, np.full(K, 0.8))
    return evidence, starts + 5.0


def reliability_of(windows, seed=0, strength=1.0, n_videos=30):
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(n_videos):
        evidence, middles = video_with(rng, strength)
        rows.append(agreement_densities(evidence, windows(rng, middles), np.full(K, 1 / T)))
    return estimate_reliability(np.concatenate(rows))


def test_reliability_follows_the_share_of_right_windows():
    right = reliability_of(lambda rng, middles: middles + rng.normal(size=K))
    half = reliability_of(lambda rng, middles: np.where(rng.random(K) < 0.5, middles, rng.random(K) * T))
    assert right > 0.9
    assert 0.3 < half < 0.7


def test_random_windows_have_little_reliability_ordered_or_not():
    assert reliability_of(lambda rng, _: rng.random(K) * T, n_videos=100) < 0.15
    assert reliability_of(lambda rng, _: np.sort(rng.random(K)) * T, n_videos=100) < 0.25


def test_without_evidence_in_features_the_prior_stays():
    assert reliability_of(lambda rng, m: m, strength=0.0, n_videos=3) > 0.75


@pytest.mark.parametrize(("scale", "low", "high"), [(0.25, 1.8, 4.0), (4.0, 0.25, 0.6)])
def test_feature_weight_undoes_a_wrong_scale_of_the_features(scale, low, high):
    """Features whose log-ratios are too small by a factor of four are weighted up, and those that are too large down."""
    rng = np.random.default_rng(0)
    videos = []
    for _ in range(40):
        evidence, middles = video_with(rng, strength=0.4)
        windows = middles + rng.normal(size=K) * 2
        videos.append(NarratedEvidence(evidence.weighted(scale), windows, np.full(K, 1 / T)))
    assert low < fit_narration(videos).feature_weight <= high


def test_feature_weight_stays_at_one_without_windows():
    evidence, _ = video_with(np.random.default_rng(3))
    nothing = NarratedEvidence(evidence, np.full(K, np.nan), np.full(K, 1 / T))
    assert fit_narration([nothing]).feature_weight == pytest.approx(1.0)
    assert fit_narration([]).feature_weight == pytest.approx(1.0)


def test_windows_lead_where_features_contain_no_evidence():
    evidence, middles = video_with(np.random.default_rng(1), strength=0.0)
    found = joint_posterior(evidence, middles, np.full(K, 1 / T), 0.9).in_step.argmax(axis=0)
    assert np.abs(found - middles).max() <= 2


def test_reliability_zero_or_no_window_gives_the_features_alone():
    evidence, middles = video_with(np.random.default_rng(2))
    alone = feature_posterior(evidence).in_step
    np.testing.assert_allclose(joint_posterior(evidence, middles, np.full(K, 1 / T), 0.0).in_step, alone, atol=1e-6)
    none = np.full(K, np.nan)
    np.testing.assert_allclose(joint_posterior(evidence, none, np.full(K, 1 / T), 0.9).in_step, alone, atol=1e-12)


def test_a_window_at_the_usual_place_says_less():
    others = [np.array([0.5, np.nan])] * 5
    density = usual_density(np.array([0.5, 0.5]), others, 100)
    assert density[0] > 2 * density[1]
    assert density[1] == pytest.approx(0.01)
    usual, rare = (anchor_log_ratios(np.array([50.0]), np.array([d]), 100, 0.8).max() for d in density)
    assert usual < rare


def test_offset_density_integrates_to_one_over_centres():
    centres = np.arange(0.05, 30, 0.1)
    total = np.sum([offset_density(c, 30) for c in centres], axis=0) * 0.1
    np.testing.assert_allclose(total, 1, atol=0.01)


def agreement(n, accuracy, confidence, chance, seed=0):
    """Windows right with probability `accuracy`, features right with probability `confidence`; a right window lies in 70 % of right intervals."""
    rng = np.random.default_rng(seed)
    both = (rng.random(n) < accuracy) & (rng.random(n) < confidence)
    inside = rng.random(n) < np.where(both, 0.7, chance)
    return WindowAgreement(inside, np.full(n, chance), np.full(n, confidence))


@pytest.mark.parametrize("accuracy", [0.0, 0.4, 0.9])
@pytest.mark.parametrize("confidence", [0.4, 0.8])
def test_accuracy_of_windows_is_found_although_features_are_often_wrong(accuracy, confidence):
    assert estimate_window_accuracy(agreement(20_000, accuracy, confidence, 0.2)) == pytest.approx(accuracy, abs=0.05)


def test_few_windows_leave_the_prior_and_chance_agreement_counts_nothing():
    assert abs(estimate_window_accuracy(agreement(3, 0.0, 0.5, 0.2)) - 0.7) < 0.4


def evidence(log_ratios, duration):
    """Features of two steps of equal mean duration, without a prior of position."""
    return FeatureEvidence(log_ratios, np.zeros((len(log_ratios), 2)), np.full(2, duration), 0.9, 0.5, np.full(2, 0.8))


def two_observers(accuracy, centre=12.0, found=slice(40, 50)):
    """Features that find step 0 elsewhere than its window, and a second step without a window."""
    in_step = np.full((60, 2), 0.02)
    in_step[found, 0] = in_step[5:10, 1] = 0.9
    centres, wrong = np.array([centre, np.nan]), np.full(2, 1 / 60)
    return independent_posterior(in_step, evidence(np.zeros((60, 3)), duration=10.0), centres, wrong, accuracy)


def test_windows_that_are_nearly_always_right_win_against_features_and_poor_ones_do_not():
    assert abs(two_observers(0.95)[:, 0].argmax() - 12) <= 4
    assert 40 <= two_observers(0.1)[:, 0].argmax() < 50
    without_window = two_observers(0.95)
    assert 5 <= without_window[:, 1].argmax() < 10, "a step without a window stays where features find it"
    agreeing = two_observers(0.95, found=slice(10, 20))[:, 0].max()
    assert agreeing > two_observers(0.95)[:, 0].max(), "observers that agree make each other more probable"


def test_independent_posterior_equals_the_sum_over_anchors():
    """The formula of the module, anchor by anchor."""
    rng = np.random.default_rng(0)
    in_step = rng.random((12, 2)) / 3
    features = evidence(np.zeros((12, 3)), duration=6.0)._replace(log_position=rng.normal(size=(12, 2)))
    centres, wrong, accuracy = np.array([4.0, 9.0]), np.array([0.1, 0.05]), 0.6
    found = independent_posterior(in_step, features, centres, wrong, accuracy)
    reach = int(0.4 * 6.0)
    for k in range(2):
        q = calibrated(in_step[:, k].max(), HIT)
        position = np.exp(features.log_position[:, k])
        anchor = [
            (q * in_step[t, k] / in_step[:, k].sum() + (1 - q) * (0.5 * position[t] / position.sum() + 0.5 / 12))
            * (1 - accuracy + accuracy * offset_density(centres[k], 12)[t] / wrong[k])
            for t in range(12)
        ]
        for t in range(12):
            near = sum(a for s, a in enumerate(anchor) if abs(s - t) <= reach) / sum(anchor)
            assert found[t, k] == pytest.approx(near)
