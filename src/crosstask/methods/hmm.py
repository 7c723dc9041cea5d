"""The default method: a hidden Markov model of ordered steps with Gaussian emissions that share between tasks through the words of the steps.

It uses the supervision of the paper: ordered step lists, and narration windows where there are any. Training is EM
(`learning/hmm/em.py`); its closest ancestor is the semi-Markov model of Fried et al. (2020). Scores are log-probabilities that
a segment lies in a step given the whole video, so that the decoder picks the moments with the largest expected number
of hits.
"""

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from crosstask.inference.hmm_posterior import HmmPosterior
from crosstask.inference.narration_evidence import DURATION_SHARE, FeatureEvidence, tempered
from crosstask.learning.float16 import centred_scores
from crosstask.learning.hmm.class_means import FactoredKernel, LdaWeights, MeanPrior, lda_weights, observation_noise, text_means
from crosstask.learning.hmm.em import EmSettings, EmState, HmmParameters, StartingPoint, fit_em, loose_posterior, posterior
from crosstask.learning.hmm.known_steps import KnownSteps, start_probabilities
from crosstask.learning.hmm.statistics import ClassIndex, HmmVideo
from crosstask.learning.hmm.task_prior import (
    DECODING_WEIGHT,
    N_BINS,
    P_BACKGROUND,
    UNSEEN_TASK_WEIGHT,
    PositionWeight,
    TaskPrior,
    even_spacing,
    initial_prior,
)
from crosstask.learning.hmm.whitening import Whitening, autocorrelation_time, fit_whitening
from crosstask.methods.protocols import Params
from crosstask.methods.text_prior import only_names_of, text_directions, text_side_from, text_side_to_values, with_names_of
from crosstask.methods.training_videos import Notices, trainable_videos
from crosstask.records import Corpus, InputError, StepLabel, Task, TextSide, Video, segment_at
from crosstask.storage import derived_folder, scratch_rows
from crosstask.text.encoders import Encoder
from crosstask.text.encoders.choice import installed_sentence_encoder
from crosstask.text.sharing import Sharing, sharing_from_values, sharing_function, sharing_name, sharing_to_values
from crosstask.text.word_kernel import (
    BACKGROUND,
    WORDS_OF_CLASS,
    ClassNames,
    class_kernel,
    class_words,
    sparse_word_shares,
    step_vectors,
    with_meaning,
    word_shares,
)

if TYPE_CHECKING:  # only training needs it, and it loads the kernels of another method
    from crosstask.methods.hmm_checkpoint import HmmCheckpoint

WORDS_ONLY = "CROSSTASK_WORDS_ONLY"  # environment variable
LARGEST_DENSE_KERNEL = (
    1200  # classes, about 130 tasks; beyond, the kernel of words alone is kept in factored form, which costs far less
)
_CACHED_TASKS = 500  # step lists whose weights a scorer keeps
_LARGEST_WINDOW = 0.5  # share of the video; a longer window says nothing about when
_SMALLEST_PROBABILITY = 1e-12
_CONTINUED_ITERATIONS = 4  # of EM, from a trained model on
_FULL_POSITION = PositionWeight(np.inf, 1.0)  # for evidence that counts once per interval, such as its anchor
# Decoding averages the posterior of strict order with one that allows jumps back; chosen on development people and tasks of three corpora.
_P_STRICT_ORDER = 0.5  # weight of strict order; 0 was 1.1 points lower on development splits
# Few training videos of a task say little about how its steps look: even spacing is mixed into the posterior, less with every video.
_EVEN_SPACING_WEIGHT = 0.3  # with no video; chosen, like the next, on development people of Breakfast and captaincook
_ENOUGH_VIDEOS = 6  # training videos of a task from which on even spacing has no weight


