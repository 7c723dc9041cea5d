"""Narration windows as evidence of where a step is, beside the features in one posterior; their reliability is estimated without labels.

A step that is shown has an anchor a, a segment of its interval (`interval_posterior`). The centre c of its window is drawn from

    p(c | a) = r g(c - a) + (1 - r) b(c),     p(c | step not shown) = b(c)
    log-ratio of an anchor at t: R[t, k] = log(1 - r + r g(c_k - t) / b(c_k))        no window: R[:, k] = 0

g is the density of the offset between speech and action, a mixture of Gaussians measured on narrated vlogs. b is the density of wrong
windows: half uniform over the video, half where the other videos of the task have the window of this step, so that a window at the usual
place of a step adds no evidence.

The reliability r is estimated from a collection by EM on a mixture: each window is explained by the features of its own video (anchors
of their posterior, convolved with g), or by chance: order and position alone, anywhere, or the usual place of the step. r is the weight
of the first part, times the probability that it is not 0. Windows that have nothing to do with the features end at 0; where the features
contain no evidence beyond order, all parts explain a window equally well, and r stays at its prior.

The log-ratios of features are divided by their autocorrelation time (`tempered`): neighbouring seconds are not independent observations.
The posterior above keeps the order of the list, and features are overconfident, so windows that are nearly always right can still lose
against both. A second posterior (`independent_posterior`) treats features and window of a step as two observers, each of which is
right or wrong:

    P(anchor of k at t) ~ [q_k f_k(t) + (1 - q_k) B_k(t)] [1 - a + a g(c_k - t) / b(c_k)]

f_k is the posterior of the features over the segments, q_k the calibrated probability that it is right, B_k the prior of the position. The order
of the list enters through f_k alone. The accuracy a is how often windows are right, while r is how far
features and windows explain each other beyond chance. It is estimated by moments: with A the
share of windows whose centre lies in the interval that features alone find, and C the same share for windows of the task's other videos (chance),

    A - C = a q (h - C),     h = P(centre of a right window in a right interval)

The second posterior has the weight a, the first 1 - a.

How informative features are differs from corpus to corpus, so the log-ratios are also multiplied by a factor, the feature weight: the
one under which the posterior of the features predicts the windows best (`estimate_feature_weight`). No labels are used.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from crosstask.inference.confidence import HIT, calibrated
from crosstask.inference.interval_posterior import IntervalPosterior, interval_posterior

Array = npt.NDArray[np.float64]
_BANDWIDTH = 0.08  # in relative time, of the density of a task's windows
_SMALLEST = 1e-9  # smallest divisor


@dataclass(frozen=True)
class SpeechOffset:
    """g: deviations in seconds and weights of zero-mean Gaussians for (time of speech - time of action)."""

    scales_s: tuple[float, ...]
    weights: tuple[float, ...]


# Fitted by EM to the annotated offsets of the vlogs' channels C1, C2, C5, C10 (949 actions): 59 % with a deviation of 2 s, 41 % of 16 s.
VLOG_OFFSET = SpeechOffset((2.0, 16.0), (0.59, 0.41))
# Beta prior of the reliability, in windows: 9 right, 1 wrong. It decides where features contain no evidence.
RELIABILITY_PRIOR = (9.0, 1.0)
# Prior probability that windows have nothing to do with the videos. 0.1 and 0.05 were tried too; 0.01 was chosen after results on the test
# channels of vlogs were known, so results on those are not held out with respect to it.
P_UNRELATED = 0.01
# Mean duration of an interval when decoding, as a share of the trained one. Of 0.25, 0.5 and 1 the best on development people.
DURATION_SHARE = 0.5
# Factors on the log-ratios of features that are compared; their geometric mean, 1, is kept where windows do not tell them apart.
FEATURE_WEIGHTS = (0.25, 0.5, 1.0, 2.0, 4.0)
_RIGHT_WINDOW_INSIDE = 0.7  # h; half of the middles of saying lie in the action on vlogs, more where actions are longer
_SMALLEST_AGREEMENT = 0.02  # q (h - C) at least: features that are right by chance alone say nothing about windows
_PRIOR_ACCURACY, _PRIOR_WINDOWS = 0.7, 10.0  # of windows before any is seen, and how many windows that weighs
_LARGEST_ACCURACY = 0.95  # of windows; no window is certain
_UNIFORM_SHARE = 0.5  # of B_k: the position of a step is known only roughly
# An interval contains a segment if its anchor is near: within so many mean durations, in all. Of 0, 0.5, 0.6, 0.8, 1 and 2 the
# best on development people and channels.
_NEAR_ANCHOR = 0.8
_SHORTEST_GAP_S = 1.5  # seconds between two windows below which durations are not shortened further


class FeatureEvidence(NamedTuple):
    """What is known of a video without its narration: log-ratios of its features, and the prior of its task."""

    log_ratios: Array  # (T, K + 1) tempered log-likelihood ratios per segment, background last
    log_position: Array  # (T, K) log-density of the anchor's position against uniform
    mean_duration: Array  # (K,) segments
    background_self_transition: float
    p_background: float
    presence: Array  # (K,)

    def weighted(self, feature_weight: float) -> "FeatureEvidence":
        """The same with log-ratios multiplied by a factor."""
        return self._replace(log_ratios=feature_weight * self.log_ratios)


class NarratedEvidence(NamedTuple):
    """A video's feature evidence, the centres of its windows (K,) in seconds, and the usual density of each (K,)."""

    features: FeatureEvidence
    centres_s: Array
    usual: Array


