"""The paper's method: component classifiers trained under order and windows; and its version without sharing."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from crosstask.learning.zhukov19.alternation import AlternationSettings, Progress, alternate, begin
from crosstask.methods.component_scorer import ComponentScorer
from crosstask.methods.protocols import Params
from crosstask.methods.training_videos import raise_if_diverged, training_arrays
from crosstask.methods.zhukov19_checkpoint import Zhukov19Checkpoint
from crosstask.records import Corpus
from crosstask.text import vocabulary_of
from crosstask.text.sharing import Sharing, sharing_name


@dataclass(frozen=True)
class Zhukov19(Params):
    """The method `zhukov19` (Zhukov et al., CVPR 2019, Sec. 4): labels and classifiers in alternation.

    `sharing` says what has a classifier: each word over all tasks (component), each step name (step), each word of a task
    (task-component), or each step of a task (none).
    """

    sharing: Sharing = "component"
    settings: AlternationSettings = field(default_factory=AlternationSettings)
    after_epoch: Callable[[Progress], None] = field(default=lambda progress: None, compare=False, repr=False)
    checkpoint: Zhukov19Checkpoint | None = field(default=None, compare=False, repr=False)

    @property
    def n_epochs(self) -> int:
        """Epochs of a whole training."""
        return self.settings.initial_epochs + self.settings.epochs

    @staticmethod
    def checkpoint_at(path: Path) -> Zhukov19Checkpoint:
        """A checkpoint of this method."""
        return Zhukov19Checkpoint(path)

    def fit(self, corpus: Corpus, rng: np.random.Generator) -> ComponentScorer:
        """A scorer trained on every video of the corpus that has features; windows are used where there are any."""
        seed = int(np.random.default_rng(rng).integers(2**62))
        vocabulary = vocabulary_of(corpus.tasks.values(), self.sharing)
        arrays = training_arrays(corpus, vocabulary)
        start = begin(len(vocabulary.names), arrays.rows.shape[1], arrays.videos, seed)
        if self.checkpoint is not None:
            start = self.checkpoint.resume(start, arrays, self.settings, sharing_name(self.sharing), seed)

        def after_epoch(progress: Progress) -> None:
            raise_if_diverged(progress, arrays)
            self._after_epoch(progress)

        progress = alternate(arrays.rows, arrays.videos, arrays.tasks, start, self.settings, seed, after_epoch)
        return ComponentScorer(vocabulary, progress.parameters, tuple(corpus.tasks.values()), progress.losses)

    def _after_epoch(self, progress: Progress) -> None:
        if self.checkpoint is not None:
            self.checkpoint.save(progress)
        self.after_epoch(progress)


@dataclass(frozen=True)
class TaskSpecific(Zhukov19):
    """The method `task-specific`: the same training with a classifier per step of a task, so that nothing is shared."""

    sharing: Sharing = "none"