@dataclass(frozen=True)
class HiddenMarkovModel(Params):
    """The method `hmm`. Nothing needs tuning; `sharing` says through what classes share their means.

    At the level "component", steps also share through the meaning of their names, where a sentence encoder is installed;
    `meaning=False` leaves that out, so that the result does not depend on what is installed.
    """

    sharing: Sharing = "component"
    meaning: bool = True
    settings: EmSettings = field(default_factory=EmSettings)
    after_epoch: Callable[[EmState], None] = field(default=lambda state: None, compare=False, repr=False)
    checkpoint: "HmmCheckpoint | None" = field(default=None, compare=False, repr=False)
    start: "HmmScorer | None" = field(default=None, compare=False, repr=False)  # a trained model to continue from
    uses_labels: ClassVar[bool] = True  # of the corpus, as hard supervision

    @property
    def n_epochs(self) -> int:
        """Iterations of EM; one is called an epoch in messages."""
        return self.settings.iterations

    @staticmethod
    def checkpoint_at(path: Path) -> "HmmCheckpoint":
        """A checkpoint of this method."""
        from crosstask.methods.hmm_checkpoint import HmmCheckpoint

        return HmmCheckpoint(path)

    def fit(self, corpus: Corpus, rng: np.random.Generator) -> "HmmScorer":
        """A scorer trained on every video of the corpus that has features; nothing is random."""
        with threadpool_limits(limits=1):  # sums of matrix products depend on the number of threads
            return self._fit(corpus)

    def _fit(self, corpus: Corpus) -> "HmmScorer":
        sharing_function(self.sharing, WORDS_OF_CLASS)  # an unknown level is refused before any work
        notices = Notices()
        videos = trainable_videos(corpus, notices)
        notices.no_windows = [str(v.key) for v in videos if v.key not in corpus.windows]
        notices.report(narrated=len(notices.no_windows) < len(videos))
        tasks = {task: corpus.tasks[task] for task in sorted({video.task for video in videos})}
        number = {task: i for i, task in enumerate(tasks)}
        rows = {video.id: corpus.features.rows(video.id) for video in videos}
        whitening = self.start.whitening if self.start else fit_whitening([rows[video_id] for video_id in sorted(rows)])
        vectors = self._step_vectors(list(tasks.values()))
        names = ClassNames([name for task in tasks.values() for name in class_words(task, self.sharing)], vectors)
        many = len(names.words) > LARGEST_DENSE_KERNEL
        kernel = FactoredKernel(sparse_word_shares(names.words)) if many else class_kernel(names, names)
        side = with_names_of(corpus.text_side, list(tasks.values())) if corpus.text_side is not None and self.meaning else None
        directions = text_directions(side, list(tasks.values()), whitening) if side is not None else None
        classes = ClassIndex(tuple(len(task.steps) for task in tasks.values()), kernel, directions)
        whitened = whitened_features(rows, whitening, corpus)
        training = [HmmVideo(number[v.task], whitened[v.id], window_mask(corpus, v), labels_of(corpus, v)) for v in videos]
        noise = observation_noise(autocorrelation_time([video.rows for video in training]))
        settings = replace(self.settings, mean_prior=replace(self.settings.mean_prior, noise=noise))
        start = None
        if self.start is not None:
            settings = replace(settings, iterations=min(settings.iterations, _CONTINUED_ITERATIONS))
            start = self.start.starting_point(list(tasks.values()))
        state = (
            self.checkpoint.resume(training, classes, settings, sharing_name(self.sharing))
            if self.checkpoint is not None
            else None
        )
        try:
            parameters = fit_em(training, classes, settings, self._after_epoch, state, start)
        except np.linalg.LinAlgError:
            raise InputError(
                f"{sum(len(v.rows) for v in training)} segments of {len(training)} videos are too few, or too "
                "much alike, to estimate a covariance from; train on more videos"
            ) from None
        _raise_if_not_finite(parameters)
        of_task = Counter(video.task for video in videos)
        n_videos = tuple(of_task[task] for task in tasks)
        return HmmScorer(whitening, parameters, tuple(tasks.values()), self.sharing, settings, n_videos, vectors, side)

    def _step_vectors(self, tasks: Sequence[Task]) -> npt.NDArray[np.float32] | None:
        """(C, e) vectors of step names; None where steps share through words alone, as in collections of very many steps."""
        n_classes = sum(len(task.steps) + 1 for task in tasks)
        wanted = self.meaning and self.sharing == "component" and n_classes <= LARGEST_DENSE_KERNEL
        encoder = encoder_of_names() if wanted else None
        return step_vectors(tasks, encoder) if encoder is not None else None

    def _after_epoch(self, state: EmState) -> None:
        if self.checkpoint is not None:
            self.checkpoint.save(state)
        self.after_epoch(state)


