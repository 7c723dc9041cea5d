"""The default method: a hidden Markov model of ordered steps with Gaussian emissions that share between tasks through the words of the steps.

It uses the supervision of the paper: ordered step lists, and narration windows where there are any. Training is EM
(`learning/hmm/em.py`); its closest ancestor is the semi-Markov model of Fried et al. (2020). Scores are log-probabilities that
a segment lies in a step given the whole video, so that the decoder picks the moments with the largest expected number
of hits.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event, Lock
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from crosstask.learning.hmm.class_means import FactoredKernel, Kernel, observation_noise
from crosstask.learning.hmm.em import EmRun, EmSettings, EmState, HmmParameters, estimate_informativeness, fit_em, summarise
from crosstask.learning.hmm.statistics import ClassIndex, HmmVideo
from crosstask.learning.hmm.whitening import autocorrelation_time, fit_whitening
from crosstask.methods.hmm_arrays import RowsOfVideos, labels_of, whitened_features, window_mask
from crosstask.methods.hmm_ensemble import VARIATIONS, HmmEnsemble
from crosstask.methods.hmm_scorer import LARGEST_DENSE_KERNEL, HmmScorer, step_name_encoder
from crosstask.methods.protocols import Params
from crosstask.methods.text_prior import text_directions, with_names_of
from crosstask.methods.threads import in_threads
from crosstask.methods.training_videos import Notices, trainable_videos
from crosstask.records import Corpus, InputError, Task
from crosstask.text.sharing import Sharing, sharing_function, sharing_name
from crosstask.text.word_kernel import (
    WORDS_OF_CLASS,
    ClassNames,
    class_kernel,
    class_words,
    sparse_word_shares,
    step_vectors,
)

if TYPE_CHECKING:  # only training needs it, and it loads the kernels of another method
    from crosstask.methods.hmm_checkpoint import HmmCheckpoint

_CONTINUED_ITERATIONS = 4  # of EM, from a trained model on: learning from corrections takes seconds


@dataclass(frozen=True)
class HiddenMarkovModel(Params):
    """The method `hmm`. `sharing` chooses what two steps must have in common to share their class means.

    `members` hidden Markov models are trained, with slightly different settings, and their posteriors averaged. At the level
    "component", steps also share through the meaning of their names, where a sentence encoder is installed; `meaning=False`
    leaves that out, so that the result does not depend on what is installed.
    """

    sharing: Sharing = "component"
    meaning: bool = True
    members: int = len(VARIATIONS)
    settings: EmSettings = field(default_factory=EmSettings)
    after_epoch: Callable[[EmState], None] = field(default=lambda state: None, compare=False, repr=False)
    checkpoint: "HmmCheckpoint | None" = field(default=None, compare=False, repr=False)
    start: "HmmEnsemble | None" = field(default=None, compare=False, repr=False)  # a trained model to continue from
    uses_labels: ClassVar[bool] = True  # of the corpus, as hard supervision

    def __post_init__(self) -> None:
        """ValueError for a number of members that cannot be trained."""
        if not 1 <= self.members <= len(VARIATIONS):
            raise ValueError(f"members is {self.members}; expected 1 to {len(VARIATIONS)}")

    @property
    def n_epochs(self) -> int:
        """Iterations of EM of all members; one is called an epoch in messages."""
        return self.members * self.settings.iterations

    @staticmethod
    def checkpoint_at(path: Path) -> "HmmCheckpoint":
        """A checkpoint of this method."""
        from crosstask.methods.hmm_checkpoint import HmmCheckpoint

        return HmmCheckpoint(path)

    def fit(self, corpus: Corpus, rng: np.random.Generator) -> "HmmEnsemble":
        """A scorer trained on every video of the corpus that has features; `rng` is not used."""
        with threadpool_limits(limits=1):  # sums of matrix products depend on the number of threads
            return self._fit(corpus)

    def _fit(self, corpus: Corpus) -> "HmmEnsemble":
        sharing_function(self.sharing, WORDS_OF_CLASS)  # an unknown level is refused before any work
        videos = trainable_videos(corpus, notices := Notices())
        notices.no_windows = [str(v.key) for v in videos if v.key not in corpus.windows]
        notices.report(narrated=len(notices.no_windows) < len(videos))
        tasks = [corpus.tasks[task] for task in sorted({video.task for video in videos})]
        number = {task.id: i for i, task in enumerate(tasks)}
        video_ids = sorted({video.id for video in videos})
        whitening = self.start.whitening if self.start else fit_whitening(RowsOfVideos(corpus.features, video_ids))
        side = with_names_of(corpus.text_side, tasks) if corpus.text_side is not None and self.meaning else None
        directions = text_directions(side, tasks, whitening) if side is not None else None
        whitened = whitened_features(corpus, video_ids, whitening)
        training = [HmmVideo(number[v.task], whitened[v.id], window_mask(corpus, v), labels_of(corpus, v)) for v in videos]
        noise = observation_noise(autocorrelation_time([video.rows for video in training]))
        common = replace(self.settings, mean_prior=replace(self.settings.mean_prior, noise=noise))
        if self.start is not None:
            common = replace(common, iterations=min(common.iterations, _CONTINUED_ITERATIONS))
        vectors = self._step_vectors(tasks)
        by_member = [vectors if variation.meaning else None for variation in VARIATIONS[: self.members]]
        n_steps = tuple(len(task.steps) for task in tasks)
        runs = [
            EmRun(ClassIndex(n_steps, self._kernel(tasks, by_member[i]), directions), VARIATIONS[i].of(common, i))
            for i in range(self.members)
        ]
        try:
            found = self._run_all(training, runs, tasks)
        except np.linalg.LinAlgError:
            raise InputError(
                f"{sum(len(v.rows) for v in training)} segments of {len(training)} videos are too few, or too "
                "much alike, to estimate a covariance from; train on more videos"
            ) from None
        of_task = Counter(video.task for video in videos)
        n_videos = tuple(of_task[task.id] for task in tasks)
        members = (
            HmmScorer(whitening, parameters, tuple(tasks), self.sharing, run.settings, n_videos, own_vectors, side)
            for parameters, run, own_vectors in zip(found, runs, by_member, strict=True)
        )
        return HmmEnsemble(tuple(members))

    def _run_all(self, videos: Sequence[HmmVideo], runs: Sequence[EmRun], tasks: Sequence[Task]) -> list[HmmParameters]:
        """The parameters of every run of EM; those that a checkpoint has are not repeated."""
        states = self.checkpoint.resume(videos, runs, sharing_name(self.sharing)) if self.checkpoint is not None else {}
        starts = self.start.starting_points(tasks) if self.start is not None else []
        summary = summarise(videos, *runs[0])
        lock, stopped = Lock(), Event()

        def fit_member(i: int) -> HmmParameters:
            def after_iteration(state: EmState) -> None:
                with lock:
                    if stopped.is_set():  # another member failed, or Ctrl-C: this one ends with its iteration
                        raise CancelledError
                    states[i] = state
                    try:
                        if self.checkpoint is not None:
                            self.checkpoint.save(states)
                        self.after_epoch(state)
                    except BaseException:
                        stopped.set()
                        raise

            start = starts[min(i, len(starts) - 1)] if starts else None
            parameters = fit_em(videos, *runs[i], after_iteration, states.get(i), start, summary)
            _raise_if_not_finite(parameters)
            if i == 0:  # one estimate serves all members
                informativeness = estimate_informativeness(videos, *runs[i], states[i], summary)
                return replace(parameters, informativeness=informativeness)
            return parameters

        return in_threads(fit_member, range(len(runs)), stopped)

    def _kernel(self, tasks: Sequence[Task], vectors: npt.NDArray[np.float32] | None) -> Kernel:
        """(C, C) kernel between the names of all classes; in factored form for very many."""
        names = ClassNames([name for task in tasks for name in class_words(task, self.sharing)], vectors)
        if len(names.words) > LARGEST_DENSE_KERNEL:
            return FactoredKernel(sparse_word_shares(names.words))
        return class_kernel(names, names)

    def _step_vectors(self, tasks: Sequence[Task]) -> npt.NDArray[np.float32] | None:
        """(C, e) vectors of step names; None where steps share through words alone, as in collections of very many steps."""
        n_classes = sum(len(task.steps) + 1 for task in tasks)
        wanted = self.meaning and self.sharing == "component" and n_classes <= LARGEST_DENSE_KERNEL
        encoder = step_name_encoder() if wanted else None
        return step_vectors(tasks, encoder) if encoder is not None else None


def _raise_if_not_finite(parameters: HmmParameters) -> None:
    arrays = [parameters.coefficients, parameters.covariance, *(prior.position for prior in parameters.priors)]
    if not all(np.isfinite(array).all() for array in arrays):
        raise InputError("training diverged: its parameters are not finite; check the features with `validate`")
