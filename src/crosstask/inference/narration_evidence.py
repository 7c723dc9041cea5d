"""Narration windows as evidence of where a step is, beside the features in one posterior; their accuracy is estimated without labels.

A step that is shown has an anchor, a segment of its interval (`interval_posterior`). A window is right with probability a, the accuracy. The
centre c_k of a right one is drawn around the anchor, that of a wrong one from the density of chance:

    p(c_k | anchor at t) = a g(c_k - t) + (1 - a) b(c_k),     p(c_k | step not shown) = b(c_k)

g is the density of the offset between speech and action, a mixture of Gaussians measured on narrated vlogs. b has three parts of equal weight:
uniform over the video; where order and position alone expect the step; where the other videos of the task have its window. So a window
at the usual place of a step adds little evidence.

One posterior keeps the order of the list (`joint_posterior`): it multiplies anchors by p(c_k | anchor) / p(c_k | not shown). The log-ratios of its
features are divided by their autocorrelation time (`tempered`): neighbouring seconds are not independent observations.

Features are overconfident, and videos leave the order of the list. In a second posterior (`independent_posterior`), features and window of a
step are therefore two observers, each of which is right or wrong. With f_k the posterior of the features over the segments, q_k the calibrated
probability that they are right, and F_k = sum_t f_k(t) g(c_k - t) the density of the centre if both are right, the four cases have the weights

    features alone  q_k (1 - a)      both  q_k a F_k / b(c_k)      window alone  (1 - q_k) a      neither  (1 - q_k) (1 - a)

and the step is where features find it; where f_k(t) g(c_k - t) is large; where g(c_k - t) is large; anywhere.

The accuracy a is estimated from all windows of a collection. Summed over the cases, a centre has the density b (1 + a q (F / b - 1)). And it lies in
the interval that features find with probability C + a q (h - C), where C is that probability by chance, and h that of a right window in a
right interval. The first uses the shape of the posterior, the second does not depend on it. Both describe the same windows, so each counts half:

    log P(a | windows) = 1/2 sum_k log(1 + a q_k (F_k / b_k - 1)) + 1/2 sum_k log Bernoulli(inside_k; C_k + a q_k (h - C_k)) + log prior + const

Few windows leave a uncertain: the weights of the four cases are averaged over this posterior.
"""

from collections.abc import Sequence
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
# Mean duration of an interval when decoding, as a share of the trained one. Of 0.25, 0.5 and 1 the best on development people.
DURATION_SHARE = 0.5
ACCURACIES = np.linspace(0.0, 1.0, 41)  # values of a at which its posterior is computed
# Beta prior of the accuracy; mean 0.6. Of first parameters 1, 1.5, 2, 3 and 5 chosen on development people and channels, decoded together and
# one video at a time: more helps right windows of a single video, less is safer with few unrelated ones.
ACCURACY_PRIOR = (1.5, 1.0)
_RIGHT_WINDOW_INSIDE = 0.7  # h; half of the middles of saying lie in the action on vlogs, more where actions are longer
_SMALLEST_AGREEMENT = 0.02  # h - C at least
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


class Windows(NamedTuple):
    """The windows of a video: centres (K,) in seconds, NaN where a step has none, and the density of chance b (K,) at each."""

    centres_s: Array
    chance: Array


def tempered(log_ratios: npt.ArrayLike, autocorrelation_time: float) -> Array:
    """(T, K + 1) log-ratios of which so many segments in a row count as one.

    >>> tempered([[8.0, 0.0]], 4.0)
    array([[2., 0.]])
    """
    return np.asarray(log_ratios, dtype=np.float64) / max(autocorrelation_time, 1.0)


