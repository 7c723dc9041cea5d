"""Our best recipe: looks that borrow between steps by their words, labels renewed under ordered runs, windows believed as far as they earn it.

The same supervision as the paper's: ordered steps and windows. Scores are probabilities that a segment lies in a step given the whole video, so
that the ordered inference on them picks the moments most likely to be hits.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from crosstask.inference import decode_once
from crosstask.inference.absence import absence_thresholds, scores_at
from crosstask.inference.hmm_posterior import HmmPosterior
from crosstask.learning.float16 import centred_scores
from crosstask.learning.hmm.class_means import LdaWeights, lda_weights, observation_noise
from crosstask.learning.hmm.em import Classes, EmSettings, EmState, HmmParameters, HmmVideo, learn, posterior
from crosstask.learning.hmm.task_prior import FINDING, FINDING_UNSEEN, TaskPrior, initial_prior
from crosstask.learning.hmm.whitening import Whitening, autocorrelation_time, fit_whitening
from crosstask.methods.training_videos import Notices, trainable_videos
from crosstask.records import Corpus, InputError, Task, Video
from crosstask.storage import derived_folder, scratch_rows
from crosstask.text import SHARING
from crosstask.text.word_kernel import BACKGROUND, class_words, word_kernel

if TYPE_CHECKING:  # training alone needs it, and it loads the kernels of another recipe
    from crosstask.methods.hmm_checkpoint import HmmCheckpoint

_REMEMBERED_TASKS = 500
_SAYS_NOTHING = 0.5  # a window over more of the video than this is none


@dataclass(frozen=True)
class HiddenMarkovModel:
    """`--recipe best`: no flag to tune; `sharing` says what a step may borrow from."""

    sharing: str = "component"
    settings: EmSettings = field(default_factory=EmSettings)
    after_round: Callable[[EmState], None] = field(default=lambda done: None, compare=False, repr=False)
    checkpoint: "HmmCheckpoint | None" = field(default=None, compare=False, repr=False)

    def fit(self, corpus: Corpus, rng: np.random.Generator) -> "HmmScorer":
        """Learn from every video of the corpus that has features; nothing is random, and threads change nothing."""
        with threadpool_limits(limits=1):  # sums of matrix products depend on how many threads share them
            return self._fit(corpus)

    def _fit(self, corpus: Corpus) -> "HmmScorer":
        if self.sharing not in SHARING:
            raise InputError(f"sharing '{self.sharing}' is unknown; expected one of {', '.join(SHARING)}")
        notices = Notices()
        videos = trainable_videos(corpus, notices)
        notices.no_windows = [str(v.key) for v in videos if v.key not in corpus.windows]
        notices.report(narrated=len(notices.no_windows) < len(videos))
        tasks = {task: corpus.tasks[task] for task in sorted({video.task for video in videos})}
        number = {task: i for i, task in enumerate(tasks)}
        rows = {video.id: corpus.features.rows(video.id) for video in videos}
        basis = fit_whitening([rows[video_id] for video_id in sorted(rows)])
        names = [name for task in tasks.values() for name in class_words(task, self.sharing)]
        classes = Classes(tuple(len(task.steps) for task in tasks.values()), word_kernel(names, names))
        described = transformed_features(rows, basis, corpus)
        labelled = [HmmVideo(number[v.task], described[v.id], window_mask(corpus, v)) for v in videos]
        looks = replace(self.settings.looks, noise=observation_noise(autocorrelation_time([video.rows for video in labelled])))
        settings = replace(self.settings, looks=looks)
        before = self.checkpoint.resume(labelled, classes, settings, self.sharing) if self.checkpoint is not None else None
        learnt = learn(labelled, classes, settings, self._finish_round, before)
        scorer = HmmScorer(basis, learnt, tuple(tasks.values()), self.sharing, settings)
        of_task = {task: [rows[video.id] for video in videos if video.task == task] for task in tasks}
        return replace(scorer, least=tuple(scorer.thresholds_from(task, of_task[task.id]) for task in tasks.values()))

    def _finish_round(self, done: EmState) -> None:
        if self.checkpoint is not None:
            self.checkpoint.keep(done)
        self.after_round(done)


def transformed_features(
    rows: Mapping[str, npt.NDArray[np.floating]], basis: Whitening, corpus: Corpus
) -> dict[str, npt.NDArray[np.float32]]:
    """(T, d) of each video, described once; the rows of a large corpus lie in a nameless file beside its pack."""
    folder = derived_folder(corpus.folder) if corpus.folder is not None else None
    room = scratch_rows(sum(len(video) for video in rows.values()), basis.width, folder)
    described, first = {}, 0
    for video_id in sorted(rows):
        last = first + len(rows[video_id])
        room[first:last] = basis.describe(rows[video_id])
        described[video_id] = room[first:last]
        first = last
    return described


def window_mask(corpus: Corpus, video: Video) -> npt.NDArray[np.bool_]:
    """(T, K): inside the window of the step; a window over most of the video says nothing and is left out."""
    n_segments = corpus.features.length(video.id)
    mask = np.zeros((n_segments, len(corpus.task_of(video).steps)), dtype=np.bool_)
    for window in corpus.windows.get(video.key, ()):
        segments = window.interval.segments(n_segments)
        mask[segments.start : segments.stop, window.step] = True
    mask[:, mask.mean(axis=0) > _SAYS_NOTHING] = False
    return mask


@dataclass(frozen=True)
class HmmScorer:
    """Looks, habits and the words behind them: scores tasks that were trained, and new ones by their words."""

    basis: Whitening
    learnt: HmmParameters
    tasks: tuple[Task, ...]
    sharing: str
    settings: EmSettings = field(default_factory=EmSettings)
    least: tuple[npt.NDArray[np.float64], ...] = ()  # by trained task: (K,) scores below which a step counts as absent
    kind: str = "hmm"
    _made: dict[tuple[str, tuple[str, ...]], tuple[LdaWeights, TaskPrior]] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )

    def score(self, task: Task, features: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
        """(T, D) -> (T, K) log-probability that the segment lies in the step, given the whole video."""
        return np.log(self.posterior(task, features).inside + 1e-12)

    def posterior(self, task: Task, features: npt.NDArray[np.floating]) -> HmmPosterior:
        """The posterior of ordered runs of a task's steps in a video."""
        n_dimensions = len(self.basis.unit)
        if features.ndim != 2 or features.shape[1] != n_dimensions:
            raise InputError(
                f"features have shape {features.shape}; the model was trained on {n_dimensions} columns, expected (T, {n_dimensions})"
            )
        evidence, habits = self._evidence(task)
        scores = (centred_scores(features, evidence.weights) - evidence.offsets).astype(np.float64)
        position = habits.position_log_ratios(len(scores), FINDING if habits.trained else FINDING_UNSEEN)
        return posterior(position + scores - scores[:, -1:], habits)

    def _evidence(self, task: Task) -> tuple[LdaWeights, TaskPrior]:
        """What tells the steps of a task apart in centred rows, (K + 1, D) and (K + 1,); made once for all its videos."""
        called = (task.id, task.steps)
        if called not in self._made:
            if len(self._made) >= _REMEMBERED_TASKS:  # step lists typed into the viewer are endless
                self._made.clear()
            means, habits = self._known(task)
            evidence = lda_weights(means, self.learnt.covariance)
            self._made[called] = LdaWeights(self.basis.fold_into(evidence.weights), evidence.offsets), habits
        return self._made[called]

    def thresholds_from(self, task: Task, videos: Sequence[npt.NDArray[np.floating]]) -> npt.NDArray[np.float64]:
        """(K,) for a task, from the features of its own training videos."""
        placed: list[npt.NDArray[np.floating]] = [np.zeros((0, len(task.steps)))]
        for features in videos:
            scores = self.score(task, features)
            placed.append(scores_at(scores, decode_once(-scores))[None])
        least = absence_thresholds(np.concatenate(placed)).astype(
            np.float32
        )  # as the file keeps it; rounding calls nobody absent
        return np.nextafter(least, np.float32(-np.inf)).astype(np.float64)

    def absence_thresholds(self, task: Task) -> npt.NDArray[np.float64] | None:
        """(K,) scores below which a step of a trained task counts as absent; None for a task without a collection to compare with."""
        for trained, least in zip(self.tasks, self.least, strict=False):
            if trained.steps == task.steps and trained.id == task.id:
                return least
        return None

    def _known(self, task: Task) -> tuple[npt.NDArray[np.float64], TaskPrior]:
        """Class means (K + 1, d) and habits: a trained task's own, or what the words of a new one say."""
        looks, coefficients = self.settings.looks, self.learnt.coefficients
        first = 0
        for number, trained in enumerate(self.tasks):
            n_classes = len(trained.steps) + 1
            if trained.steps == task.steps and trained.id == task.id:
                words = word_kernel(class_words(trained, self.sharing), self._names)
                own = looks.own * coefficients[first : first + n_classes]
                return looks.pool * words @ coefficients + own, self.learnt.habits[number]
            first += n_classes
        words = word_kernel(class_words(task, self.sharing), self._names)
        return looks.pool * words @ coefficients, replace(initial_prior(len(task.steps)), trained=False)

    @property
    def _names(self) -> list[list[str]]:
        return [name for task in self.tasks for name in class_words(task, self.sharing)]

    def unknown_words(self, task: Task) -> tuple[str, ...]:
        """Words of the task's steps that were never trained."""
        known = {word for name in self._names for word in name}
        return tuple(sorted({word for name in class_words(task, self.sharing) for word in name} - known - {BACKGROUND}))

    def unknown_steps(self, task: Task) -> list[str]:
        """Steps none of whose words was trained: their place comes from order and position alone."""
        known = {word for name in self._names for word in name}
        return [step for step, name in zip(task.steps, class_words(task, self.sharing), strict=False) if not known & set(name)]

    def to_arrays(self) -> tuple[dict[str, npt.NDArray[np.generic]], dict[str, object]]:
        """Arrays and plain values for the model file."""
        arrays: dict[str, npt.NDArray[np.generic]] = {
            "unit": self.basis.unit,
            "coefficients": self.learnt.coefficients.astype(np.float32),
            "covariance": self.learnt.covariance.astype(np.float32),
        }
        if self.basis.directions is not None:
            arrays["directions"] = self.basis.directions
        for number, habits in enumerate(self.learnt.habits):
            arrays[f"habits.{number:04d}.position"] = habits.position.astype(np.float32)
            arrays[f"habits.{number:04d}.length"] = habits.length.astype(np.float32)
            arrays[f"habits.{number:04d}.presence"] = habits.presence.astype(np.float32)
        for number, least in enumerate(self.least):
            arrays[f"habits.{number:04d}.least"] = least.astype(np.float32)
        described = [{"id": t.id, "title": t.title, "steps": list(t.steps)} for t in self.tasks]
        backgrounds = [habits.background_length for habits in self.learnt.habits]
        values: dict[str, object] = {
            "trained_tasks": described,
            "sharing": self.sharing,
            "background_lengths": backgrounds,
            "windows_used": self.learnt.windows_used,
        }
        return arrays, values


