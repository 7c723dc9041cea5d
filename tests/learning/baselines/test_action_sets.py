from itertools import combinations

import numpy as np
import pytest
from scipy.stats import poisson

from crosstask.learning.baselines.action_sets import draw_sequences, learn_from_sets, mean_lengths, segment


def planted(seed, n_videos=60, n_classes=8, n_dimensions=16, noise=0.7):
    """Videos that are nothing but runs of the classes of a varying set, in any order: (videos, sets, labels)."""
    rng = np.random.default_rng(seed)
    looks = np.random.default_rng(99).standard_normal((n_classes, n_dimensions))
    lengths = np.random.default_rng(98).uniform(8, 25, n_classes)
    videos, sets, labels = [], [], []
    for _ in range(n_videos):
        members = rng.choice(n_classes, size=int(rng.integers(2, 5)), replace=False)
        runs = np.concatenate([np.full(max(3, rng.poisson(lengths[c])), c) for c in members])
        videos.append(looks[runs] + noise * rng.standard_normal((len(runs), n_dimensions)))
        sets.append(np.sort(members))
        labels.append(runs)
    return videos, sets, labels


def test_clean_sets_teach_the_classifier():
    videos, sets, labels = planted(0)
    found = learn_from_sets(videos, sets, 8, np.random.default_rng(1))
    assert np.mean(np.concatenate(found.labels) == np.concatenate(labels)) > 0.9  # of the training videos
    fresh, _, truth = planted(7)
    rows = np.concatenate(fresh)
    guessed = (rows @ found.weights[:, :-1].T + found.weights[:, -1]).argmax(axis=1)
    assert np.mean(guessed == np.concatenate(truth)) > 0.9  # frames of new videos, over all classes


def test_sets_that_never_vary_teach_nothing():
    videos, _, labels = planted(0, n_videos=20)
    found = learn_from_sets(videos, [np.arange(8)] * 20, 8, np.random.default_rng(1))
    assert np.mean(np.concatenate(found.labels) == np.concatenate(labels)) < 0.6


def test_mean_lengths_add_up_and_stay_long_enough():
    means = mean_lengths([np.array([0, 1]), np.array([1, 2]), np.array([0, 2])], [30, 12, 22], 3, 4.0)
    assert means == pytest.approx([20, 10, 4], abs=1.5) and means.min() >= 4 - 1e-9


def test_a_drawn_sequence_holds_its_set_and_no_neighbours_alike():
    rng = np.random.default_rng(0)
    for sequence in draw_sequences(np.array([1, 4, 5]), 40, np.full(6, 6.0), rng, 20):
        assert set(sequence.tolist()) == {1, 4, 5} and (np.diff(sequence) != 0).all()
        assert len(sequence) == 7


def test_the_best_segmentation_is_the_best_of_all():
    rng = np.random.default_rng(3)
    scores, means = rng.standard_normal((8, 3)), np.array([2.0, 3.0, 4.0])
    sequences = [np.array([0, 1, 2]), np.array([2, 0]), np.array([1, 2, 0, 1])]

    def value(sequence, ends):
        runs = np.diff(ends, prepend=0)
        where = np.repeat(sequence, runs)
        return scores[np.arange(8), where].sum() + poisson.logpmf(runs, means[sequence]).sum()

    every = [(value(s, (*cut, 8)), (s, (*cut, 8))) for s in sequences for cut in combinations(range(1, 8), len(s) - 1)]
    _, (sequence, ends) = max(every, key=lambda e: e[0])
    assert segment(scores, sequences, means).tolist() == np.repeat(sequence, np.diff(ends, prepend=0)).tolist()


def test_the_same_generator_gives_the_same_bytes():
    videos, sets, _ = planted(2, n_videos=6)
    first, second = (learn_from_sets(videos, sets, 8, np.random.default_rng(5)) for _ in range(2))
    assert first.weights.tobytes() == second.weights.tobytes()