def usual_density(centres: Array, others: Sequence[Array], n_segments: int) -> Array:
    """(K,) density per second of centres (K,) in relative time among those of the task's other videos; NaN where there are none."""
    density = np.full(len(centres), np.nan)
    for k in np.flatnonzero(~np.isnan(centres)):
        seen = np.array([other[k] for other in others if not np.isnan(other[k])])
        if len(seen):
            mirrored = np.concatenate([seen, -seen, 2 - seen])
            kernels = np.exp(-0.5 * ((centres[k] - mirrored) / _BANDWIDTH) ** 2)
            density[k] = kernels.sum() / (len(seen) * _BANDWIDTH * np.sqrt(2 * np.pi)) / n_segments
    return density


def offset_density(centre_s: float, n_segments: int, offset: SpeechOffset = VLOG_OFFSET) -> Array:
    """(T,) density per second of a window's centre for an anchor in the middle of each segment; each Gaussian is truncated to the video."""
    from scipy.special import ndtr

    anchors = np.arange(n_segments) + 0.5
    density = np.zeros(n_segments)
    for scale, weight in zip(offset.scales_s, offset.weights, strict=True):
        mass = ndtr((n_segments - anchors) / scale) - ndtr(-anchors / scale)
        density += weight * np.exp(-0.5 * ((centre_s - anchors) / scale) ** 2) / (scale * np.sqrt(2 * np.pi) * mass)
    return density


def offset_densities(centres_s: Array, n_segments: int) -> Array:
    """(T, K) `offset_density` of centres (K,); ones where a step has no window."""
    none = np.ones(n_segments)
    return np.stack([none if np.isnan(c) else offset_density(float(c), n_segments) for c in centres_s], axis=1)


def windows_of(features: FeatureEvidence, centres_s: Array, usual: Array) -> Windows:
    """Windows with centres (K,) and the density of chance at each, given their `usual_density` (K,); NaN where a step has none."""
    n_segments = len(features.log_ratios)
    anchors = feature_posterior(features._replace(log_ratios=np.zeros_like(features.log_ratios))).anchors
    by_order = (offset_densities(centres_s, n_segments) * _normalised(anchors)).sum(axis=0)
    without_usual = (1 / n_segments + by_order) / 2
    chance = (2 * without_usual + np.where(np.isnan(usual), without_usual, usual)) / 3
    return Windows(centres_s, np.where(np.isnan(centres_s), np.nan, chance))


def anchor_log_ratios(windows: Windows, n_segments: int, accuracy: float) -> Array:
    """(T, K) log p(c | anchor at t) / p(c | step not shown); zero columns where a step has no window.

    >>> anchor_log_ratios(Windows(np.array([3.5, np.nan]), np.full(2, 0.1)), 10, 0.9).argmax(axis=0)
    array([3, 0])
    """
    near = offset_densities(windows.centres_s, n_segments) / windows.chance
    ratios = np.log(max(1 - accuracy, _SMALLEST) + accuracy * near)
    return np.where(np.isnan(windows.centres_s), 0.0, ratios)


def feature_posterior(features: FeatureEvidence) -> IntervalPosterior:
    """The posterior of ordered intervals given the features alone."""
    return _posterior(features, features.log_position)


def joint_posterior(features: FeatureEvidence, windows: Windows, accuracy: float) -> IntervalPosterior:
    """The posterior of ordered intervals given features and windows.

    Intervals of the model do not overlap, but real ones may: where windows are close together, intervals are shortened towards the gaps
    in proportion to the accuracy.
    """
    from_windows = anchor_log_ratios(windows, len(features.log_ratios), accuracy)
    shortest = np.minimum(features.mean_duration, np.maximum(window_gaps(windows.centres_s), _SHORTEST_GAP_S))
    mean_duration = features.mean_duration ** (1 - accuracy) * shortest**accuracy
    return _posterior(features._replace(mean_duration=mean_duration), features.log_position + from_windows)


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


class WindowAccuracy(NamedTuple):
    """The posterior of the accuracy of a collection's windows: a probability for each of `ACCURACIES`."""

    probability: Array

    @property
    def mean(self) -> float:
        """The expected accuracy."""
        return float(self.probability @ ACCURACIES)


