"""The paper's method: component classifiers learnt under order and windows; and its version without sharing."""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from crosstask.learning.zhukov19.alternation import AlternationSettings, Progress, alternate, begin
from crosstask.methods.component_scorer import ComponentScorer
from crosstask.methods.training_videos import training_arrays
from crosstask.methods.zhukov19_checkpoint import Zhukov19Checkpoint
from crosstask.records import Corpus
from crosstask.text import vocabulary_of


@dataclass(frozen=True)
class Zhukov19:
    """Alternating labels and classifiers, Sec. 4; `sharing` says what a classifier stands for."""

    sharing: str = "component"
    settings: AlternationSettings = field(default_factory=AlternationSettings)
    after_epoch: Callable[[Progress], None] = field(default=lambda progress: None, compare=False, repr=False)
    checkpoint: Zhukov19Checkpoint | None = field(default=None, compare=False, repr=False)

    def fit(self, corpus: Corpus, rng: np.random.Generator) -> ComponentScorer:
        """Learn from every video of the corpus that has features; windows are used where there are any."""
        seed = int(rng.integers(2**62))
        vocabulary = vocabulary_of(corpus.tasks.values(), self.sharing)
        arrays = training_arrays(corpus, vocabulary)
        fresh = begin(len(vocabulary.names), arrays.rows.shape[1], arrays.videos, seed)
        if self.checkpoint is not None:
            fresh = self.checkpoint.resume(fresh, arrays, self.settings, self.sharing, seed)
        progress = alternate(arrays.rows, arrays.videos, arrays.tasks, fresh, self.settings, seed, self._finish_epoch)
        return ComponentScorer(vocabulary, progress.parameters)

    def _finish_epoch(self, progress: Progress) -> None:
        if self.checkpoint is not None:
            self.checkpoint.keep(progress)
        self.after_epoch(progress)


def task_specific() -> Zhukov19:
    """The same learning with a classifier per step of a task: nothing is shared."""
    return Zhukov19(sharing="none")