def tempered(log_ratios: npt.ArrayLike, autocorrelation_time: float) -> Array:
    """(T, K + 1) log-ratios of which so many segments in a row count as one.

    >>> tempered([[8.0, 0.0]], 4.0)
    array([[2., 0.]])
    """
    return np.asarray(log_ratios, dtype=np.float64) / max(autocorrelation_time, 1.0)


def usual_density(centres: Array, others: Sequence[Array], n_segments: int) -> Array:
    """(K,) density per second of centres (K,) in relative time, estimated from the task's other videos; uniform where they have none."""
    density = np.ones(len(centres))
    for k in np.flatnonzero(~np.isnan(centres)):
        seen = np.array([other[k] for other in others if not np.isnan(other[k])])
        if len(seen):
            mirrored = np.concatenate([seen, -seen, 2 - seen])
            kernels = np.exp(-0.5 * ((centres[k] - mirrored) / _BANDWIDTH) ** 2)
            density[k] = 0.5 + 0.5 * kernels.sum() / (len(seen) * _BANDWIDTH * np.sqrt(2 * np.pi))
    return density / n_segments


def offset_density(centre_s: float, n_segments: int, offset: SpeechOffset = VLOG_OFFSET) -> Array:
    """(T,) density per second of a window's centre for an anchor in the middle of each segment; each Gaussian is truncated to the video."""
    from scipy.special import ndtr

    anchors = np.arange(n_segments) + 0.5
    density = np.zeros(n_segments)
    for scale, weight in zip(offset.scales_s, offset.weights, strict=True):
        mass = ndtr((n_segments - anchors) / scale) - ndtr(-anchors / scale)
        density += weight * np.exp(-0.5 * ((centre_s - anchors) / scale) ** 2) / (scale * np.sqrt(2 * np.pi) * mass)
    return density


def anchor_log_ratios(
    centres_s: Array, wrong_density: Array, n_segments: int, reliability: float, offset: SpeechOffset = VLOG_OFFSET
) -> Array:
    """(T, K) log p(c | anchor at t) / p(c | step not shown); zero columns where a step has no window.

    >>> anchor_log_ratios(np.array([3.5, np.nan]), np.full(2, 0.1), 10, 0.9).argmax(axis=0)
    array([3, 0])
    """
    ratios = np.zeros((n_segments, len(centres_s)))
    for k in np.flatnonzero(~np.isnan(centres_s)):
        near = offset_density(float(centres_s[k]), n_segments, offset) / wrong_density[k]
        ratios[:, k] = np.log(max(1 - reliability, _SMALLEST) + reliability * near)
    return ratios


def feature_posterior(features: FeatureEvidence) -> IntervalPosterior:
    """The posterior of ordered intervals given the features alone."""
    return _posterior(features, features.log_position)


def joint_posterior(
    features: FeatureEvidence, centres_s: Array, wrong_density: Array, reliability: float, offset: SpeechOffset = VLOG_OFFSET
) -> IntervalPosterior:
    """The posterior of ordered intervals given features and windows; centres_s and wrong_density are (K,), NaN where a step has no window.

    Intervals of the model do not overlap, but real ones may: where windows are close together, intervals are shortened towards the gaps
    in proportion to the reliability.
    """
    from_windows = anchor_log_ratios(centres_s, wrong_density, len(features.log_ratios), reliability, offset)
    shortest = np.minimum(features.mean_duration, np.maximum(window_gaps(centres_s), _SHORTEST_GAP_S))
    mean_duration = features.mean_duration ** (1 - reliability) * shortest**reliability
    return _posterior(features._replace(mean_duration=mean_duration), features.log_position + from_windows)


