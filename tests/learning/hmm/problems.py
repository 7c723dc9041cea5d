"""Small random problems for the default method, as arrays."""

import numpy as np

from crosstask.learning.hmm.class_means import ClassStatistics
from crosstask.learning.hmm.statistics import ClassIndex, HmmVideo


def random_kernel(rng, n_classes, n_new=0):
    """(C + N, C + N) kernel between names of random words, and as scalar products of word counts a valid covariance."""
    words = (rng.random((n_classes + n_new, 5)) < 0.4).astype(float)
    words[np.arange(len(words)), rng.integers(5, size=len(words))] = 1.0
    words /= np.linalg.norm(words, axis=1, keepdims=True)
    return words @ words.T


def random_statistics(rng, n_classes, n_dimensions=3):
    """Statistics of classes of which the first has no labelled segment."""
    counts = rng.uniform(0.5, 300, n_classes)
    sums = counts[:, None] * rng.normal(size=(n_classes, n_dimensions))
    counts[0], sums[0] = 0.0, 0.0
    return ClassStatistics(counts, sums, rng.uniform(0, 1, n_classes))


def random_videos(rng, n_steps=(2, 3), videos_per_task=4, n_segments=6, n_dimensions=3, p_window=0.6):
    """Videos of several tasks, whose steps have a window of two segments with probability p_window; and their classes."""
    classes = ClassIndex(tuple(n_steps), random_kernel(rng, sum(n_steps) + len(n_steps)))
    means = rng.normal(size=(len(classes.kernel), n_dimensions))
    videos = []
    for i in range(videos_per_task * len(n_steps)):
        task = i % len(n_steps)
        K = n_steps[task]
        windows = np.zeros((n_segments, K), dtype=np.bool_)
        rows = rng.normal(size=(n_segments, n_dimensions)) + means[classes.of(task)][-1]
        for k in range(K):
            first = int(k * n_segments / K)
            rows[first : first + 2] += means[classes.of(task)][k]
            windows[first : first + 2, k] = rng.random() < p_window
        videos.append(HmmVideo(task, rows.astype(np.float32), windows))
    return videos, classes
