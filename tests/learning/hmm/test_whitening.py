"""Scaling by its defining properties, principal directions against numpy's SVD, autocorrelation of processes where it is known."""

import numpy as np
import pytest

from crosstask.learning.hmm import whitening as module
from crosstask.learning.hmm.whitening import (
    Whitening,
    autocorrelation_time,
    centred,
    fit_whitening,
    of_two_halves,
    principal_directions,
)


def some_videos(n_dimensions=4, lengths=(30, 50, 7)):
    rng = np.random.default_rng(0)
    scale = np.logspace(-2, 2, n_dimensions)
    return [(scale * rng.normal(size=(n, n_dimensions)) + 5 * rng.normal(size=n_dimensions)).astype(np.float32) for n in lengths]


def test_rows_have_mean_zero_in_each_video_and_deviation_one_over_all():
    videos = some_videos()
    whitened = [fit_whitening(videos).transform(rows) for rows in videos]
    for rows in whitened:
        assert rows.dtype == np.float32 and np.allclose(rows.mean(axis=0), 0, atol=1e-3)
    assert np.allclose(np.concatenate(whitened).std(axis=0), 1, atol=1e-3)


def test_centring_uses_the_video_alone():
    assert centred(np.array([[1.0, 10.0], [3.0, 30.0]])).tolist() == [[-1.0, -10.0], [1.0, 10.0]]


def test_constant_dimensions_are_switched_off():
    videos = some_videos()
    for rows in videos:
        rows[:, 2] = 7.0
    whitening = fit_whitening(videos)
    assert np.isinf(whitening.deviation).tolist() == [False, False, True, False]
    other = videos[0] + np.arange(len(videos[0]), dtype=np.float32)[:, None]
    assert (whitening.transform(other)[:, 2] == 0).all() and np.isfinite(whitening.transform(other)).all()
    nothing = fit_whitening([np.ones((4, 2), np.float32)])
    assert (nothing.transform(np.eye(2)) == 0).all()


def test_wide_features_are_projected_onto_the_principal_directions_of_scaled_rows(monkeypatch):
    monkeypatch.setattr(module, "LARGEST_WIDTH", 3)
    videos = some_videos(n_dimensions=6)
    whitening = fit_whitening(videos)
    scaled = np.concatenate([centred(rows) / whitening.deviation for rows in videos])
    assert whitening.width == 3 and whitening.directions.shape == (6, 3)
    assert np.allclose(whitening.directions, principal_directions([scaled], 3), atol=1e-5)
    assert np.allclose(whitening.transform(videos[0]), scaled[:30] @ whitening.directions, atol=1e-5)


@pytest.mark.parametrize("width", [None, 3])
def test_folded_weights_give_the_products_with_transformed_rows(width):
    rng = np.random.default_rng(1)
    directions = None if width is None else np.linalg.qr(rng.normal(size=(5, width)))[0].astype(np.float32)
    whitening = Whitening(np.array([1, 2, 0.5, np.inf, 3], np.float32), directions)
    rows, weights = rng.normal(size=(9, 5)), rng.normal(size=(4, whitening.width))
    folded = whitening.fold_into(weights)
    assert folded.shape == (4, 5)
    assert np.allclose(centred(rows) @ folded.T, whitening.transform(rows) @ weights.T, atol=1e-5)


def test_principal_directions_are_those_of_the_singular_value_decomposition():
    rng = np.random.default_rng(0)
    rows = (rng.normal(size=(300, 60)) * 0.6 ** np.arange(60)) @ np.linalg.qr(rng.normal(size=(60, 60)))[0]
    found = principal_directions([rows[:100].astype(np.float32), rows[100:].astype(np.float32)], 6)
    expected = np.linalg.svd(rows, full_matrices=False)[2][:6].T
    assert found.shape == (60, 6) and np.allclose(found.T @ found, np.eye(6), atol=1e-4)
    assert np.allclose(np.abs(found.T @ expected), np.eye(6), atol=1e-2)  # largest first, up to their signs


def autoregressive(rho, n, n_dimensions, seed=0):
    rng = np.random.default_rng(seed)
    rows = np.zeros((n, n_dimensions))
    rows[0] = rng.normal(size=n_dimensions)
    for t in range(1, n):
        rows[t] = rho * rows[t - 1] + np.sqrt(1 - rho**2) * rng.normal(size=n_dimensions)
    return rows


@pytest.mark.parametrize("rho", [0.0, 0.3, 0.6, 0.8])
def test_autocorrelation_time_of_an_autoregressive_process(rho):
    """1 + 2 (rho + rho^2 + ...) = (1 + rho) / (1 - rho); the sum is cut where rho^lag falls below 0.05."""
    videos = [autoregressive(rho, 2000, 10, seed) for seed in range(3)]
    found = autocorrelation_time(videos)
    assert found == pytest.approx((1 + rho) / (1 - rho), rel=0.12)
    cut = 1 + 2 * sum(rho**lag for lag in range(1, 61) if rho**lag >= 0.05)
    assert found == pytest.approx(cut, rel=0.05)


def test_autocorrelation_time_of_no_variance_and_of_short_videos():
    assert autocorrelation_time([np.zeros((9, 2))]) == 1.0
    assert autocorrelation_time([np.array([[1.0], [-1.0]])]) == 1.0  # too short for any lag


def test_autocovariance_is_the_mean_over_pairs_of_rows():
    videos = [np.array([[1.0], [2.0], [3.0]]), np.array([[1.0], [1.0]])]
    assert module._autocovariance(videos, 1) == (2 + 6) / 2  # the second video is too short for a lag
    assert module._autocovariance(videos, 0) == (1 + 4 + 9 + 1 + 1) / 5


def test_lags_do_not_cross_videos():
    """Videos of three rows +1, 0, -1: products at lag 1 are zero in each, while the step from one video to the next has -1."""
    videos = [np.array([[1.0], [0.0], [-1.0]])] * 50
    assert autocorrelation_time(videos) == 1.0
    assert module._autocovariance(videos, 1) == 0.0 and module._autocovariance(videos, 0) == pytest.approx(2 / 3)


def test_of_two_halves_gives_both_parts_in_order():
    assert of_two_halves(lambda part: [2 * number for number in part], 5) == ([0, 2], [4, 6, 8])
    assert of_two_halves(list, 1) == ([], [0])


def test_whitening_of_two_halves_is_that_of_all_rows():
    rng = np.random.default_rng(0)
    videos = [rng.normal(scale=[1.0, 3.0], size=(n, 2)).astype(np.float32) for n in (5, 7, 9)]
    together = np.concatenate([video - video.mean(axis=0) for video in videos])
    assert np.allclose(fit_whitening(videos).deviation, np.sqrt((together**2).mean(axis=0)), rtol=1e-5)
