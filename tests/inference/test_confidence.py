"""Calibrated confidence."""

import numpy as np

from crosstask.inference.confidence import SHOWN, Calibration, calibrated, is_shown, logit


def test_the_map_keeps_the_ranking_and_nothing_is_called_absent_by_the_default():
    p = np.linspace(0, 1, 50)
    assert (np.diff(calibrated(p)) >= 0).all()
    assert is_shown(calibrated(p, SHOWN)).all()
    assert not is_shown([0.49])[0]
    assert np.isfinite(logit([0.0, 1.0])).all()


def test_platt_scaling_by_hand():
    found = calibrated([0.5, 0.75], Calibration(2.0, 1.0))
    np.testing.assert_allclose(found, [1 / (1 + np.exp(-1)), 1 / (1 + np.exp(-2 * np.log(3) - 1))])
