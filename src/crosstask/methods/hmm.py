"""The default method: a hidden Markov model of ordered steps with Gaussian emissions that share between tasks through the words of the steps.

It uses the supervision of the paper: ordered step lists, and narration windows where there are any. Training is EM
(`learning/hmm/em.py`); its closest ancestor is the semi-Markov model of Fried et al. (2020). Scores are log-probabilities that
a segment lies in a step given the whole video, so that the decoder picks the moments with the largest expected number
of hits.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from crosstask.learning.hmm.class_means import FactoredKernel, observation_noise
from crosstask.learning.hmm.em import EmSettings, EmState, HmmParameters, fit_em
from crosstask.learning.hmm.statistics import ClassIndex, HmmVideo
from crosstask.learning.hmm.whitening import autocorrelation_time, fit_whitening
from crosstask.methods.hmm_arrays import RowsOfVideos, labels_of, whitened_features, window_mask
from crosstask.methods.hmm_scorer import LARGEST_DENSE_KERNEL, HmmScorer, step_name_encoder
from crosstask.methods.protocols import Params
from crosstask.methods.text_prior import text_directions, with_names_of
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
        some_have_windows = len(notices.no_windows) < len(videos)
        notices.report(narrated=some_have_windows)
        tasks = {task: corpus.tasks[task] for task in sorted({video.task for video in videos})}
        number = {task: i for i, task in enumerate(tasks)}
        video_ids = sorted({video.id for video in videos})
        whitening = self.start.whitening if self.start else fit_whitening(RowsOfVideos(corpus.features, video_ids))
        vectors = self._step_vectors(list(tasks.values()))
        names = ClassNames([name for task in tasks.values() for name in class_words(task, self.sharing)], vectors)
        many = len(names.words) > LARGEST_DENSE_KERNEL
        kernel = FactoredKernel(sparse_word_shares(names.words)) if many else class_kernel(names, names)
        side = with_names_of(corpus.text_side, list(tasks.values())) if corpus.text_side is not None and self.meaning else None
        directions = text_directions(side, list(tasks.values()), whitening) if side is not None else None
        classes = ClassIndex(tuple(len(task.steps) for task in tasks.values()), kernel, directions)
        whitened = whitened_features(corpus, video_ids, whitening)
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
        encoder = step_name_encoder() if wanted else None
        return step_vectors(tasks, encoder) if encoder is not None else None

    def _after_epoch(self, state: EmState) -> None:
        if self.checkpoint is not None:
            self.checkpoint.save(state)
        self.after_epoch(state)


def _raise_if_not_finite(parameters: HmmParameters) -> None:
    arrays = [parameters.coefficients, parameters.covariance, *(prior.position for prior in parameters.priors)]
    if not all(np.isfinite(array).all() for array in arrays):
        raise InputError("training diverged: its parameters are not finite; check the features with `validate`")