def independent_posterior(in_step: Array, mean_duration: Array, windows: Windows, accuracy: WindowAccuracy) -> Array:
    """(T, K) P(segment in step) when features, with posterior in_step (T, K), and windows are two observers; NaN without a window."""
    near_window = offset_densities(windows.centres_s, len(in_step))
    q, both = calibrated(in_step.max(axis=0), HIT), _normalised(in_step) * near_window
    a = ACCURACIES[:, None]
    cases = np.stack(
        [q * (1 - a), q * a * both.sum(axis=0) / windows.chance, (1 - q) * a, (1 - q) * (1 - a)]
    )  # (4, accuracies, K)
    features_alone, both_right, window_alone, _ = np.einsum("cak,a->ck", cases / cases.sum(axis=0), accuracy.probability)
    found = features_alone * in_step / np.maximum(in_step.max(axis=0), _SMALLEST)
    found += both_right * _around_anchors(_normalised(both), mean_duration)
    found += window_alone * _around_anchors(_normalised(near_window), mean_duration)
    return np.asarray(found)


def _around_anchors(anchors: Array, mean_duration: Array) -> Array:
    """(T, K) probability that the anchor, with probabilities (T, K), is near enough for the segment to be in the step."""
    n_segments, n_steps = anchors.shape
    summed = np.vstack([np.zeros(n_steps), np.cumsum(anchors, axis=0)])
    reach = (_NEAR_ANCHOR / 2 * mean_duration).astype(int)
    at, steps = np.arange(n_segments)[:, None], np.arange(n_steps)
    near = summed[np.minimum(at + reach + 1, n_segments), steps] - summed[np.maximum(at - reach, 0), steps]
    return np.asarray(np.minimum(near, 1.0))


def _normalised(weights: Array) -> Array:
    return np.asarray(weights / np.maximum(weights.sum(axis=0), _SMALLEST))


class WindowAgreement(NamedTuple):
    """Of n windows: P(features right) q, F / b, whether the centre lies in the interval that features find, and how often it would by chance."""

    confidence: Array
    density_ratio: Array
    inside: npt.NDArray[np.bool_]
    chance: Array


NO_WINDOWS = WindowAgreement(np.zeros(0), np.zeros(0), np.zeros(0, dtype=np.bool_), np.zeros(0))


def density_ratios(in_step: Array, windows: Windows) -> Array:
    """(K,) F / b: how much more likely features that are right make the centre of a right window than chance does; NaN without a window."""
    by_features = (_normalised(in_step) * offset_densities(windows.centres_s, len(in_step))).sum(axis=0)
    return np.asarray(by_features / windows.chance)


def estimate_window_accuracy(windows: WindowAgreement, prior: tuple[float, float] = ACCURACY_PRIOR) -> WindowAccuracy:
    """The posterior of the accuracy given all windows of a collection and a Beta prior.

    >>> round(estimate_window_accuracy(NO_WINDOWS, (1.0, 1.0)).mean, 3)
    0.5
    """
    a = ACCURACIES[:, None]
    ratio = 1 + a * windows.confidence * (windows.density_ratio - 1)
    p_inside = windows.chance + a * windows.confidence * np.maximum(_RIGHT_WINDOW_INSIDE - windows.chance, _SMALLEST_AGREEMENT)
    explained = np.where(windows.inside, p_inside, 1 - p_inside)
    log_p = 0.5 * np.log(np.maximum(ratio, _SMALLEST)).sum(axis=1) + 0.5 * np.log(np.maximum(explained, _SMALLEST)).sum(axis=1)
    middle = np.clip(ACCURACIES, 0.005, 0.995)
    log_p += (prior[0] - 1) * np.log(middle) + (prior[1] - 1) * np.log(1 - middle)
    probability = np.exp(log_p - log_p.max())
    return WindowAccuracy(probability / probability.sum())
