"""EM for the default method: a left-to-right hidden Markov model with skips, Gaussian emissions and weak labels.

The whitened features x_t of each video are observed, and windows: for some steps, segments where narration says that the step may lie. The state of each
segment is hidden: one of the K steps, or background (`inference/hmm_posterior.py`). Parameters are the class means m_c and the within-class
covariance S of all tasks (`class_means.py`), and a prior of position, duration and presence for each task (`task_prior.py`).

Initial labels: the windows of a step where it has one, otherwise the K-th part of the video that even spacing gives it. Then, `iterations` times:

    M step   from the soft labels r_tk of all videos: class means by Gaussian-process regression, covariance, and the prior of each task.
    E step   gamma_tk = P(segment t in step k | x, windows), the HMM posterior. The new labels mix both sources:

             r = w * g * initial + (1 - w) * gamma

             For a step with a window, w = window_weight and g = 1. For a step without one, w = spacing_weight and g = e / (e + gate),
             e being the mean of P(segment in step | x) over the evenly spaced label: it counts as far as the features agree.

The E step is cross-fitted: the labels of a video are computed with class means estimated from the other folds, otherwise a video would confirm its
own labels. Steps that a person labelled are not estimated: their labels are fixed, and the posterior of the video's other steps is conditional on them
(`known_steps.py`). In a task of which a person labelled every step of some video, the first labels of the other videos are posteriors under parameters
estimated from the labelled videos alone. Windows are used only if they are informative about the features (`window_test.py`).
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from crosstask.inference.hmm_posterior import HmmPosterior, hmm_posterior
from crosstask.inference.loose_order_posterior import loose_order_posterior, loose_transitions
from crosstask.learning.hmm.class_means import (
    LdaWeights,
    MeanPrior,
    class_means,
    lda_weights,
    log_likelihood_ratios,
    mean_coefficients,
    observation_noise,
    within_covariance,
)
from crosstask.learning.hmm.informativeness import cross_fitted_informativeness
from crosstask.learning.hmm.known_steps import KnownSteps, start_probabilities
from crosstask.learning.hmm.statistics import (
    ClassIndex,
    HmmVideo,
    SufficientStatistics,
    assign_folds,
    normalised_labels,
    second_moment_of,
)
from crosstask.learning.hmm.task_prior import (
    BACKWARD_REACH,
    INITIAL_PRESENCE,
    P_BACKGROUND,
    P_BACKWARD,
    TaskPrior,
    initial_prior,
    update_prior,
    zero_counts,
)
from crosstask.learning.hmm.window_test import windows_are_informative

Floats = npt.NDArray[np.floating]
_SMALL_RIDGE = 1e-3  # share of the mean variance that makes a second moment invertible


@dataclass(frozen=True)
class EmSettings:
    """Settings of EM, the same for every corpus; chosen on development splits of Breakfast, captaincook and of speech features."""

    iterations: int = 10
    folds: int = 5  # of the cross-fitting; 10 cost twice as much and score alike
    window_weight: float = 0.3  # w: share of a window in the later labels of its step ...
    spacing_weight: float = 0.25  # ... and of the evenly spaced label of a step without a window
    gate: float = 0.2  # agreement at which an evenly spaced label counts half
    window_bias: float = 0.3  # variance of the error of class means estimated from windows ...
    spacing_bias: float = 1.0  # ... and from even spacing; in units of whitened features
    evidence_weight: float = 1.0  # of the log-likelihood ratios of features in the E step
    fold_seed: int = 0  # of the assignment of videos to folds
    mean_prior: MeanPrior = field(default_factory=MeanPrior)

    @property
    def autocorrelation_time(self) -> float:
        """The autocorrelation time of the training features in seconds, from the observation noise."""
        return self.mean_prior.noise / observation_noise(1.0)


class EmRun(NamedTuple):
    """What a run of EM needs besides the videos."""

    classes: ClassIndex
    settings: EmSettings


@dataclass(frozen=True)
class DataSummary:
    """What several runs of EM on the same videos share: the second moment (d, d) of their rows, and whether their windows are informative."""

    second_moment: npt.NDArray[np.float64]
    windows_informative: bool


def summarise(videos: Sequence[HmmVideo], classes: ClassIndex, settings: EmSettings) -> DataSummary:
    """The summary of some training videos."""
    folds, second_moment = _folds(videos, settings), second_moment_of([video.rows for video in videos])
    informative = windows_are_informative(videos, classes, folds, second_moment, settings.mean_prior, settings.window_bias)
    return DataSummary(second_moment, informative)


def _folds(videos: Sequence[HmmVideo], settings: EmSettings) -> list[int]:
    return assign_folds(videos, settings.folds, settings.fold_seed)


@dataclass(frozen=True)
class HmmParameters:
    """The result: regression coefficients (C, d) of the class means, covariance (d, d), priors by task, and whether windows were used.

    `informativeness` is lambda of the training features (`informativeness.py`), where it was estimated.
    """

    coefficients: npt.NDArray[np.float64]
    covariance: npt.NDArray[np.float64]
    priors: tuple[TaskPrior, ...]
    windows_used: bool
    informativeness: float | None = None


@dataclass(frozen=True)
class EmState:
    """The state after some iterations: soft counts (kinds, folds, C) and feature sums (kinds, folds, C, d) of the last one, and the priors."""

    iterations: int
    counts: npt.NDArray[np.float64]
    sums: npt.NDArray[np.float64]
    priors: tuple[TaskPrior, ...]


@dataclass(frozen=True)
class StartingPoint:
    """The parameters of a trained model to continue from: LDA weights of all classes (C, d), and priors by task."""

    lda: LdaWeights
    priors: tuple[TaskPrior, ...]

    def replaced_by(self, other: "StartingPoint", tasks: Collection[int], classes: ClassIndex) -> "StartingPoint":
        """The same with the parameters of another starting point for some tasks."""
        weights, offsets = self.lda.weights.copy(), self.lda.offsets.copy()
        for task in tasks:
            weights[classes.of(task)] = other.lda.weights[classes.of(task)]
            offsets[classes.of(task)] = other.lda.offsets[classes.of(task)]
        priors = (other.priors[task] if task in tasks else prior for task, prior in enumerate(self.priors))
        return StartingPoint(LdaWeights(weights, offsets), tuple(priors))


def fit_em(
    videos: Sequence[HmmVideo],
    classes: ClassIndex,
    settings: EmSettings,
    after_iteration: Callable[[EmState], None] = lambda state: None,
    resume_from: EmState | None = None,
    start: StartingPoint | None = None,
    summary: DataSummary | None = None,
) -> HmmParameters:
    """The parameters after all iterations, or after those that remain; the order of the videos matters only for their folds.

    From a `start`, the first labels are posteriors under its parameters instead of initial labels; with a text side, under the
    prior means that the step names give; in tasks with labelled videos, under what these give. `summary` is computed where it
    is not given.
    """
    folds, summary = _folds(videos, settings), summary or summarise(videos, classes, settings)
    second_moment, informative = summary.second_moment, summary.windows_informative
    windows = _windows_used(videos, informative)
    bias = _label_bias(videos, windows, classes, settings)
    if start is None and classes.directions is not None:
        start = StartingPoint(_lda_by_names(classes, second_moment), tuple(initial_prior(n) for n in classes.n_steps))
    labelled, with_initial_labels = tasks_with_labels(videos), frozenset[int]()
    if start is None or labelled:
        by_labels = start_from_labels(videos, SufficientStatistics(classes, folds, videos), bias, second_moment, settings)
        with_initial_labels = frozenset(range(len(classes.n_steps))) - labelled if start is None else frozenset()
        start = by_labels if start is None else start.replaced_by(by_labels, labelled, classes)
    if resume_from is None:
        first, priors = 0, list(start.priors)
        statistics = SufficientStatistics(classes, folds, videos)
    else:
        first, priors = resume_from.iterations, list(resume_from.priors)
        statistics = SufficientStatistics(classes, folds, videos, resume_from.counts, resume_from.sums)
    for iteration in range(first, settings.iterations):
        lda = [start.lda] * statistics.n_folds
        if iteration:
            lda = statistics.lda_without_each_fold(bias, second_moment, settings.mean_prior)
            with_initial_labels = frozenset()
        empty = SufficientStatistics(classes, folds, videos)
        statistics, priors = _iteration(videos, windows, empty, lda, priors, settings, with_initial_labels)
        after_iteration(EmState(iteration + 1, statistics.counts, statistics.sums, tuple(priors)))
    totals = statistics.totals(bias)
    covariance = within_covariance(totals, second_moment, statistics.n_rows, settings.mean_prior)
    relative = totals.relative_to(classes.prior_means(covariance))
    coefficients = mean_coefficients(relative, classes.kernel, settings.mean_prior)
    return HmmParameters(coefficients, covariance, tuple(priors), informative)


def _windows_used(videos: Sequence[HmmVideo], informative: bool) -> list[npt.NDArray[np.bool_]]:
    """The windows (T, K) of each video; none where windows are not informative."""
    return [video.windows if informative else np.zeros_like(video.windows) for video in videos]


def estimate_informativeness(
    videos: Sequence[HmmVideo], classes: ClassIndex, settings: EmSettings, state: EmState, summary: DataSummary
) -> float:
    """lambda of the training features after some iterations, each video scored with class means of the other folds."""
    folds = _folds(videos, settings)
    statistics = SufficientStatistics(classes, folds, videos, state.counts, state.sums)
    bias = _label_bias(videos, _windows_used(videos, summary.windows_informative), classes, settings)
    lda = statistics.lda_without_each_fold(bias, summary.second_moment, settings.mean_prior)
    return cross_fitted_informativeness(videos, classes, folds, lda, state.priors, settings.autocorrelation_time)


def _iteration(
    videos: Sequence[HmmVideo],
    windows: Sequence[npt.NDArray[np.bool_]],
    statistics: SufficientStatistics,
    lda: Sequence[LdaWeights],
    priors: Sequence[TaskPrior],
    settings: EmSettings,
    with_initial_labels: frozenset[int],
) -> tuple[SufficientStatistics, list[TaskPrior]]:
    """The statistics, empty before, of the labels of all videos, and the updated priors; `lda` is by fold.

    The videos of tasks `with_initial_labels` have those, the others posteriors.
    """
    classes = statistics.classes
    counts = [zero_counts(n_steps) for n_steps in classes.n_steps]
    for number, (video, of_video) in enumerate(zip(videos, windows, strict=True)):
        of_other_folds = None if video.task in with_initial_labels else lda[statistics.folds[number]]
        labels, p_shown = soft_labels(video, of_video, classes.of(video.task), of_other_folds, priors[video.task], settings)
        statistics.add(number, video, labels)
        counts[video.task].add(labels, p_shown)
    return statistics, [update_prior(of_task, before) for of_task, before in zip(counts, priors, strict=True)]


def tasks_with_labels(videos: Sequence[HmmVideo]) -> frozenset[int]:
    """The tasks of which a person labelled every step of some video."""
    return frozenset(video.task for video in videos if video.known is not None and video.known.labelled.all())


def start_from_labels(
    videos: Sequence[HmmVideo], statistics: SufficientStatistics, bias: Floats, second_moment: Floats, settings: EmSettings
) -> StartingPoint:
    """LDA weights and priors estimated from the videos that a person labelled; `statistics` is empty before."""
    classes = statistics.classes
    priors = [initial_prior(n_steps) for n_steps in classes.n_steps]
    counts = [zero_counts(n_steps) for n_steps in classes.n_steps]
    for number, video in enumerate(videos):
        if video.known is not None:
            no_windows = np.zeros_like(video.windows)
            labels, p_shown = soft_labels(video, no_windows, classes.of(video.task), None, priors[video.task], settings)
            statistics.add(number, video, labels)
            counts[video.task].add(labels, p_shown)
    totals = statistics.totals(bias)
    covariance = within_covariance(totals, second_moment, statistics.n_rows, settings.mean_prior)
    prior_means = classes.prior_means(covariance)
    coefficients = mean_coefficients(totals.relative_to(prior_means), classes.kernel, settings.mean_prior)
    means = prior_means + class_means(coefficients, classes.kernel, settings.mean_prior)
    of_labelled = [update_prior(of_task, before) for of_task, before in zip(counts, priors, strict=True)]
    return StartingPoint(lda_weights(means, covariance), tuple(of_labelled))


def _lda_by_names(classes: ClassIndex, second_moment: Floats) -> LdaWeights:
    """The LDA weights of all classes by their names alone."""
    mean_variance = np.trace(second_moment) / len(second_moment)
    covariance = second_moment + _SMALL_RIDGE * mean_variance * np.eye(len(second_moment))
    return lda_weights(classes.prior_means(covariance), covariance)


def soft_labels(
    video: HmmVideo,
    windows: npt.NDArray[np.bool_],
    classes: slice,
    lda: LdaWeights | None,
    prior: TaskPrior,
    settings: EmSettings,
) -> tuple[Floats, Floats]:
    """Soft labels (T, K + 1), background last, and the expected number of intervals of each step (K,); without `lda`, initial labels."""
    n_segments, n_steps = windows.shape
    has_window = windows.any(axis=0)
    initial = np.where(has_window, windows, uniform_labels(n_segments, n_steps)).astype(np.float64)
    if lda is None:
        labels, starts = normalised_labels(initial), np.full(n_steps, INITIAL_PRESENCE)
        if video.known is not None:
            labels, starts = labels_given_known(prior.position_log_ratios(n_segments), video.known, prior)
    else:
        of_features = settings.evidence_weight * log_likelihood_ratios(video.rows, lda, classes)
        ratios = prior.position_log_ratios(n_segments) + of_features
        labels, starts = mixed_labels(initial, ratios, windows, prior, settings, video.known)
    return np.hstack([labels, 1 - labels.sum(axis=1, keepdims=True)]), starts


def mixed_labels(
    initial: Floats,
    ratios: Floats,
    windows: npt.NDArray[np.bool_],
    prior: TaskPrior,
    settings: EmSettings,
    known: KnownSteps | None = None,
) -> tuple[Floats, Floats]:
    """The mixture r (T, K) of initial labels and posterior, and P(shown) (K,), for log-ratios (T, K + 1) without windows."""
    has_window = windows.any(axis=0)
    with_windows = ratios + window_log_ratios(windows) if has_window.any() else ratios
    gamma = posterior(with_windows, prior)
    in_step, starts = (gamma.in_step, gamma.p_shown) if known is None else labels_given_known(with_windows, known, prior)
    if has_window.all():
        gated = normalised_labels(initial)
    else:
        without_windows = posterior(ratios, prior) if has_window.any() else gamma
        agreement = (without_windows.in_step * initial).sum(axis=0) / initial.sum(axis=0)
        gated = normalised_labels(initial * np.where(has_window, 1.0, agreement / (agreement + settings.gate)))
    weight = np.where(has_window, settings.window_weight, settings.spacing_weight)
    if known is None:
        return normalised_labels(weight * gated + (1 - weight) * in_step), starts
    return known.impose(np.where(known.labelled, in_step, weight * gated + (1 - weight) * in_step)), starts


def labels_given_known(ratios: Floats, known: KnownSteps, prior: TaskPrior) -> tuple[Floats, Floats]:
    """Labels (T, K) and P(shown) (K,) of a video with log-ratios (T, K + 1), given what a person labelled."""
    strict = posterior(ratios + known.log_ratios, prior)
    in_step = strict.in_step if known.in_order else loose_posterior(ratios + known.log_ratios, prior)
    return known.impose(in_step), start_probabilities(known, strict.p_shown)


def posterior(log_ratios: Floats, prior: TaskPrior) -> HmmPosterior:
    """The HMM posterior of a video with log-ratios (T, K + 1) under the prior of its task."""
    n_segments = len(log_ratios)
    a, a_bg = prior.self_transition(n_segments), prior.background_self_transition(n_segments)
    return hmm_posterior(log_ratios, a, a_bg, P_BACKGROUND, prior.presence)


def loose_posterior(log_ratios: Floats, prior: TaskPrior) -> npt.NDArray[np.float64]:
    """(T, K) posterior where an earlier step of the list may follow with a small probability."""
    n_segments, n_steps = len(log_ratios), len(prior.duration)
    transitions = loose_transitions(np.full(n_steps, INITIAL_PRESENCE), P_BACKWARD, BACKWARD_REACH)
    a, a_bg = prior.self_transition(n_segments), prior.background_self_transition(n_segments)
    return loose_order_posterior(log_ratios, a, a_bg, P_BACKGROUND, transitions)


def window_log_ratios(windows: npt.NDArray[np.bool_]) -> Floats:
    """(T, K + 1) log-ratios of windows (T, K): log(1 + T / length) spread over a window's segments, so a window counts as one observation."""
    n_segments, n_steps = windows.shape
    lengths = windows.sum(axis=0)
    share = np.where(lengths > 0, lengths / n_segments, 1.0)
    ratios = np.zeros((n_segments, n_steps + 1))
    np.multiply(windows, np.log(1 + 1 / share) / np.maximum(lengths, 1), out=ratios[:, :-1])
    return ratios


def uniform_labels(n_segments: int, n_steps: int) -> Floats:
    """(T, K) labels of even spacing: each step has the K-th part of the video, in order."""
    return np.eye(n_steps)[np.minimum(((np.arange(n_segments) + 0.5) / n_segments * n_steps).astype(int), n_steps - 1)]


def _label_bias(
    videos: Sequence[HmmVideo], windows: Sequence[npt.NDArray[np.bool_]], classes: ClassIndex, settings: EmSettings
) -> Floats:
    """(C,) bias variance of each class: between that of windows and of even spacing, by the share of videos with a window."""
    with_window, total = np.zeros(len(classes.kernel)), np.zeros(len(classes.kernel))
    for video, of_video in zip(videos, windows, strict=True):
        of_task = classes.of(video.task)
        with_window[of_task] += np.append(of_video.any(axis=0), True)
        total[of_task] += 1
    share = with_window / np.maximum(total, 1)
    return settings.window_bias * share + settings.spacing_bias * (1 - share)
