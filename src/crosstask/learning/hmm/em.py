"""Learning step looks from order and windows by labelling the videos oneself, a handful of times.

First labels: the window of a step where it has one, an even share of the video where it has none. Then, a few times over: the looks of all classes
from all labels (`step_looks`), the habits of each task (`run_habits`), and new labels for each video, half of them the first ones, believed as far as the
model agrees with them, and half the posterior of ordered runs. A video is always labelled by looks learnt from other videos (ten folds):
otherwise it would only confirm its own mistakes.

Windows are first put to the test: if scores learnt from them are no higher inside a video's own window than inside the windows of the task's other
videos, they say nothing about the picture, and are not used.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from crosstask.inference.hmm_posterior import HmmPosterior, hmm_posterior
from crosstask.learning.hmm.class_means import (
    ClassStatistics,
    LdaWeights,
    MeanPrior,
    class_means,
    lda_weights_from_cholesky,
    log_likelihood_ratios,
    mean_coefficients,
    within_covariance,
)
from crosstask.learning.hmm.task_prior import PAUSE, TaskPrior, initial_prior, update_prior, zero_counts

Floats = npt.NDArray[np.floating]
_GRID = 50  # places of relative time on which windows of different videos are compared


@dataclass(frozen=True)
class EmSettings:
    """How labels are renewed. One set of values for every corpus."""

    rounds: int = 10
    folds: int = 10
    first_labels: float = 0.5  # their share in later labels
    gate: float = 0.2  # a first label counts e / (e + gate), e the model's mean belief in it
    window_bias: float = 0.3  # windows are wrong in a systematic way ...
    order_bias: float = 1.0  # ... and even shares of the video more so
    looks: MeanPrior = field(default_factory=MeanPrior)


@dataclass(frozen=True)
class HmmVideo:
    """A training video: its task's number, described rows (T, d), and windows (T, K) with zero columns where a step has none."""

    task: int
    rows: npt.NDArray[np.float32]
    windows: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class HmmParameters:
    """What was learnt: coefficients (C, d) of the looks, within-class covariance (d, d), habits of each task, and whether windows were used."""

    coefficients: npt.NDArray[np.float64]
    covariance: npt.NDArray[np.float64]
    habits: tuple[TaskPrior, ...]
    windows_used: bool


@dataclass(frozen=True)
class Classes:
    """The classes of all tasks: K steps and a background each, one task after another, and the words they share (C, C)."""

    n_steps: tuple[int, ...]
    word_kernel: npt.NDArray[np.float64]

    def of(self, task: int) -> slice:
        """The classes of a task, background last."""
        first = sum(self.n_steps[:task]) + task
        return slice(first, first + self.n_steps[task] + 1)


@dataclass(frozen=True)
class EmState:
    """Where learning stands after some rounds: soft counts (folds, C) and sums (folds, C, d) of the last, and the habits found in it."""

    rounds: int
    counts: npt.NDArray[np.float64]
    sums: npt.NDArray[np.float64]
    habits: tuple[TaskPrior, ...]


def learn(
    videos: Sequence[HmmVideo],
    classes: Classes,
    settings: EmSettings,
    after_round: Callable[[EmState], None] = lambda done: None,
    before: EmState | None = None,
) -> HmmParameters:
    """Label and learn, a few rounds, or those that are left after `before`; the order of videos matters only for who shares a fold."""
    folds = assign_folds(videos, settings.folds)
    moments = _second_moment([video.rows for video in videos])
    trusted = windows_are_informative(videos, classes, folds, moments, settings)
    windows = [video.windows if trusted else np.zeros_like(video.windows) for video in videos]
    habits = [initial_prior(n_steps) for n_steps in classes.n_steps] if before is None else list(before.habits)
    bias = _bias(videos, windows, classes, settings)
    tally = (
        SufficientStatistics(classes, folds, videos)
        if before is None
        else SufficientStatistics(classes, folds, videos, before.counts, before.sums)
    )
    for done in range(0 if before is None else before.rounds, settings.rounds):
        evidence = tally.evidence(bias, moments, settings) if done else []
        counts = [zero_counts(n_steps) for n_steps in classes.n_steps]
        tally = SufficientStatistics(classes, folds, videos)
        for number, (video, shown) in enumerate(zip(videos, windows, strict=True)):
            own = evidence[folds[number]] if done else None
            labels, begun = _labels(video, shown, classes.of(video.task), own, habits[video.task], settings)
            tally.add(number, video, labels)
            counts[video.task].add(labels, begun)
        habits = [update_prior(count, earlier) for count, earlier in zip(counts, habits, strict=True)]
        after_round(EmState(done + 1, tally.counts, tally.sums, tuple(habits)))
    seen = tally.seen(bias)
    coefficients = mean_coefficients(seen, classes.word_kernel, settings.looks)
    covariance = within_covariance(seen, moments, tally.n_rows, settings.looks)
    return HmmParameters(coefficients, covariance, tuple(habits), trusted)


