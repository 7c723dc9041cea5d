from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crosstask.narration.windows import expected_overlap, mention_mass, ordered_windows


@given(st.integers(0, 2**32 - 1), st.integers(3, 40), st.integers(1, 3), st.sampled_from([1, 3, 5, 9]))
@settings(max_examples=60, deadline=None)
def test_ordered_windows_admit_an_ordered_choice_and_have_the_highest_total_score(
    seed: int, n_segments: int, n_steps: int, window_s: int
) -> None:
    scores = np.random.default_rng(seed).random((n_segments, n_steps))
    windows = ordered_windows(scores, window_s)
    moment = -1
    for window in windows:
        moment = max(moment + 1, int(window.interval.start_s))
        assert moment < window.interval.end_s
    if n_segments <= 12 and n_segments >= 2 * window_s:
        half = window_s // 2
        best = max(
            sum(scores[max(0, t - half) : t + half + 1, k].max() for k, t in enumerate(times))
            for times in combinations(range(n_segments), n_steps)
        )
        inner = [w for w in windows if w.interval.start_s > 0 and w.interval.end_s < n_segments]
        if len(inner) == n_steps:
            got = sum(scores[int(w.interval.start_s) + half, w.step] for w in windows)
            assert got == pytest.approx(best)


def test_expected_overlap_counts_what_a_window_holds() -> None:
    mass = np.zeros((10, 1))
    mass[4], mass[6] = 0.7, 0.2
    np.testing.assert_allclose(expected_overlap(mass, 3)[:, 0], [0, 0, 0, 0.7, 0.7, 0.9, 0.2, 0.2, 0, 0], atol=1e-12)


def test_mass_of_mentions_is_conserved_over_segments() -> None:
    mentions = np.array([[0.5, 0.1], [0.25, 0.9]])
    mass = mention_mass(mentions, np.array([0.2, 8.0]), np.array([2.6, 30.0]), 10, lag_s=1.0)
    np.testing.assert_allclose(mass.sum(axis=0), mentions.sum(axis=0))
    assert mass[9, 1] == 0.9
