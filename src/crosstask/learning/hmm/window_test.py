"""Are narration windows informative about the features? A test without labels.

Class means are estimated from the windows as labels, cross-fitted. If windows mark the steps, the log-likelihood ratio of a step is higher inside the
video's own window than where the other videos of the task have theirs (the same relative time), by `gain` on average. The decision compares two
hypotheses about the mean gain in units of its standard deviation, z / sqrt(n), over the n (video, step) pairs with a window:

    H1: mean e deviations     H0: mean 0        log odds = log(prior odds) + e sqrt(n) z - e^2 n / 2,    e = 0.06

Windows that follow the order of the list do little harm even if they say nothing about their video: they are then labels like evenly spaced ones. So
their prior odds are higher than those of windows in any order, which would be wrong labels.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from crosstask.learning.hmm.class_means import LdaWeights, MeanPrior, log_likelihood_ratios
from crosstask.learning.hmm.statistics import ClassIndex, HmmVideo, SufficientStatistics, normalised_labels

Floats = npt.NDArray[np.floating]
_N_BINS = 50  # of relative time, on which the windows of different videos are compared
_PRIOR_ODDS = 3.0  # windows are usually informative
# Times what a wrong decision costs: on development splits of Breakfast and captaincook, leaving out informative windows loses 5 points of
# recall, using windows of other videos loses 0.4, and using windows at random places 17.
_PRIOR_ODDS_IN_ORDER = 100.0
_IN_ORDER = 0.75  # share of pairs of windows in list order from which on they follow it; 0.5 at random places
_SMALLEST_DEVIATION = 1e-12  # of gains that are all equal
_EFFECT = 0.06  # smallest mean gain worth using, in deviations of the gain over (video, step) pairs


def windows_are_informative(
    videos: Sequence[HmmVideo],
    classes: ClassIndex,
    folds: Sequence[int],
    second_moment: Floats,
    prior: MeanPrior,
    window_bias: float,
) -> bool:
    """True if windows predict the features better than the windows of the task's other videos; False if there are no windows."""
    if not any(video.windows.any() for video in videos):
        return False
    statistics = SufficientStatistics(classes, folds, videos)
    of_task: dict[int, Floats] = {}
    for number, video in enumerate(videos):
        labels = normalised_labels(video.windows.astype(np.float64))
        statistics.add(number, video, np.hstack([labels, 1 - labels.sum(axis=1, keepdims=True)]))
        of_task[video.task] = of_task.get(video.task, 0) + _histogram(video.windows)
    bias = np.full(len(classes.kernel), window_bias)
    lda = statistics.lda_without_each_fold(bias, second_moment, prior)
    gains = np.concatenate([_gain(v, of_task[v.task], lda[folds[i]], classes) for i, v in enumerate(videos)])
    prior_odds = _PRIOR_ODDS_IN_ORDER if share_in_order(videos) >= _IN_ORDER else _PRIOR_ODDS
    return len(gains) < 2 or log_odds(gains, prior_odds) > 0


def share_in_order(videos: Sequence[HmmVideo]) -> float:
    """The share of pairs of windows of a video whose centres follow the order of the list; 1 without any pair."""
    in_order, pairs = 0.0, 0
    for video in videos:
        steps = np.flatnonzero(video.windows.any(axis=0))
        centres = np.array([np.flatnonzero(video.windows[:, k]).mean() for k in steps])
        later = (centres - centres[:, None])[np.triu_indices(len(steps), 1)]
        in_order += float((later > 0).sum() + 0.5 * (later == 0).sum())
        pairs += len(later)
    return in_order / pairs if pairs else 1.0


def log_odds(gains: Floats, prior_odds: float = _PRIOR_ODDS) -> float:
    """The log posterior odds that the gains (n,) have a positive mean.

    >>> log_odds(np.array([1.0, 2.0, 3.0, 2.0])) > 0, log_odds(np.resize([-1.0, 1.0], 4000)) > 0
    (True, False)
    """
    n = len(gains)
    z = gains.mean() / (gains.std() + _SMALLEST_DEVIATION) * np.sqrt(n)
    return float(np.log(prior_odds) + _EFFECT * np.sqrt(n) * z - 0.5 * _EFFECT**2 * n)


def _histogram(windows: npt.NDArray[np.bool_]) -> Floats:
    """(bins, K) windows over relative time, each step with a window summing to one."""
    at = np.minimum(((np.arange(_N_BINS) + 0.5) / _N_BINS * len(windows)).astype(int), len(windows) - 1)
    sampled = windows[at].astype(np.float64)
    return sampled / np.maximum(sampled.sum(axis=0), 1)


def _gain(video: HmmVideo, of_task: Floats, lda: LdaWeights, classes: ClassIndex) -> Floats:
    """By step with a window: mean log-ratio inside it, minus the mean log-ratio where the task's other videos have theirs."""
    windows = video.windows
    n_segments, n_steps = windows.shape
    ratios = log_likelihood_ratios(video.rows, lda, classes.of(video.task))[:, :n_steps]
    at = np.minimum(((np.arange(n_segments) + 0.5) / n_segments * _N_BINS).astype(int), _N_BINS - 1)
    others = np.maximum(of_task - _histogram(windows), 0)[at]
    compared = windows.any(axis=0) & (others.sum(axis=0) > 0)
    inside = (ratios * windows).sum(axis=0) / np.maximum(windows.sum(axis=0), 1)
    elsewhere = (ratios * others).sum(axis=0) / np.maximum(others.sum(axis=0), 1e-9)
    return (inside - elsewhere)[compared]
