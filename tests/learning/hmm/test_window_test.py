"""The test of windows on constructed videos: three steps with features of their own, and windows that mark them or not."""

import numpy as np
import pytest

from crosstask.learning.hmm.class_means import LdaWeights, MeanPrior
from crosstask.learning.hmm.statistics import ClassIndex, HmmVideo, assign_folds, second_moment_of
from crosstask.learning.hmm.window_test import _gain, _histogram, log_odds, share_in_order, windows_are_informative

N_SEGMENTS, N_STEPS, LENGTH = 25, 2, 3  # a step lasts LENGTH segments


def constructed(place_window, n_videos):
    """Videos whose steps begin at random in their half; place_window(rng, start of the step) is the start of its window, or None."""
    rng = np.random.default_rng(0)
    videos = []
    for _ in range(n_videos):
        rows = rng.normal(size=(N_SEGMENTS, 3))
        windows = np.zeros((N_SEGMENTS, N_STEPS), dtype=np.bool_)
        for k in range(N_STEPS):
            start = 12 * k + rng.integers(0, 10)
            rows[start : start + LENGTH, k] += 2.0
            window = place_window(rng, start)
            if window is not None:
                windows[window : window + LENGTH, k] = True
        videos.append(HmmVideo(0, rows.astype(np.float32), windows))
    return videos


def decision(videos, noise=41.0):
    second_moment = second_moment_of([video.rows for video in videos])
    classes = ClassIndex((N_STEPS,), np.eye(N_STEPS + 1))
    return windows_are_informative(videos, classes, assign_folds(videos, 5), second_moment, MeanPrior(noise=noise), 0.3)


def test_windows_on_the_steps_are_informative():
    assert decision(constructed(lambda rng, start: start, n_videos=40))
    assert decision(constructed(lambda rng, start: start, n_videos=3000))


def test_windows_near_the_steps_are_informative():
    assert decision(constructed(lambda rng, start: max(0, start + int(rng.integers(-2, 3))), n_videos=1000))


def test_windows_at_random_are_not():
    assert not decision(constructed(lambda rng, start: int(rng.integers(0, N_SEGMENTS - LENGTH)), n_videos=3000))


def test_windows_at_the_same_relative_time_in_all_videos_are_not():
    """They may mark the steps, but say nothing that even spacing would not; more than 2560 pairs outweigh the prior odds of 100."""
    assert not decision(constructed(lambda rng, start: 5 if start < 12 else 17, n_videos=1500))


def test_windows_in_order_have_higher_prior_odds_than_windows_in_any_order():
    """Both say nothing about their video: 1,200 pairs outweigh odds of 3 (610 would), not odds of 100 (2,560 would)."""
    assert decision(constructed(lambda rng, start: 5 if start < 12 else 17, n_videos=600))
    assert not decision(constructed(lambda rng, start: 17 if start < 12 else 5, n_videos=600))


def test_share_in_order_by_hand():
    windows = np.zeros((6, 3), dtype=np.bool_)
    windows[0, 0] = windows[[3, 4], 1] = windows[2, 2] = True  # the centre of the third lies before that of the second
    videos = [HmmVideo(0, np.zeros((6, 1), np.float32), of) for of in (windows, windows[:, :0], np.eye(6, 3, dtype=np.bool_))]
    assert share_in_order(videos) == pytest.approx(5 / 6) and share_in_order(videos[1:2]) == 1


def test_windows_on_pure_noise_are_not_even_if_means_fit_the_noise():
    """With 40 dimensions, means that include a video's own window would rate that window higher; cross-fitting prevents it."""
    rng = np.random.default_rng(0)
    videos = []
    for _ in range(1500):
        windows = np.zeros((10, N_STEPS), dtype=np.bool_)
        windows[rng.integers(10, size=N_STEPS), np.arange(N_STEPS)] = True
        videos.append(HmmVideo(0, rng.normal(size=(10, 40)).astype(np.float32), windows))
    assert not decision(videos, noise=1.0)


def test_without_windows_there_is_nothing_to_use():
    assert decision(constructed(lambda rng, start: None, n_videos=5)) is False


def test_a_single_video_cannot_be_compared_and_its_windows_are_used():
    assert decision(constructed(lambda rng, start: start, n_videos=1)) is True


def test_log_odds_by_hand():
    """Mean 2, deviation sqrt(1/2), n = 4: z = 2 / sqrt(1/2) * 2; odds 3 to 1 before."""
    z = 2 / 0.5**0.5 * 2
    assert log_odds(np.array([1.0, 2.0, 3.0, 2.0])) == pytest.approx(np.log(3) + 0.06 * 2 * z - 0.06**2 * 4 / 2)
    assert log_odds(np.zeros(610)) > 0 > log_odds(np.zeros(611))  # log 3 = 0.0018 * 610.3


def test_gain_is_the_log_ratio_in_the_own_window_minus_that_in_windows_of_other_videos():
    """The log-ratio of the step is 2 x - 2; the own window has x = 3 and 5, those of two other videos have 1 and 1, 1 and 4."""
    rows = np.array([[3.0], [5.0], [1.0], [1.0], [4.0]], np.float32)
    masks = np.zeros((3, 5, 1), dtype=np.bool_)
    masks[0, :2] = masks[1, 2:4] = masks[2, 3:] = True
    lda = LdaWeights(np.array([[2.0], [0.0]], np.float32), np.array([2.0, 0.0], np.float32))
    of_task = sum(_histogram(mask) for mask in masks)
    gain = _gain(HmmVideo(0, rows, masks[0]), of_task, lda, ClassIndex((1,), np.eye(2)))
    assert gain.tolist() == pytest.approx([2 * 4 - 2 * (1 + 1 + 1 + 4) / 4])


def test_histogram_gives_each_step_with_a_window_one_in_all():
    windows = np.array([[True, False], [False, False]])
    found = _histogram(windows)
    assert found[:25, 0].tolist() == [1 / 25] * 25 and found.sum(axis=0).tolist() == pytest.approx([1, 0])