def encoder_of_names() -> Encoder | None:
    """The sentence encoder for step names; None where none is installed, or where CROSSTASK_WORDS_ONLY=1 says not to use it."""
    return None if os.environ.get(WORDS_ONLY) == "1" else installed_sentence_encoder()


def _raise_if_not_finite(parameters: HmmParameters) -> None:
    arrays = [parameters.coefficients, parameters.covariance, *(prior.position for prior in parameters.priors)]
    if not all(np.isfinite(array).all() for array in arrays):
        raise InputError("training diverged: its parameters are not finite; check the features with `validate`")


def whitened_features(
    rows: Mapping[str, npt.NDArray[np.floating]], whitening: Whitening, corpus: Corpus
) -> dict[str, npt.NDArray[np.float32]]:
    """(T, d) of each video; those of a large corpus are kept in an unlinked temporary file beside its pack."""
    folder = derived_folder(corpus.folder) if corpus.folder is not None else None
    buffer = scratch_rows(sum(len(video) for video in rows.values()), whitening.width, folder)
    whitened, first = {}, 0
    for video_id in sorted(rows):
        last = first + len(rows[video_id])
        buffer[first:last] = whitening.transform(rows[video_id])
        if not np.isfinite(buffer[first:last]).all():
            raise InputError(f"video {video_id}: its features are too large to train on; extract or scale them again")
        whitened[video_id] = buffer[first:last]
        first = last
    return whitened


def window_mask(corpus: Corpus, video: Video) -> npt.NDArray[np.bool_]:
    """(T, K): True inside the window of the step; a window over most of the video is left out."""
    n_segments = corpus.features.length(video.id)
    mask = np.zeros((n_segments, len(corpus.task_of(video).steps)), dtype=np.bool_)
    for window in corpus.windows.get(video.key, ()):
        segments = window.interval.segments(n_segments)
        mask[segments.start : segments.stop, window.step] = True
    mask[:, mask.mean(axis=0) > _LARGEST_WINDOW] = False
    return mask


def labels_of(corpus: Corpus, video: Video) -> KnownSteps | None:
    """What a person labelled in a training video; None where nothing is labelled."""
    labels = corpus.labels.get(video.key, ())
    return known_steps(labels, corpus.features.length(video.id), len(corpus.task_of(video).steps)) if labels else None


def known_steps(labels: Sequence[StepLabel], n_segments: int, n_steps: int) -> KnownSteps:
    """Labels of a video as segments; intervals and "not shown" say where the step is not, a moment does not."""
    inside = np.zeros((n_segments, n_steps), dtype=np.bool_)
    outside, labelled = np.zeros_like(inside), np.zeros(n_steps, dtype=np.bool_)
    for label in labels:
        if not 0 <= label.step < n_steps:
            raise InputError(f"a label names step {label.step + 1}; the task has {n_steps}, numbered from 1")
        labelled[label.step] = True
        if label.moment_s is not None:
            inside[segment_at(label.moment_s, n_segments), label.step] = True
            continue
        for interval in label.intervals:
            segments = interval.segments(n_segments)
            inside[segments.start : segments.stop, label.step] = True
        outside[:, label.step] = ~inside[:, label.step]
    return KnownSteps(inside, outside, labelled)