def _labels(
    video: HmmVideo,
    windows: npt.NDArray[np.bool_],
    classes: slice,
    evidence: LdaWeights | None,
    habits: TaskPrior,
    settings: EmSettings,
) -> tuple[Floats, Floats]:
    """Soft labels (T, K + 1), background last, and the expected number of runs of each step (K,)."""
    n_segments, n_steps = windows.shape
    windowed = windows.any(axis=0)
    first = np.where(windowed, windows, uniform_labels(n_segments, n_steps)).astype(np.float64)
    if evidence is None:
        labels, begun = normalised_labels(first), np.full(n_steps, 0.7)
    else:
        ratios = habits.position_log_ratios(n_segments) + log_likelihood_ratios(video.rows, evidence, classes)
        belief = (posterior(ratios, habits).inside * first).sum(axis=0) / first.sum(axis=0)
        believed = normalised_labels(first * (belief / (belief + settings.gate)))
        found = posterior(ratios + _window_evidence(windows), habits) if windowed.any() else posterior(ratios, habits)
        labels = settings.first_labels * believed + (1 - settings.first_labels) * found.inside
        begun = found.shown
    return np.hstack([labels, 1 - labels.sum(axis=1, keepdims=True)]), begun


def posterior(ratios: Floats, habits: TaskPrior) -> HmmPosterior:
    """The posterior of ordered runs for log-ratios (T, K + 1) under a task's habits."""
    n_segments = len(ratios)
    return hmm_posterior(ratios, habits.stay(n_segments), habits.background_self_transition(n_segments), PAUSE, habits.presence)


def _window_evidence(windows: npt.NDArray[np.bool_]) -> Floats:
    """(T, K + 1) evidence of windows as such: together worth one hint, more when they are short."""
    share = np.where(windows.any(axis=0), windows.mean(axis=0), 1.0)
    boost = windows * np.log(1 + 1 / share) / np.maximum(windows.sum(axis=0), 1)
    return np.hstack([boost, np.zeros((len(windows), 1))])


def uniform_labels(n_segments: int, n_steps: int) -> Floats:
    """(T, K): each step its K-th part of the video, in order."""
    return np.eye(n_steps)[np.minimum(((np.arange(n_segments) + 0.5) / n_segments * n_steps).astype(int), n_steps - 1)]


def normalised_labels(labels: Floats) -> Floats:
    """Labels (T, K) where a segment's total is at most one."""
    return labels / np.maximum(labels.sum(axis=1, keepdims=True), 1)


class SufficientStatistics:
    """Soft counts and sums of rows by fold and class, so that any fold can be left out."""

    def __init__(
        self,
        classes: Classes,
        folds: Sequence[int],
        videos: Sequence[HmmVideo],
        counts: npt.NDArray[np.float64] | None = None,
        sums: npt.NDArray[np.float64] | None = None,
    ) -> None:
        self.classes, self.folds = classes, folds
        self.n_folds = max(folds) + 1
        self.n_rows = sum(len(video.rows) for video in videos)
        shape = (self.n_folds, len(classes.word_kernel), videos[0].rows.shape[1])
        self.counts = np.zeros(shape[:2]) if counts is None else counts
        self.sums = np.zeros(shape) if sums is None else sums

    def add(self, number: int, video: HmmVideo, labels: Floats) -> None:
        """Count one video's rows by their soft labels (T, K + 1)."""
        classes, fold = self.classes.of(video.task), self.folds[number]
        self.counts[fold, classes] += labels.sum(axis=0)
        self.sums[fold, classes] += labels.T @ video.rows

    def seen(self, bias: Floats, without: int | None = None) -> ClassStatistics:
        """The totals, one fold left out if asked; a single fold is never left out, as nothing would remain."""
        counts, sums = self.counts.sum(axis=0), self.sums.sum(axis=0)
        if without is not None and self.n_folds > 1:
            counts, sums = counts - self.counts[without], sums - self.sums[without]
        return ClassStatistics(np.maximum(counts, 0), sums, np.asarray(bias, dtype=np.float64))

    def evidence(self, bias: Floats, moments: Floats, settings: EmSettings) -> list[LdaWeights]:
        """For each fold, what the labels of all other folds tell."""
        from scipy.linalg import cho_factor  # here, not above: a trained model answers without it

        factor = cho_factor(within_covariance(self.seen(bias), moments, self.n_rows, settings.looks))
        return [_evidence(self.seen(bias, without=f), factor, self.classes, settings) for f in range(self.n_folds)]


