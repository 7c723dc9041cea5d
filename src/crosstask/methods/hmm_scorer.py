"""A member of a trained model of the default method: class means and priors of tasks, trained or new, and the posterior of a video."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from crosstask.inference.hmm_posterior import HmmPosterior
from crosstask.inference.narration_evidence import FeatureEvidence
from crosstask.learning.float16 import centred_scores
from crosstask.learning.hmm.class_means import LdaWeights, lda_weights, text_means
from crosstask.learning.hmm.em import EmSettings, HmmParameters, StartingPoint, loose_posterior, posterior
from crosstask.learning.hmm.informativeness import feature_evidence
from crosstask.learning.hmm.known_steps import start_probabilities
from crosstask.learning.hmm.statistics import ClassIndex
from crosstask.learning.hmm.task_prior import (
    DECODING_WEIGHT,
    UNSEEN_TASK_WEIGHT,
    TaskPrior,
    even_spacing,
    initial_prior,
)
from crosstask.learning.hmm.whitening import Whitening
from crosstask.methods.hmm_arrays import known_steps
from crosstask.methods.protocols import refuse_other_width
from crosstask.methods.text_prior import text_directions
from crosstask.records import InputError, StepLabel, Task, TextSide
from crosstask.text.encoders import Encoder
from crosstask.text.encoders.choice import installed_sentence_encoder
from crosstask.text.sharing import Sharing
from crosstask.text.word_kernel import (
    BACKGROUND,
    ClassNames,
    class_kernel,
    class_words,
    sparse_word_shares,
    step_vectors,
    with_meaning,
    word_shares,
)

WORDS_ONLY = "CROSSTASK_WORDS_ONLY"  # environment variable
LARGEST_DENSE_KERNEL = (
    1200  # classes, about 130 tasks; beyond, the kernel of words alone is kept in factored form, which costs far less
)
_CACHED_TASKS = 500  # step lists whose weights a scorer keeps
_SMALLEST_PROBABILITY = 1e-12  # before a logarithm
# Decoding averages the posterior of strict order with one that allows jumps back; chosen on development people and tasks of three corpora.
_P_STRICT_ORDER = 0.5  # weight of strict order; 0 was 1.1 points lower on development splits
# Few training videos of a task say little about how its steps look: even spacing is mixed into the posterior, less with every video.
_EVEN_SPACING_WEIGHT = 0.3  # with no video; chosen, like the next, on development people of Breakfast and captaincook
_ENOUGH_VIDEOS = 6  # training videos of a task from which on even spacing has no weight


def step_name_encoder() -> Encoder | None:
    """The sentence encoder for step names; None where none is installed, or where CROSSTASK_WORDS_ONLY=1 says not to use it."""
    return None if os.environ.get(WORDS_ONLY) == "1" else installed_sentence_encoder()


@dataclass(frozen=True)
class HmmScorer:
    """One trained hidden Markov model for the tasks that were trained, and for new tasks by the words of their steps."""

    whitening: Whitening
    parameters: HmmParameters
    tasks: tuple[Task, ...]
    sharing: Sharing
    settings: EmSettings = field(default_factory=EmSettings)
    n_videos: tuple[int, ...] = ()  # training videos by task; empty for files that do not say
    vectors: npt.NDArray[np.float32] | None = None  # (C, e) of the names of the trained steps, where an encoder was used
    text_side: TextSide | None = None  # of image-text features, with the names of the trained steps
    _cache: dict[tuple[str, tuple[str, ...]], tuple[LdaWeights, TaskPrior]] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )

    def score(self, task: Task, features: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
        """(T, D) -> (T, K) log-probability that the segment lies in the step, given the whole video."""
        return self.log_posterior(self.posterior(task, features))

    @staticmethod
    def log_posterior(found: HmmPosterior) -> npt.NDArray[np.floating]:
        """(T, K) scores from a posterior."""
        return np.log(found.in_step + _SMALLEST_PROBABILITY)

    def posterior(self, task: Task, features: npt.NDArray[np.floating], labels: Sequence[StepLabel] = ()) -> HmmPosterior:
        """The posterior of a task's steps in a video with features (T, D): the mean of strict and of loose order.

        For a task with few training videos, even spacing is mixed into it. Steps with a label by a person are certain, and the
        others conditional on them.
        """
        lda, prior = self._parameters_of(task)
        scores = self._lda_scores(lda, features)
        position = prior.position_log_ratios(len(scores), DECODING_WEIGHT if prior.trained else UNSEEN_TASK_WEIGHT)
        log_ratios = position + scores - scores[:, -1:]
        known = known_steps(labels, len(scores), len(task.steps)) if labels else None
        if known is not None:
            log_ratios = log_ratios + known.log_ratios
        strict = posterior(log_ratios, prior)
        p_strict = _P_STRICT_ORDER if known is None or known.in_order else 0.0
        in_step = p_strict * strict.in_step + (1 - p_strict) * loose_posterior(log_ratios, prior)
        weight = self.even_spacing_weight(task)
        if weight > 0:
            in_step = (1 - weight) * in_step + weight * even_spacing(len(in_step), len(task.steps))
        if known is None:
            return HmmPosterior(in_step, strict.starts, strict.log_likelihood)
        starts = strict.starts / np.maximum(strict.p_shown, _SMALLEST_PROBABILITY) * start_probabilities(known, strict.p_shown)
        return HmmPosterior(known.impose(in_step), starts, strict.log_likelihood)

    def even_spacing_weight(self, task: Task) -> float:
        """The weight of even spacing in the posterior of a task: 0 for a task with enough training videos, or with none."""
        number = self._number_of(task)
        if number is None or number >= len(self.n_videos):
            return 0.0
        return _EVEN_SPACING_WEIGHT * max(0.0, 1 - self.n_videos[number] / _ENOUGH_VIDEOS)

    def feature_evidence(
        self, task: Task, features: npt.NDArray[np.floating], autocorrelation_time: float | None = None
    ) -> FeatureEvidence:
        """What features (T, D) and the prior of a task say before narration is considered, for joint decoding."""
        lda, prior = self._parameters_of(task)
        scores = self._lda_scores(lda, features)
        return feature_evidence(scores - scores[:, -1:], prior, autocorrelation_time or self.autocorrelation_time)

    def prior_evidence(self, task: Task, n_segments: int) -> FeatureEvidence:
        """What the prior of a task says of a video of T segments, without features."""
        _, prior = self._parameters_of(task)
        return feature_evidence(np.zeros((n_segments, len(task.steps) + 1)), prior, self.autocorrelation_time)

    def informativeness(self, task: Task) -> float | None:
        """lambda of the training features, for a trained task; None for a new task, and for model files that do not say."""
        return None if self._number_of(task) is None else self.parameters.informativeness

    @staticmethod
    def label_log_ratios(labels: Sequence[StepLabel], n_segments: int, task: Task) -> npt.NDArray[np.float64]:
        """(T, K + 1) certain evidence of a person's labels for joint decoding, background last.

        It is 0 where the labels contradict the order of the list, since joint decoding keeps to it.
        """
        known = known_steps(labels, n_segments, len(task.steps))
        return known.log_ratios if known.in_order else np.zeros_like(known.log_ratios)

    @property
    def windows_used(self) -> bool:
        """True if narration windows were informative in training."""
        return self.parameters.windows_used

    @property
    def autocorrelation_time(self) -> float:
        """The autocorrelation time of the training features in seconds, from the observation noise that the model file stores."""
        return self.settings.autocorrelation_time

    def _lda_scores(self, lda: LdaWeights, features: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
        """(T, K + 1) scores of features (T, D), background last."""
        refuse_other_width(features, len(self.whitening.deviation))
        with np.errstate(invalid="ignore", over="ignore"):
            scores = np.asarray(centred_scores(features, lda.weights) - lda.offsets, dtype=np.float64)
        if not np.isfinite(scores).all():
            raise InputError(
                "scores are not finite: features of this size do not fit the weights of the model; compare their scale"
            )
        return scores

    def _parameters_of(self, task: Task) -> tuple[LdaWeights, TaskPrior]:
        """LDA weights (K + 1, D) for centred features, and the prior of a task; computed once for all its videos."""
        key = (task.id, task.steps)
        if key not in self._cache:
            if len(self._cache) >= _CACHED_TASKS:  # step lists typed into the viewer are unlimited
                self._cache.clear()
            with threadpool_limits(limits=1):
                means, prior = self._means_and_prior(task)
                lda = lda_weights(means, self.parameters.covariance)
                self._cache[key] = LdaWeights(self.whitening.fold_into(lda.weights), lda.offsets), prior
        return self._cache[key]

    def _means_and_prior(self, task: Task) -> tuple[npt.NDArray[np.float64], TaskPrior]:
        """Class means (K + 1, d) and prior: those of a trained task, or what the words of a new task give."""
        prior, coefficients = self.settings.mean_prior, self.parameters.coefficients
        number = self._number_of(task)
        prior_means = self._prior_means(task)
        if number is None:
            shared_part = prior.shared * class_kernel(self._class_names_of_new(task), self._class_names) @ coefficients
            return prior_means + shared_part, replace(initial_prior(len(task.steps)), trained=False)
        classes = self._classes.of(number)
        word_kernel = self._word_kernel_rows(classes)
        own_names = ClassNames(self._class_names.words[classes], None if self.vectors is None else self.vectors[classes])
        shared_part = prior.shared * with_meaning(word_kernel, own_names, self._class_names) @ coefficients
        return prior_means + shared_part + prior.own * coefficients[classes], self.parameters.priors[number]

    def _prior_means(self, task: Task) -> npt.NDArray[np.float64]:
        """(K + 1, d) means by the step names alone, where the features have a text side; otherwise zero."""
        if self.text_side is None:
            return np.zeros((len(task.steps) + 1, self.whitening.width))
        return text_means(text_directions(self.text_side, [task], self.whitening), self.parameters.covariance)

    def starting_point(self, tasks: Sequence[Task]) -> StartingPoint:
        """Class means and priors of some tasks for further training; a task that was not trained starts from its words."""
        found = [self._means_and_prior(task) for task in tasks]
        lda = lda_weights(np.concatenate([means for means, _ in found]), self.parameters.covariance)
        return StartingPoint(lda, tuple(replace(prior, trained=True) for _, prior in found))

    def _number_of(self, task: Task) -> int | None:
        """The number of a trained task; None for a task with another id or other steps."""
        return self._numbers.get((task.id, task.steps))

    @cached_property
    def _numbers(self) -> dict[tuple[str, tuple[str, ...]], int]:
        return {(task.id, task.steps): number for number, task in reversed(list(enumerate(self.tasks)))}

    @cached_property
    def _classes(self) -> ClassIndex:
        return ClassIndex(tuple(len(task.steps) for task in self.tasks), np.empty((0, 0)))

    @cached_property
    def _class_names(self) -> ClassNames:
        return ClassNames([name for task in self.tasks for name in class_words(task, self.sharing)], self.vectors)

    def _class_names_of_new(self, task: Task) -> ClassNames:
        """The class names of a task that was not trained; words alone where the encoder of the trained steps is not installed."""
        words = class_words(task, self.sharing)
        encoder = step_name_encoder() if self.vectors is not None else None
        if encoder is None or self.vectors is None:
            return ClassNames(words)
        vectors = step_vectors([task], encoder)
        return ClassNames(words, vectors if vectors.shape[1] == self.vectors.shape[1] else None)

    @cached_property
    def _class_shares(self) -> Any:
        words = self._class_names.words
        return sparse_word_shares(words) if len(words) > LARGEST_DENSE_KERNEL else word_shares(words)

    def _word_kernel_rows(self, classes: slice) -> npt.NDArray[np.float64]:
        """(K + 1, C) `word_kernel` of some trained classes, without counting all words again."""
        product = self._class_shares[classes] @ self._class_shares.T
        return np.asarray(product if isinstance(product, np.ndarray) else product.toarray())

    @cached_property
    def known_words(self) -> frozenset[str]:
        """The words of all trained steps."""
        return frozenset(word for name in self._class_names.words for word in name) - {BACKGROUND}

    def unknown_words(self, task: Task) -> tuple[str, ...]:
        """Words of the task's steps that were never trained."""
        words = {word for name in class_words(task, self.sharing) for word in name}
        return tuple(sorted(words - self.known_words - {BACKGROUND}))

    def unknown_steps(self, task: Task) -> list[str]:
        """Steps none of whose words was trained: their place comes from order and position alone; none where a text side knows them."""
        if self.text_side is not None:
            return []
        names = class_words(task, self.sharing)
        return [step for step, name in zip(task.steps, names, strict=False) if not self.known_words & set(name)]
