"""Narration windows as evidence of where a step is, beside the features in one posterior; their accuracy is estimated without labels.

A step that is shown has an anchor, a segment of its interval (`interval_posterior`). A window is right with probability a, the accuracy. The
centre c_k of a right one is drawn around the anchor, that of a wrong one from the density of chance:

    p(c_k | anchor at t) = a g(c_k - t) + (1 - a) b(c_k),     p(c_k | step not shown) = b(c_k)

g is the density of the offset between speech and action, a mixture of Gaussians measured on narrated vlogs. b has three parts of equal weight:
uniform over the video; where order and position alone expect the step; where the other videos of the task have its window. So a window
at the usual place of a step adds little evidence.

One posterior keeps the order of the list (`joint_posterior`): it multiplies anchors by p(c_k | anchor) / p(c_k | not shown). The log-ratios of its
features are divided by their autocorrelation time (`tempered`): neighbouring seconds are not independent observations.

Videos leave the order of the list. In a second posterior (`independent_posterior`), features and window of a step are therefore two observers,
each of which is right or wrong. With f_k the posterior of the features over the segments, q_k the probability that they are right, and
F_k = sum_t f_k(t) g(c_k - t) the density of the centre if both are right, the four cases have the weights

    features alone  q_k (1 - a)      both  q_k a F_k / b(c_k)      window alone  (1 - q_k) a      neither  (1 - q_k) (1 - a)

and the step is where features find it; where f_k(t) g(c_k - t) is large; where g(c_k - t) is large; anywhere. The probability that a moment lies in
the step (`independent_hits`) sums the four cases; where neither is right, order alone may be.

How often features are right differs from corpus to corpus, and their posterior is as sharp where they say nothing. Whether they say something is seen
without labels from the order of the list: with Z the likelihood ratio of a video's features, and Z_s that with the columns of its steps rotated by
s places, the features of a collection have the informativeness

    lambda = 1 - exp(-max(x, 0)),     x = sum over videos of mean_s (log Z - log Z_s) / number of their steps
    q_k = lambda sigmoid(0.27 logit(max_t P(segment t in step k | features)) - 0.75)

The accuracy a is estimated from all windows of a collection. Summed over the cases, a centre has the density b (1 + a q (F / b - 1)). Features and
windows of a task may agree on where a step usually is beyond what b knows, in training they even have the same source. M, the mean of F / b for windows of
other videos of the task, at least 1, shows how much; but right windows raise it too, so half of log M is discounted. With a uniform prior,

    log P(a | windows) = sum_k log(1 + a q_k (F_k / (sqrt(M) b_k) - 1)) + const

Few windows, or features that say nothing, leave a uncertain: the weights of the four cases are averaged over this posterior.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from crosstask.inference.confidence import RIGHT, calibrated
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
_MOST_ROTATIONS = 8  # of the step list
_LARGEST_INFORMATIVENESS = 0.999  # before a logarithm
_UNRELATED_WINDOWS = 20.0  # windows of other videos with F / b = 1 that are counted into M
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
    anchors = order_posterior(features).anchors
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


class Reliability(NamedTuple):
    """Of the two sources in a collection: the accuracy of its windows, and the informativeness lambda of its features."""

    accuracy: WindowAccuracy
    informativeness: float

    @property
    def features_weight(self) -> float:
        """w = (1 - a) lambda / ((1 - a) lambda + a), a being the expected accuracy; 1 where neither source says anything."""
        of_features = (1 - self.accuracy.mean) * self.informativeness
        total = of_features + self.accuracy.mean
        return of_features / total if total > 0 else 1.0


def order_posterior(features: FeatureEvidence) -> IntervalPosterior:
    """The posterior of ordered intervals given position, duration and presence alone, without the log-ratios of the features."""
    return feature_posterior(features._replace(log_ratios=np.zeros_like(features.log_ratios)))


def informativeness_of(order_gains: Sequence[float], n_steps: Sequence[int]) -> float:
    """lambda of features from the order gains and numbers of steps of some videos; 0 without any.

    >>> round(informativeness_of([3.0, 1.0], [2, 2]), 3)  # 1 - 1 / e
    0.632
    """
    return float(1 - np.exp(-max(sum(order_gains) / max(sum(n_steps), 1), 0.0)))


def order_gain_per_step(informativeness: float) -> float:
    """The order gain per step of features with this lambda; the inverse of `informativeness_of`.

    >>> round(order_gain_per_step(informativeness_of([3.0, 1.0], [2, 2])), 3)
    1.0
    """
    return float(-np.log1p(-min(informativeness, _LARGEST_INFORMATIVENESS)))


def order_gain(features: FeatureEvidence) -> float:
    """Mean of log Z - log Z_s over rotations s of the step list, at most eight of them; 0 for a single step."""
    n_steps = len(features.presence)
    n_rotations = min(_MOST_ROTATIONS, n_steps - 1)
    if n_rotations < 1:
        return 0.0
    in_order = feature_posterior(features).log_likelihood
    shifts = np.linspace(1, n_steps - 1, n_rotations).round().astype(int)
    return float(np.mean([in_order - feature_posterior(_rotated(features, int(shift))).log_likelihood for shift in shifts]))


def _rotated(features: FeatureEvidence, shift: int) -> FeatureEvidence:
    """The same with the log-ratios of each step taken from the step `shift` places before; priors stay."""
    steps, background = features.log_ratios[:, :-1], features.log_ratios[:, -1:]
    return features._replace(log_ratios=np.hstack([np.roll(steps, shift, axis=1), background]))


def p_right(in_step: Array) -> Array:
    """(K,) q / lambda: the probability that features with posterior in_step (T, K) are right, where features are informative."""
    return calibrated(in_step.max(axis=0), RIGHT)


def independent_posterior(in_step: Array, mean_duration: Array, windows: Windows, reliability: Reliability) -> Array:
    """(T, K) P(segment in step) when features, with posterior in_step (T, K), and windows are two observers; NaN without a window."""
    (features_alone, both, window_alone, _), located = _cases(in_step, mean_duration, windows, reliability)
    return np.asarray(features_alone * located[0] + both * located[1] + window_alone * located[2])


def independent_hits(in_step: Array, by_order: Array, mean_duration: Array, windows: Windows, reliability: Reliability) -> Array:
    """(T, K) P(a moment at the segment lies in the step): the same with by_order (T, K), the posterior of order alone, where neither is right.

    Intervals have their trained durations here; decoding shortens them.
    """
    weights, located = _cases(in_step, mean_duration / DURATION_SHARE, windows, reliability)
    return np.asarray((weights[:, None] * np.stack([*located, by_order])).sum(axis=0))


def feature_hits(in_step: Array, by_order: Array, informativeness: float) -> Array:
    """(T, K) P(a moment at the segment lies in the step) by features with posterior in_step (T, K), or else by order alone."""
    q = informativeness * p_right(in_step)
    return np.asarray(q * _relative(in_step) + (1 - q) * by_order)


def _cases(
    in_step: Array, mean_duration: Array, windows: Windows, reliability: Reliability
) -> tuple[Array, tuple[Array, Array, Array]]:
    """Expected weights (4, K) of the four cases, and P(segment in step) (T, K) in each of the first three."""
    near_window = offset_densities(windows.centres_s, len(in_step))
    q, both = reliability.informativeness * p_right(in_step), _normalised(in_step) * near_window
    a = ACCURACIES[:, None]
    cases = np.stack(
        [q * (1 - a), q * a * both.sum(axis=0) / windows.chance, (1 - q) * a, (1 - q) * (1 - a)]
    )  # (4, accuracies, K)
    weights = np.einsum("cak,a->ck", cases / cases.sum(axis=0), reliability.accuracy.probability)
    near_both, near_anchor = (_around_anchors(_normalised(of), mean_duration) for of in (both, near_window))
    return weights, (_relative(in_step), near_both, near_anchor)


def _relative(in_step: Array) -> Array:
    """(T, K) posterior in units of its maximum for each step."""
    return np.asarray(in_step / np.maximum(in_step.max(axis=0), _SMALLEST))


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


def density_ratios(in_step: Array, windows: Windows) -> Array:
    """(K,) F / b: how much more likely features that are right make the centre of a right window than chance does; NaN without a window."""
    by_features = (_normalised(in_step) * offset_densities(windows.centres_s, len(in_step))).sum(axis=0)
    return np.asarray(by_features / windows.chance)


class VideoAgreement(NamedTuple):
    """Of a video: its `order_gain`, and the number of steps (0 for a single one, which has no order); of its n windows: q / lambda, and F / b.

    Likewise F / b of windows that other videos of the task have, taken over in relative time.
    """

    order_gain: float
    n_steps: int
    p_right: Array
    density_ratio: Array
    unrelated_ratio: Array


def video_agreement(features: FeatureEvidence, in_step: Array, windows: Windows, unrelated: Sequence[Windows]) -> VideoAgreement:
    """What a video, with posterior in_step (T, K) of its features, says of the reliability of both sources; `unrelated` are of other videos."""
    n_steps, narrated = in_step.shape[1], ~np.isnan(windows.centres_s)
    ratios = np.concatenate([np.zeros(0), *(density_ratios(in_step, of_other) for of_other in unrelated)])
    return VideoAgreement(
        order_gain(features),
        n_steps if n_steps > 1 else 0,
        p_right(in_step)[narrated],
        density_ratios(in_step, windows)[narrated],
        ratios[~np.isnan(ratios)],
    )


def estimate_reliability(videos: Sequence[VideoAgreement], n_members: int = 1) -> Reliability:
    """lambda, and the posterior of the accuracy under a uniform prior, from all videos of a collection, each by `n_members` models.

    >>> nothing = estimate_reliability([])
    >>> round(nothing.accuracy.mean, 3), nothing.informativeness
    (0.5, 0.0)
    """
    informativeness = informativeness_of([video.order_gain for video in videos], [video.n_steps for video in videos])
    unrelated = np.concatenate([np.zeros(0), *(video.unrelated_ratio for video in videos)])
    pseudo = _UNRELATED_WINDOWS * n_members
    usual = np.sqrt(max((unrelated.sum() + pseudo) / (len(unrelated) + pseudo), 1.0))  # of M
    log_p = np.zeros(len(ACCURACIES))
    for video in videos:
        ratio = 1 + ACCURACIES[:, None] * informativeness * video.p_right * (video.density_ratio / usual - 1)
        log_p += np.log(np.maximum(ratio, _SMALLEST)).sum(axis=1) / n_members  # the models describe the same windows
    probability = np.exp(log_p - log_p.max())
    return Reliability(WindowAccuracy(probability / probability.sum()), informativeness)