def _evidence(seen: ClassStatistics, factor: tuple[Floats, bool], classes: Classes, settings: EmSettings) -> LdaWeights:
    coefficients = mean_coefficients(seen, classes.word_kernel, settings.looks)
    return lda_weights_from_cholesky(class_means(coefficients, classes.word_kernel, settings.looks), factor)


def assign_folds(videos: Sequence[HmmVideo], n_folds: int) -> list[int]:
    """Videos of each task dealt to the folds in turn."""
    dealt: dict[int, int] = {}
    folds = []
    for video in videos:
        folds.append(dealt.get(video.task, 0) % n_folds)
        dealt[video.task] = dealt.get(video.task, 0) + 1
    return folds


def _second_moment(videos: Sequence[Floats]) -> npt.NDArray[np.float64]:
    total = np.zeros((videos[0].shape[1],) * 2)
    for rows in videos:
        total += (rows.T @ rows).astype(np.float64)
    return total / sum(len(rows) for rows in videos)


def _bias(videos: Sequence[HmmVideo], windows: Sequence[npt.NDArray[np.bool_]], classes: Classes, settings: EmSettings) -> Floats:
    """How far first labels may be off, by class: between windows and even shares, by how often the class had a window."""
    windowed, total = np.zeros(len(classes.word_kernel)), np.zeros(len(classes.word_kernel))
    for video, shown in zip(videos, windows, strict=True):
        where = classes.of(video.task)
        windowed[where] += np.append(shown.any(axis=0), True)
        total[where] += 1
    share = windowed / np.maximum(total, 1)
    return settings.window_bias * share + settings.order_bias * (1 - share)


def windows_are_informative(
    videos: Sequence[HmmVideo], classes: Classes, folds: Sequence[int], moments: Floats, settings: EmSettings
) -> bool:
    """Whether the picture inside windows is told apart better by a video's own windows than by those of the task's other videos."""
    if not any(video.windows.any() for video in videos):
        return False
    tally = SufficientStatistics(classes, folds, videos)
    usual: dict[int, Floats] = {}
    for number, video in enumerate(videos):
        labels = normalised_labels(video.windows.astype(np.float64))
        tally.add(number, video, np.hstack([labels, 1 - labels.sum(axis=1, keepdims=True)]))
        usual[video.task] = usual.get(video.task, 0) + _on_grid(video.windows)
    evidence = tally.evidence(np.full(len(classes.word_kernel), settings.window_bias), moments, settings)
    gains = np.concatenate([_gain(v, usual[v.task], evidence[folds[i]], classes) for i, v in enumerate(videos)])
    if len(gains) < 2:
        return True
    n = len(gains)
    z = gains.mean() / (gains.std() + 1e-12) * np.sqrt(n)
    return bool(
        np.log(3) + 0.06 * np.sqrt(n) * z - 0.0018 * n > 0
    )  # log odds: a small true effect against none, 3 : 1 beforehand


def _on_grid(windows: npt.NDArray[np.bool_]) -> Floats:
    """Windows on a grid of relative time, (grid, K), each step's total one."""
    at = np.minimum(((np.arange(_GRID) + 0.5) / _GRID * len(windows)).astype(int), len(windows) - 1)
    taken = windows[at].astype(np.float64)
    return taken / np.maximum(taken.sum(axis=0), 1)


def _gain(video: HmmVideo, usual: Floats, evidence: LdaWeights, classes: Classes) -> Floats:
    """By step with a window: mean score inside it, less the mean score where the task's other videos have theirs."""
    windows = video.windows
    n_segments, n_steps = windows.shape
    ratios = log_likelihood_ratios(video.rows, evidence, classes.of(video.task))[:, :n_steps]
    at = np.minimum(((np.arange(n_segments) + 0.5) / n_segments * _GRID).astype(int), _GRID - 1)
    others = np.maximum(usual - _on_grid(windows), 0)[at]
    judged = windows.any(axis=0) & (others.sum(axis=0) > 0)
    inside = (ratios * windows).sum(axis=0) / np.maximum(windows.sum(axis=0), 1)
    elsewhere = (ratios * others).sum(axis=0) / np.maximum(others.sum(axis=0), 1e-9)
    return (inside - elsewhere)[judged]
