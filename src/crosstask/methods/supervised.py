"""Supervised: the linear component model trained on annotated intervals, an upper reference (deviation 8: the paper does not define it)."""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from crosstask.learning.zhukov19.alternation import AlternationSettings, begin, supervise
from crosstask.methods.component_scorer import ComponentScorer
from crosstask.methods.protocols import Params
from crosstask.methods.training_videos import raise_if_diverged, supervised_arrays
from crosstask.records import Corpus, Video, VideoKey
from crosstask.text import vocabulary_of
from crosstask.text.sharing import Sharing


@dataclass(frozen=True)
class Supervised(Params):
    """Cross-entropy on every annotated segment of the training videos."""

    sharing: Sharing = "component"
    settings: AlternationSettings = field(default_factory=AlternationSettings)

    def fit(self, corpus: Corpus, rng: np.random.Generator) -> ComponentScorer:
        """A scorer trained on every annotated video of the corpus that has features."""
        seed = int(np.random.default_rng(rng).integers(2**62))
        vocabulary = vocabulary_of(corpus.tasks.values(), self.sharing)
        truths = {video.key: _true_labels(corpus, video) for video in corpus.videos if video.key in corpus.annotations}
        arrays = supervised_arrays(corpus, vocabulary, truths)
        start = begin(len(vocabulary.names), arrays.rows.shape[1], arrays.videos, seed)
        progress = supervise(
            arrays.rows, arrays.videos, arrays.tasks, start, self.settings, seed, lambda now: raise_if_diverged(now, arrays)
        )
        return ComponentScorer(vocabulary, progress.parameters, tuple(corpus.tasks.values()))


def _true_labels(corpus: Corpus, video: Video) -> npt.NDArray[np.bool_]:
    """(T, K) annotated segments; a step that is not shown has none."""
    n_segments = corpus.n_segments(video)
    labels = np.zeros((n_segments, len(corpus.task_of(video).steps)), dtype=np.bool_)
    for annotated in corpus.annotations[VideoKey(video.task, video.id)]:
        segments = annotated.interval.segments(n_segments)
        labels[segments.start : segments.stop, annotated.step] = True
    return labels
