"""Supervised: the linear component model trained on annotated intervals, an upper reference (deviation 8: the paper does not define it)."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from crosstask.learning.zhukov19.alternation import AlternationSettings, begin, supervise
from crosstask.methods.component_scorer import ComponentScorer
from crosstask.methods.protocols import Params
from crosstask.methods.training_videos import raise_if_diverged, supervised_arrays
from crosstask.records import Corpus, Interval, Video, labels_from_annotation
from crosstask.text import vocabulary_of
from crosstask.text.sharing import Sharing


@dataclass(frozen=True)
class Supervised(Params):
    """Cross-entropy on every annotated segment of the training videos."""

    sharing: Sharing = "component"
    settings: AlternationSettings = field(default_factory=AlternationSettings)
    uses_labels: ClassVar[bool] = True  # of the corpus, instead of all annotations

    def fit(self, corpus: Corpus, rng: np.random.Generator) -> ComponentScorer:
        """A scorer trained on every annotated video of the corpus that has features."""
        seed = int(np.random.default_rng(rng).integers(2**62))
        vocabulary = vocabulary_of(corpus.tasks.values(), self.sharing)
        labelled = corpus.labels or corpus.annotations
        truths = {video.key: _true_labels(corpus, video) for video in corpus.videos if video.key in labelled}
        arrays = supervised_arrays(corpus, vocabulary, truths)
        start = begin(len(vocabulary.names), arrays.rows.shape[1], arrays.videos, seed)
        progress = supervise(
            arrays.rows, arrays.videos, arrays.tasks, start, self.settings, seed, lambda now: raise_if_diverged(now, arrays)
        )
        return ComponentScorer(vocabulary, progress.parameters, tuple(corpus.tasks.values()))


def _true_labels(corpus: Corpus, video: Video) -> npt.NDArray[np.bool_]:
    """(T, K) labelled segments; a step that is not shown has none."""
    n_segments, n_steps = corpus.n_segments(video), len(corpus.task_of(video).steps)
    given = corpus.labels.get(video.key) or labels_from_annotation(corpus.annotation_of(video), n_steps)
    labels = np.zeros((n_segments, n_steps), dtype=np.bool_)
    for label in given:
        spans = label.intervals if label.moment_s is None else (Interval(label.moment_s, label.moment_s + 1),)
        for span in spans:
            segments = span.segments(n_segments)
            labels[segments.start : segments.stop, label.step] = True
    return labels