@dataclass(frozen=True)
class HmmScorer:
    """A trained model: scores the tasks that were trained, and new tasks by the words of their steps."""

    whitening: Whitening
    parameters: HmmParameters
    tasks: tuple[Task, ...]
    sharing: Sharing
    settings: EmSettings = field(default_factory=EmSettings)
    n_videos: tuple[int, ...] = ()  # training videos by task; empty for files that do not say
    vectors: npt.NDArray[np.float32] | None = None  # (C, e) of the names of the trained steps, where an encoder was used
    text_side: TextSide | None = None  # of image-text features, with the names of the trained steps
    kind: str = "hmm"
    decoder: str = "free"  # the order of the steps is in the posterior already, as far as it is kept
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
        lda, prior = self._model_of(task)
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

    def feature_evidence(self, task: Task, features: npt.NDArray[np.floating]) -> FeatureEvidence:
        """What features (T, D) and the prior of a task say before narration is considered, for joint decoding."""
        lda, prior = self._model_of(task)
        scores = self._lda_scores(lda, features)
        n_segments = len(scores)
        return FeatureEvidence(
            tempered(scores - scores[:, -1:], self.autocorrelation_time),
            prior.position_log_ratios(n_segments, _FULL_POSITION)[:, :-1].astype(np.float64),
            np.maximum(DURATION_SHARE * prior.duration * n_segments, 1.0).astype(np.float64),
            prior.background_self_transition(n_segments),
            P_BACKGROUND,
            np.asarray(prior.presence, dtype=np.float64),
        )

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
        return self.settings.mean_prior.noise / observation_noise(1.0)

    def _lda_scores(self, lda: LdaWeights, features: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
        """(T, K + 1) scores of features (T, D), background last."""
        n_dimensions = len(self.whitening.deviation)
        if features.ndim != 2 or features.shape[1] != n_dimensions:
            raise InputError(
                f"features have shape {features.shape}; the model was trained on {n_dimensions} columns, expected (T, {n_dimensions})"
            )
        with np.errstate(invalid="ignore", over="ignore"):
            scores = np.asarray(centred_scores(features, lda.weights) - lda.offsets, dtype=np.float64)
        if not np.isfinite(scores).all():
            raise InputError(
                "scores are not finite: features of this size do not fit the weights of the model; compare their scale"
            )
        return scores

    def _model_of(self, task: Task) -> tuple[LdaWeights, TaskPrior]:
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
        by_name = self._prior_means(task)
        if number is None:
            from_words = prior.shared * class_kernel(self._names_of_new(task), self._class_names) @ coefficients
            return by_name + from_words, replace(initial_prior(len(task.steps)), trained=False)
        classes = self._classes.of(number)
        by_words = self._by_words(classes)
        own_names = ClassNames(self._class_names.words[classes], None if self.vectors is None else self.vectors[classes])
        from_words = prior.shared * with_meaning(by_words, own_names, self._class_names) @ coefficients
        return by_name + from_words + prior.own * coefficients[classes], self.parameters.priors[number]

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

    def _names_of_new(self, task: Task) -> ClassNames:
        """The class names of a task that was not trained; words alone where the encoder of the trained steps is not installed."""
        words = class_words(task, self.sharing)
        encoder = encoder_of_names() if self.vectors is not None else None
        if encoder is None or self.vectors is None:
            return ClassNames(words)
        vectors = step_vectors([task], encoder)
        return ClassNames(words, vectors if vectors.shape[1] == self.vectors.shape[1] else None)

    @cached_property
    def _class_shares(self) -> Any:
        words = self._class_names.words
        return sparse_word_shares(words) if len(words) > LARGEST_DENSE_KERNEL else word_shares(words)

    def _by_words(self, classes: slice) -> npt.NDArray[np.float64]:
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

    def to_arrays(self) -> tuple[dict[str, npt.NDArray[np.generic]], dict[str, object]]:
        """Arrays and plain values for the model file; their names are those of version 0.1, so that files stay exchangeable."""
        arrays: dict[str, npt.NDArray[np.generic]] = {
            "unit": self.whitening.deviation,
            "coefficients": self.parameters.coefficients.astype(np.float32),
            "covariance": self.parameters.covariance.astype(np.float32),
        }
        if self.vectors is not None:
            arrays["step_vectors"] = self.vectors.astype(np.float16)
        if self.whitening.directions is not None:
            arrays["directions"] = self.whitening.directions
        for number, prior in enumerate(self.parameters.priors):
            arrays[f"habits.{number:04d}.position"] = prior.position.astype(np.float32)
            arrays[f"habits.{number:04d}.length"] = prior.duration.astype(np.float32)
            arrays[f"habits.{number:04d}.presence"] = prior.presence.astype(np.float32)
        values: dict[str, object] = {
            "trained_tasks": [{"id": t.id, "title": t.title, "steps": list(t.steps)} for t in self.tasks],
            **sharing_to_values(self.sharing, WORDS_OF_CLASS, self.tasks),
            "background_lengths": [prior.background_duration for prior in self.parameters.priors],
            "windows_used": self.parameters.windows_used,
            "n_videos": list(self.n_videos),
            "em_settings": asdict(self.settings),
        }
        if self.text_side is not None:
            text_arrays, text_values = text_side_to_values(only_names_of(self.text_side, self.tasks))
            return arrays | text_arrays, values | text_values
        return arrays, values


def hmm_scorer_from(arrays: Mapping[str, npt.NDArray[Any]], values: Mapping[str, Any]) -> HmmScorer:
    """The inverse of `to_arrays`."""
    try:
        tasks = tuple(Task(t["id"], t["title"], tuple(t["steps"])) for t in values["trained_tasks"])
        for text in (text for t in tasks for text in (t.id, t.title, *t.steps)):
            str.encode(text, "utf-8")  # a TypeError for anything but text, a ValueError for half of a character
        priors = tuple(
            TaskPrior(
                arrays[f"habits.{i:04d}.position"].astype(np.float64),
                arrays[f"habits.{i:04d}.length"].astype(np.float64),
                float(values["background_lengths"][i]),
                arrays[f"habits.{i:04d}.presence"].astype(np.float64),
            )
            for i in range(len(tasks))
        )
        coefficients, covariance = arrays["coefficients"].astype(np.float64), arrays["covariance"].astype(np.float64)
        whitening = Whitening(arrays["unit"], arrays.get("directions"))
        parameters = HmmParameters(coefficients, covariance, priors, bool(values["windows_used"]))
        settings = _settings_from(values.get("em_settings", {}))
        n_videos = tuple(int(n) for n in values.get("n_videos", ()))
        vectors = arrays["step_vectors"].astype(np.float32) if "step_vectors" in arrays else None
        side = text_side_from(arrays, values)
    except (KeyError, TypeError, IndexError, ValueError, OverflowError) as error:
        raise InputError(f"model file: a part is missing ({error}); train it again") from None
    fits = len(coefficients) == sum(len(t.steps) + 1 for t in tasks) and covariance.shape == (whitening.width, whitening.width)
    fits &= vectors is None or (vectors.ndim == 2 and len(vectors) == len(coefficients))
    if not fits or coefficients.shape[1] != whitening.width:
        raise InputError("model file: its step lists do not fit its weights; train it again")
    if not all(0 < prior.background_duration < np.inf for prior in priors):
        raise InputError("model file: background duration must be positive and finite; train it again")
    if not all(_is_possible(prior, len(t.steps)) for prior, t in zip(priors, tasks, strict=True)):
        raise InputError("model file: a prior of positions, durations or presence does not fit its step list; train it again")
    try:
        np.linalg.inv(covariance)
    except np.linalg.LinAlgError:
        raise InputError("model file: its covariance is singular; train it again") from None
    sharing = sharing_from_values(values, WORDS_OF_CLASS)
    return HmmScorer(whitening, parameters, tasks, sharing, settings, n_videos, vectors, side)


def _is_possible(prior: TaskPrior, n_steps: int) -> bool:
    """True if the arrays of a prior have the shapes and values that training gives them."""
    shapes = prior.position.shape == (N_BINS, n_steps + 1) and prior.duration.shape == prior.presence.shape == (n_steps,)
    return shapes and bool(
        (prior.position > 0).all() and (prior.duration >= 0).all() and (prior.presence >= 0).all() and (prior.presence <= 1).all()
    )


def _settings_from(values: Mapping[str, Any]) -> EmSettings:
    """The settings in a model file; files of version 0.1 were always trained with the default ones."""
    mean_prior = {f.name: float(values["mean_prior"][f.name]) for f in fields(MeanPrior)} if values else {}
    return EmSettings(**{**values, "mean_prior": MeanPrior(**mean_prior)})