def independent_posterior(
    in_step: Array, features: FeatureEvidence, centres_s: Array, wrong_density: Array, accuracy: float
) -> Array:
    """(T, K) P(segment in step) when features, with posterior in_step (T, K), and windows are two observers that are right or wrong."""
    n_segments, n_steps = in_step.shape
    q = calibrated(in_step.max(axis=0), HIT)
    position = np.exp(features.log_position)
    by_position = (1 - _UNIFORM_SHARE) * position / position.sum(axis=0) + _UNIFORM_SHARE / n_segments
    by_features = q * in_step / np.maximum(in_step.sum(axis=0), _SMALLEST) + (1 - q) * by_position
    anchors = by_features * np.exp(anchor_log_ratios(centres_s, wrong_density, n_segments, min(accuracy, _LARGEST_ACCURACY)))
    anchors /= anchors.sum(axis=0)
    summed = np.vstack([np.zeros(n_steps), np.cumsum(anchors, axis=0)])
    reach = (_NEAR_ANCHOR / 2 * features.mean_duration).astype(int)
    at, steps = np.arange(n_segments)[:, None], np.arange(n_steps)
    near = summed[np.minimum(at + reach + 1, n_segments), steps] - summed[np.maximum(at - reach, 0), steps]
    return np.asarray(np.minimum(near, 1.0))


def _posterior(features: FeatureEvidence, anchor: Array) -> IntervalPosterior:
    return interval_posterior(
        features.log_ratios,
        anchor,
        features.mean_duration,
        features.background_self_transition,
        features.p_background,
        features.presence,
    )


def window_gaps(centres_s: Array) -> Array:
    """(K,) seconds from a window's centre to the nearer of the windows before and after it in the list; infinite where there is none.

    >>> window_gaps(np.array([1.0, np.nan, 4.0, 9.0]))
    array([ 3., inf,  3.,  5.])
    """
    gaps = np.full(len(centres_s), np.inf)
    known = np.flatnonzero(~np.isnan(centres_s))
    between = np.abs(np.diff(centres_s[known]))
    gaps[known] = np.minimum(np.append(np.inf, between), np.append(between, np.inf))
    return gaps


def agreement_densities(features: FeatureEvidence, centres_s: Array, usual: Array, offset: SpeechOffset = VLOG_OFFSET) -> Array:
    """(n, 4) densities of the n windows of a video: given its features; given order and position; uniform; at the step's usual place."""
    n_segments = len(features.log_ratios)
    given_features = feature_posterior(features).anchors
    given_order = feature_posterior(features._replace(log_ratios=np.zeros_like(features.log_ratios))).anchors
    rows = []
    for k in np.flatnonzero(~np.isnan(centres_s)):
        near = offset_density(float(centres_s[k]), n_segments, offset)
        by_features, by_order = (near @ a[:, k] / max(a[:, k].sum(), _SMALLEST) for a in (given_features, given_order))
        rows.append((by_features, by_order, 1 / n_segments, usual[k]))
    return np.array(rows).reshape(-1, 4)


class NarrationFit(NamedTuple):
    """What is estimated over a collection: the reliability of its narration, the weight of its features, and the accuracy of its windows."""

    reliability: float
    feature_weight: float
    window_accuracy: float = 0.0


class WindowAgreement(NamedTuple):
    """Of n windows: whether the centre lies in the interval that features find, how often it would by chance, and P(features right)."""

    inside: npt.NDArray[np.bool_]
    chance: Array
    confidence: Array


def estimate_window_accuracy(windows: WindowAgreement) -> float:
    """The share of right windows by moments, from 0 to 1, shrunk towards a prior by a few windows.

    >>> none = WindowAgreement(np.zeros(0, bool), np.zeros(0), np.zeros(0))
    >>> estimate_window_accuracy(none)
    0.7
    """
    n = len(windows.inside)
    if n == 0:
        return _PRIOR_ACCURACY
    chance = float(windows.chance.mean())
    largest = max(float(windows.confidence.mean()) * (_RIGHT_WINDOW_INSIDE - chance), _SMALLEST_AGREEMENT)
    by_moments = (float(windows.inside.mean()) - chance) / largest
    return float(np.clip((n * by_moments + _PRIOR_WINDOWS * _PRIOR_ACCURACY) / (n + _PRIOR_WINDOWS), 0, 1))


