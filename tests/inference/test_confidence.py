"""Calibrated confidence."""

import numpy as np

from crosstask.inference.confidence import SHOWN, Calibration, calibrated, fit_calibration, hit_probability, is_shown, logit


def test_the_map_keeps_the_ranking_and_nothing_is_called_absent_by_the_default():
    p = np.linspace(0, 1, 50)
    assert (np.diff(calibrated(p)) >= 0).all()
    assert is_shown(calibrated(p, SHOWN)).all()
    assert not is_shown([0.49])[0]
    assert np.isfinite(logit([0.0, 1.0])).all()


def test_platt_scaling_by_hand():
    found = calibrated([0.5, 0.75], Calibration(2.0, 1.0))
    np.testing.assert_allclose(found, [1 / (1 + np.exp(-1)), 1 / (1 + np.exp(-2 * np.log(3) - 1))])


def test_a_hit_is_of_features_that_are_right_or_of_order_alone():
    """By hand: features are right with probability 0.8 / (1 + e), otherwise order alone finds the step with 0.4."""
    q = 0.8 / (1 + np.exp(1.0))
    np.testing.assert_allclose(hit_probability([0.5], [0.4], 0.8, Calibration(2.0, -1.0)), [q + (1 - q) * 0.4])
    np.testing.assert_allclose(
        hit_probability([0.1, 0.9], [0.2, 0.6], 0.0), [0.2, 0.6], err_msg="uninformative features count nothing"
    )
    assert (np.diff(hit_probability(np.linspace(0, 1, 20), np.full(20, 0.3), 0.9)) >= 0).all()


def test_recalibration_is_the_largest_penalised_likelihood():
    """Compared with every slope and intercept of a fine grid."""
    rng = np.random.default_rng(0)
    p = rng.uniform(0.2, 0.8, 30)
    hits = (rng.random(30) < 0.3 * p).astype(float)
    slopes, intercepts = np.meshgrid(np.linspace(0, 2, 201), np.linspace(-3, 1, 401), indexing="ij")
    q = 1 / (1 + np.exp(-(slopes[..., None] * logit(p) + intercepts[..., None])))
    log_t = -1.5 * np.log(1 + (intercepts / 0.4) ** 2 / 2)  # Student's t, two degrees of freedom
    log_p = np.log(np.where(hits == 1, q, 1 - q)).sum(axis=-1) - ((slopes - 1) / 0.1) ** 2 / 2 + log_t
    best = np.unravel_index(log_p.argmax(), log_p.shape)
    found = fit_calibration(p, hits, Calibration(1.0, 0.0))
    assert abs(found.slope - slopes[best]) < 0.01 and abs(found.intercept - intercepts[best]) < 0.01
    assert -2.5 < found.intercept < -0.5, "thirty answers move the level"


def test_few_corrections_improve_a_confidence_that_is_too_high_everywhere():
    errors = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        truth = rng.uniform(0.1, 0.5, 2000)
        claimed, hits = calibrated(truth, Calibration(1.0, 0.8)), (rng.random(2000) < truth).astype(float)
        found = calibrated(claimed, fit_calibration(claimed[:30], hits[:30], Calibration(1.0, 0.0)))
        errors.append((np.abs(found - truth).mean(), np.abs(claimed - truth).mean()))
    after, before = np.mean(errors, axis=0)
    assert after < 0.6 * before


def test_answers_that_nearly_agree_hardly_move_the_confidence_and_clear_ones_move_it_far():
    half = np.full(30, 0.5)
    nearly, clear = ((np.arange(30) < right).astype(float) for right in (17, 27))
    assert 0.5 < calibrated(0.5, fit_calibration(half, nearly, Calibration(1.0, 0.0))) < 0.5 + (17 / 30 - 0.5) * 0.7
    assert calibrated(0.5, fit_calibration(half, clear, Calibration(1.0, 0.0))) > 0.82
