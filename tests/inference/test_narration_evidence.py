"""Windows as evidence: accuracy found without labels, no weight where they are unrelated, windows lead where features contain no evidence."""

import numpy as np
import pytest

from crosstask.inference.narration_evidence import (
    ACCURACIES,
    FeatureEvidence,
    Reliability,
    VideoAgreement,
    WindowAccuracy,
    Windows,
    anchor_log_ratios,
    density_ratios,
    estimate_reliability,
    feature_hits,
    feature_posterior,
    independent_hits,
    independent_posterior,
    joint_posterior,
    offset_densities,
    offset_density,
    order_gain,
    p_right,
    usual_density,
    video_agreement,
    windows_of,
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


def test_windows_lead_where_features_contain_no_evidence():
    evidence, middles = video_with(np.random.default_rng(1), strength=0.0)
    found = joint_posterior(evidence, Windows(middles, np.full(K, 1 / T)), 0.9).in_step.argmax(axis=0)
    assert np.abs(found - middles).max() <= 2


def test_accuracy_zero_or_no_window_gives_the_features_alone():
    evidence, middles = video_with(np.random.default_rng(2))
    alone = feature_posterior(evidence).in_step
    np.testing.assert_allclose(joint_posterior(evidence, Windows(middles, np.full(K, 1 / T)), 0.0).in_step, alone, atol=1e-6)
    none = Windows(np.full(K, np.nan), np.full(K, np.nan))
    np.testing.assert_allclose(joint_posterior(evidence, none, 0.9).in_step, alone, atol=1e-12)


def test_a_window_at_the_usual_place_says_less():
    others = [np.array([0.5, np.nan])] * 5
    density = usual_density(np.array([0.5, 0.5]), others, 100)
    assert density[0] > 0.04 and np.isnan(density[1])
    evidence = FeatureEvidence(np.zeros((100, 3)), np.zeros((100, 2)), np.full(2, 10.0), 0.9, 0.5, np.full(2, 0.8))
    windows = windows_of(evidence, np.array([50.0, 50.0]), density)
    usual, rare = anchor_log_ratios(windows, 100, 0.8).max(axis=0)
    assert usual < rare


def test_chance_is_a_third_uniform_a_third_order_and_a_third_the_usual_place():
    evidence = FeatureEvidence(np.ones((20, 3)), np.zeros((20, 2)), np.full(2, 4.0), 0.9, 0.5, np.full(2, 0.8))
    windows = windows_of(evidence, np.array([5.0, np.nan]), np.array([0.3, np.nan]))
    anchors = feature_posterior(evidence._replace(log_ratios=np.zeros((20, 3)))).anchors[:, 0]
    by_order = sum(p * g for p, g in zip(anchors / anchors.sum(), offset_density(5.0, 20), strict=True))
    assert windows.chance[0] == pytest.approx((1 / 20 + by_order + 0.3) / 3)
    assert np.isnan(windows.chance[1])
    no_others = windows_of(evidence, np.array([5.0, np.nan]), np.full(2, np.nan))
    assert no_others.chance[0] == pytest.approx((1 / 20 + by_order) / 2)


def test_offset_density_integrates_to_one_over_centres():
    centres = np.arange(0.05, 30, 0.1)
    total = np.sum([offset_density(c, 30) for c in centres], axis=0) * 0.1
    np.testing.assert_allclose(total, 1, atol=0.01)


NO_OTHERS = np.zeros(0)


def agreement(n, accuracy, p_right, seed=0, gain=1e3):
    """Windows right with probability `accuracy`, features with probability `p_right`.

    Where both are right, the centre is ten times as likely in a tenth of the video, and never elsewhere; otherwise it is anywhere.
    """
    rng = np.random.default_rng(seed)
    both = (rng.random(n) < accuracy) & (rng.random(n) < p_right)
    ratio = 10.0 * (both | (rng.random(n) < 0.1))
    return VideoAgreement(gain, 4, np.full(n, p_right), ratio, NO_OTHERS)


@pytest.mark.parametrize("accuracy", [0.0, 0.4, 0.9])
@pytest.mark.parametrize("p_right", [0.4, 0.8])
def test_accuracy_of_windows_is_found_although_features_are_often_wrong(accuracy, p_right):
    assert estimate_reliability([agreement(20_000, accuracy, p_right)]).accuracy.mean == pytest.approx(accuracy, abs=0.03)


def test_reliability_equals_the_formula_of_the_module_window_by_window():
    videos = [
        VideoAgreement(3.0, 4, np.array([0.5, 0.3]), np.array([4.0, 0.1]), np.array([2.0, 1.5])),
        VideoAgreement(-1.0, 0, np.array([0.4]), np.array([2.0]), np.array([7.0])),
    ]
    informativeness = 1 - np.exp(-(3.0 - 1.0) / 4)
    usual = np.sqrt((2.0 + 1.5 + 7.0 + 20) / (3 + 20))  # twenty windows count as unrelated and usual nowhere
    expected = np.ones(len(ACCURACIES))
    for i, a in enumerate(ACCURACIES):
        for q, ratio in ((0.5, 4.0), (0.3, 0.1), (0.4, 2.0)):
            expected[i] *= 1 + a * informativeness * q * (ratio / usual - 1)
    found = estimate_reliability(videos)
    assert found.informativeness == pytest.approx(informativeness)
    np.testing.assert_allclose(found.accuracy.probability, expected / expected.sum(), rtol=1e-9)


def test_few_windows_and_uninformative_features_leave_the_accuracy_uncertain():
    few, many, blind = (estimate_reliability([agreement(n, 0.0, 0.5, gain=g)]) for n, g in ((5, 1e3), (500, 1e3), (500, -1.0)))
    spread = [of.accuracy.probability @ (ACCURACIES - of.accuracy.mean) ** 2 for of in (few, many)]
    assert spread[0] > 10 * spread[1] and few.accuracy.mean > many.accuracy.mean
    assert blind.informativeness == 0 and blind.accuracy.mean == pytest.approx(0.5)


def test_agreement_that_windows_of_other_videos_have_too_counts_less():
    own = agreement(500, 0.5, 0.8)
    shared = own._replace(unrelated_ratio=own.density_ratio)
    assert estimate_reliability([shared]).accuracy.mean < estimate_reliability([own]).accuracy.mean - 0.05


def test_order_gain_is_that_of_the_list_over_its_rotations():
    evidence, _ = video_with(np.random.default_rng(3))
    in_order = feature_posterior(evidence).log_likelihood
    rotated = []
    for columns in ([3, 0, 1, 2, 4], [2, 3, 0, 1, 4], [1, 2, 3, 0, 4]):
        rotated.append(feature_posterior(evidence._replace(log_ratios=evidence.log_ratios[:, columns])).log_likelihood)
    assert order_gain(evidence) == pytest.approx(in_order - np.mean(rotated))
    assert order_gain(evidence) > 5, "features show the steps in the order of the list"
    assert order_gain(video_with(np.random.default_rng(3), strength=0.0)[0]) == pytest.approx(0.0, abs=1e-9)
    single = FeatureEvidence(np.ones((9, 2)), np.zeros((9, 1)), np.full(1, 3.0), 0.9, 0.5, np.full(1, 0.8))
    assert order_gain(single) == 0.0


def test_agreement_of_a_video_has_its_windows_and_those_of_other_videos():
    evidence, middles = video_with(np.random.default_rng(4))
    in_step = feature_posterior(evidence).in_step
    chance = np.full(K, 1 / T)
    narrated = Windows(np.where(np.arange(K) < 3, middles, np.nan), chance)
    elsewhere = Windows(np.array([60.0, np.nan, np.nan, 5.0]), np.where([True, False, False, True], chance, np.nan))
    found = video_agreement(evidence, in_step, narrated, [elsewhere])
    assert (found.n_steps, found.order_gain) == (K, order_gain(evidence))
    np.testing.assert_allclose(found.p_right, p_right(in_step)[:3])
    np.testing.assert_allclose(found.density_ratio, density_ratios(in_step, narrated)[:3])
    np.testing.assert_allclose(found.unrelated_ratio, density_ratios(in_step, elsewhere)[[0, 3]])
    assert video_agreement(evidence, in_step, narrated, []).unrelated_ratio.size == 0


def test_the_weight_of_features_falls_with_the_accuracy_of_windows_and_rises_with_their_own():
    assert Reliability(certain(0.0), 0.3).features_weight == 1.0
    assert Reliability(certain(1.0), 0.3).features_weight == 0.0
    assert Reliability(certain(0.5), 0.0).features_weight == 0.0
    assert Reliability(certain(0.0), 0.0).features_weight == 1.0
    assert Reliability(certain(0.4), 0.5).features_weight == pytest.approx(0.6 * 0.5 / (0.6 * 0.5 + 0.4))


def test_density_ratio_is_that_of_the_features_convolved_with_the_offset():
    in_step = np.zeros((10, 2))
    in_step[[2, 3], 0] = 0.4
    found = density_ratios(in_step, Windows(np.array([3.0, np.nan]), np.array([0.1, np.nan])))
    assert found[0] == pytest.approx(offset_density(3.0, 10)[[2, 3]].mean() / 0.1)
    assert np.isnan(found[1])
    np.testing.assert_array_equal(offset_densities(np.array([3.0, np.nan]), 10)[:, 1], 1)


def certain(accuracy):
    """An accuracy without uncertainty."""
    return WindowAccuracy((np.arange(len(ACCURACIES)) == np.abs(ACCURACIES - accuracy).argmin()).astype(float))


def two_observers(accuracy, centre=12.0, found=slice(40, 50)):
    """Features that find a step elsewhere than its window."""
    in_step = np.full((60, 1), 0.02)
    in_step[found, 0] = 0.9
    return independent_posterior(
        in_step, np.array([10.0]), Windows(np.array([centre]), np.array([1 / 60])), Reliability(certain(accuracy), 0.9)
    )


def test_windows_that_are_nearly_always_right_win_against_features_and_poor_ones_do_not():
    assert abs(two_observers(0.95)[:, 0].argmax() - 12) <= 4
    assert 40 <= two_observers(0.1)[:, 0].argmax() < 50
    np.testing.assert_allclose(two_observers(0.0)[40:50, 0], 0.9 / (1 + np.exp(0.75 - 0.27 * np.log(9))))
    agreeing = two_observers(0.95, found=slice(10, 20))[:, 0].max()
    assert agreeing > two_observers(0.95)[:, 0].max(), "observers that agree make each other more probable"


def test_independent_posterior_equals_the_sum_over_cases_and_anchors():
    """The formula of the module, case by case and anchor by anchor, averaged over two accuracies."""
    rng = np.random.default_rng(0)
    in_step, centre, chance, reach = rng.random(12) / 3, 4.0, 0.1, int(0.4 * 6.0)
    half = Reliability(WindowAccuracy((certain(0.2).probability + certain(0.6).probability) / 2), 0.7)
    windows, by_order = Windows(np.array([centre]), np.array([chance])), rng.random(12)
    found = independent_posterior(in_step[:, None], np.array([6.0]), windows, half)[:, 0]
    hits = independent_hits(in_step[:, None], by_order[:, None], np.array([3.0]), windows, half)[
        :, 0
    ]  # half of the trained duration
    f, g, q = in_step / in_step.sum(), offset_density(centre, 12), 0.7 * float(p_right(in_step[:, None])[0])
    expected, by_order_too = np.zeros(12), np.zeros(12)
    for a in (0.2, 0.6):
        cases = np.array([q * (1 - a), q * a * (f @ g) / chance, (1 - q) * a, (1 - q) * (1 - a)])
        cases /= cases.sum()
        for t in range(12):
            near = [s for s in range(12) if abs(s - t) <= reach]
            where = [in_step[t] / in_step.max(), (f * g)[near].sum() / (f @ g), g[near].sum() / g.sum(), 0.0]
            expected[t] += cases @ where / 2
            by_order_too[t] += cases @ [*where[:3], by_order[t]] / 2
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    np.testing.assert_allclose(hits, by_order_too, rtol=1e-9)


def test_hits_by_features_are_those_of_the_posterior_or_of_order_alone():
    in_step, by_order = np.array([[0.2], [0.8]]), np.array([[0.5], [0.1]])
    q = 0.6 * float(p_right(in_step)[0])
    np.testing.assert_allclose(feature_hits(in_step, by_order, 0.6)[:, 0], [q / 4 + (1 - q) * 0.5, q + (1 - q) * 0.1])
