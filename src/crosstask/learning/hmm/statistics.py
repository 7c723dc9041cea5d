"""Sufficient statistics of EM: soft counts and feature sums of every class, kept by fold for cross-fitting."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from crosstask.learning.hmm.class_means import (
    ClassStatistics,
    Kernel,
    LdaWeights,
    MeanPrior,
    lda_weights_from_cholesky,
    observed_class_means,
    text_means,
    within_covariance,
)
from crosstask.learning.hmm.known_steps import KnownSteps
from crosstask.learning.hmm.whitening import of_two_halves

Floats = npt.NDArray[np.floating]
WEAK, HARD = 0, 1  # kinds of labels, the first axis of the statistics


@dataclass(frozen=True)
class HmmVideo:
    """A training video: number of its task, whitened rows (T, d), windows (T, K), and what a person labelled.

    A step without a window has a zero column.
    """

    task: int
    rows: npt.NDArray[np.float32]
    windows: npt.NDArray[np.bool_]
    known: KnownSteps | None = None


@dataclass(frozen=True)
class ClassIndex:
    """The C classes of all tasks, task after task, each with K steps and then its background; and the kernel between their names (C, C)."""

    n_steps: tuple[int, ...]
    kernel: Kernel
    directions: npt.NDArray[np.float64] | None = None  # (C, d) of step names, for features with a text side; zero for background

    @cached_property
    def _first(self) -> list[int]:
        return [0, *np.cumsum([n + 1 for n in self.n_steps]).tolist()]

    def of(self, task: int) -> slice:
        """The classes of a task, background last."""
        return slice(self._first[task], self._first[task + 1])

    def prior_means(self, covariance: Floats) -> Floats:
        """(C, d) prior means of the classes; zero without a text side."""
        if self.directions is None:
            return np.zeros((len(self.kernel), len(covariance)))
        return text_means(self.directions, covariance)


class SufficientStatistics:
    """Soft counts (2, folds, C) and feature sums (2, folds, C, d) of weak and of hard labels, kept by fold, so that each fold can be left out."""

    def __init__(
        self,
        classes: ClassIndex,
        folds: Sequence[int],
        videos: Sequence[HmmVideo],
        counts: npt.NDArray[np.float64] | None = None,
        sums: npt.NDArray[np.float64] | None = None,
    ) -> None:
        self.classes, self.folds = classes, folds
        self.n_folds = max(folds) + 1
        self.n_rows = sum(len(video.rows) for video in videos)
        kinds = 1 + any(video.known is not None for video in videos)
        shape = (kinds, self.n_folds, len(classes.kernel), videos[0].rows.shape[1])
        self.counts = np.zeros(shape[:3]) if counts is None else counts
        self.sums = np.zeros(shape) if sums is None else sums

    def add(self, number: int, video: HmmVideo, labels: Floats) -> None:
        """Add video `number` with its soft labels (T, K + 1); those of steps that a person labelled are hard.

        The background of a video whose every second is known is left out: it is that of one place, and with hard labels it
        would take segments from steps that this video does not show.
        """
        classes, fold = self.classes.of(video.task), self.folds[number]
        counts, sums = (
            labels.sum(axis=0),
            labels.T.astype(np.float32) @ video.rows,
        )  # in single precision, without a copy of the rows
        if video.known is None:
            self.counts[WEAK, fold, classes] += counts
            self.sums[WEAK, fold, classes] += sums
            return
        hard = np.append(video.known.labelled, False)
        if video.known.complete.all():
            counts[-1], sums[-1] = 0.0, 0.0
        for kind, of_kind in ((WEAK, ~hard), (HARD, hard)):
            self.counts[kind, fold, classes] += counts * of_kind
            self.sums[kind, fold, classes] += sums * of_kind[:, None]

    def totals(self, bias: Floats, without: int | None = None) -> ClassStatistics:
        """The statistics of all folds, or of all but one; a single fold is never left out, as nothing would remain."""
        counts, sums = self.counts.sum(axis=1), self.sums.sum(axis=1)
        if without is not None and self.n_folds > 1:
            counts, sums = counts - self.counts[:, without], sums - self.sums[:, without]
        counts = np.maximum(counts, 0)
        weak = ClassStatistics(counts[WEAK], sums[WEAK], np.asarray(bias, dtype=np.float64))
        return weak if len(counts) == 1 else replace(weak, hard_counts=counts[HARD], hard_sums=sums[HARD])

    def lda_without_each_fold(self, bias: Floats, second_moment: Floats, prior: MeanPrior) -> list[LdaWeights]:
        """For each fold, the LDA weights of class means estimated from the other folds; the covariance is that of all folds."""
        from scipy.linalg import cho_factor  # imported here: using a trained model does not need it

        kernel = self.classes.kernel
        covariance = within_covariance(self.totals(bias), second_moment, self.n_rows, prior)
        factor, mu = cho_factor(covariance), self.classes.prior_means(covariance)
        totals = (self.totals(bias, without=fold).relative_to(mu) for fold in range(self.n_folds))
        means = (observed_class_means(of_others, kernel, prior) for of_others in totals)
        return [lda_weights_from_cholesky(mu + of_fold, factor) for of_fold in means]


def assign_folds(videos: Sequence[HmmVideo], n_folds: int, seed: int = 0) -> list[int]:
    """The fold of each video: the videos of a task are drawn into the folds in turn, from a fold that is drawn for the task."""
    rng = np.random.default_rng(seed)
    of_task: dict[int, list[int]] = {}
    for number, video in enumerate(videos):
        of_task.setdefault(video.task, []).append(number)
    folds = np.zeros(len(videos), dtype=np.int64)
    for numbers in of_task.values():
        folds[rng.permutation(numbers)] = (rng.integers(n_folds) + np.arange(len(numbers))) % n_folds
    return [int(fold) for fold in np.unique(folds, return_inverse=True)[1]]  # without gaps: few videos fill only some folds


def second_moment_of(videos: Sequence[Floats]) -> npt.NDArray[np.float64]:
    """(d, d) mean of x xᵀ over all segments."""

    def of_some(part: range) -> npt.NDArray[np.float64]:
        total = np.zeros((videos[0].shape[1],) * 2)
        for number in part:
            total += (videos[number].T @ videos[number]).astype(np.float64)
        return total

    first, second = of_two_halves(of_some, len(videos))
    return (first + second) / sum(len(rows) for rows in videos)


def normalised_labels(labels: Floats) -> Floats:
    """Labels (T, K) divided by their sum in each segment where that exceeds 1."""
    return labels / np.maximum(labels.sum(axis=1, keepdims=True), 1)