def hmm_scorer_from(arrays: Mapping[str, npt.NDArray[Any]], values: Mapping[str, Any]) -> HmmScorer:
    """The inverse of `to_arrays`."""
    try:
        tasks = tuple(Task(t["id"], t["title"], tuple(t["steps"])) for t in values["trained_tasks"])
        habits = tuple(
            TaskPrior(
                arrays[f"habits.{i:04d}.position"].astype(np.float64),
                arrays[f"habits.{i:04d}.length"].astype(np.float64),
                float(values["background_lengths"][i]),
                arrays[f"habits.{i:04d}.presence"].astype(np.float64),
            )
            for i in range(len(tasks))
        )
        coefficients, covariance = arrays["coefficients"].astype(np.float64), arrays["covariance"].astype(np.float64)
        basis = Whitening(arrays["unit"], arrays.get("directions"))
        learnt = HmmParameters(coefficients, covariance, habits, bool(values["windows_used"]))
        least = tuple(_thresholds_of(arrays, i, len(task.steps)) for i, task in enumerate(tasks))
    except (KeyError, TypeError, IndexError) as error:
        raise InputError(f"model file: a part is missing ({error}); train it again") from None
    fits = len(coefficients) == sum(len(t.steps) + 1 for t in tasks) and covariance.shape == (basis.width, basis.width)
    if not fits or coefficients.shape[1] != basis.width or values.get("sharing") not in SHARING:
        raise InputError("model file: its step lists do not fit its weights; train it again")
    if not all(0 < task_habits.background_length < np.inf for task_habits in habits):
        raise InputError("model file: a length of its background is none; train it again")
    if any(len(levels) != len(task.steps) for levels, task in zip(least, tasks, strict=True)):
        raise InputError("model file: its step lists do not fit its absence scores; train it again")
    return HmmScorer(basis, learnt, tasks, str(values["sharing"]), least=least)


def _thresholds_of(arrays: Mapping[str, npt.NDArray[Any]], number: int, n_steps: int) -> npt.NDArray[np.float64]:
    """(K,) as kept; a file from before absence was decided calls every step shown."""
    kept = arrays.get(f"habits.{number:04d}.least")
    return np.full(n_steps, -np.inf) if kept is None else kept.astype(np.float64)