def fit_narration(videos: Sequence[NarratedEvidence]) -> NarrationFit:
    """Reliability and feature weight under which features and windows of the videos explain each other best."""
    feature_weight = estimate_feature_weight({weight: _all_densities(videos, weight) for weight in FEATURE_WEIGHTS})
    return NarrationFit(estimate_reliability(_all_densities(videos, feature_weight)), feature_weight)


def _all_densities(videos: Sequence[NarratedEvidence], feature_weight: float) -> Array:
    """(n, 4) `agreement_densities` of all windows of the videos."""
    found = [agreement_densities(v.features.weighted(feature_weight), v.centres_s, v.usual) for v in videos]
    return np.concatenate([np.zeros((0, 4)), *found])


def estimate_feature_weight(densities: Mapping[float, Array]) -> float:
    """The geometric mean of feature weights under their posterior, given the densities (n, 4) of the same windows for each weight.

    >>> round(estimate_feature_weight({0.5: np.full((9, 4), 0.1), 2.0: np.full((9, 4), 0.1)}), 3)
    1.0
    """
    weights = np.array(list(densities))
    log_likelihood = np.array(
        [np.log(np.maximum(d @ _mixture_weights(d, _pseudo_counts(d)), 1e-300)).sum() for d in densities.values()]
    )
    probability = np.exp(log_likelihood - log_likelihood.max())
    return float(np.exp((probability * np.log(weights)).sum() / probability.sum()))


def _pseudo_counts(densities: Array, prior: tuple[float, float] = RELIABILITY_PRIOR) -> Array:
    """The prior of the weights of a mixture of (n, 1 + chance) densities, in windows."""
    n_chance = densities.shape[1] - 1
    return np.array([prior[0], *[prior[1] / n_chance] * n_chance])


def estimate_reliability(densities: Array, prior: tuple[float, float] = RELIABILITY_PRIOR) -> float:
    """The expected weight of the first column in a mixture of the columns of densities (n, 1 + chance), by EM.

    It may be 0, with probability `P_UNRELATED` a priori. What is returned is its most likely value otherwise, given so many right and wrong
    windows before (`prior`), times the probability that it is not 0 (Laplace's approximation): weak agreement that chance explains as well gives 0.

    >>> round(estimate_reliability(np.zeros((0, 4))), 3)
    0.891
    """
    pseudo_counts = _pseudo_counts(densities, prior)
    weights = _mixture_weights(densities, pseudo_counts)
    by_chance = _mixture_weights(densities[:, 1:], pseudo_counts[1:])
    r = float(weights[0])
    if len(densities) == 0:
        return (1 - P_UNRELATED) * r
    mixed, chance = densities @ weights, densities[:, 1:] @ by_chance
    slope = (densities[:, 0] - densities[:, 1:] @ (weights[1:] / max(1 - r, _SMALLEST))) / np.maximum(mixed, 1e-300)
    curvature = (slope**2).sum() + (prior[0] - 1) / r**2 + max(prior[1] - 1, 0.0) / max(1 - r, 1e-3) ** 2
    log_bayes_factor = np.log(mixed / np.maximum(chance, 1e-300)).sum() + 0.5 * np.log(2 * np.pi / curvature)
    log_odds = np.clip(log_bayes_factor + np.log((1 - P_UNRELATED) / P_UNRELATED), -50.0, 50.0)
    return float(r / (1 + np.exp(-log_odds)))


def _mixture_weights(densities: Array, pseudo_counts: Array, rounds: int = 300) -> Array:
    """Weights of a mixture's columns, (n, J) -> (J,), most likely given `pseudo_counts` (J,) earlier observations of each."""
    weights = pseudo_counts / pseudo_counts.sum()
    for _ in range(rounds):
        parts = densities * weights
        shares = parts / np.maximum(parts.sum(axis=1, keepdims=True), 1e-300)
        updated = (shares.sum(axis=0) + pseudo_counts) / (len(densities) + pseudo_counts.sum())
        converged = np.abs(updated - weights).max() < 1e-6
        weights = updated
        if converged:
            break
    return np.asarray(weights)
