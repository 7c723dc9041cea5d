"""The paper's training with a deeper classifier in place of the linear one. Extra: deep."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from crosstask.learning.zhukov19.alternation import AlternationSettings
from crosstask.learning.zhukov19.component_model import log_softmax, step_scores
from crosstask.learning.zhukov19.deep import DeepSettings, alternate_deep, layers
from crosstask.methods.protocols import Params
from crosstask.methods.training_videos import training_arrays
from crosstask.records import Corpus, MissingExtra, Task
from crosstask.storage import single_thread
from crosstask.text import Vocabulary, vocabulary_of
from crosstask.text.sharing import Sharing


@dataclass(frozen=True)
class DeepClassifier(Params):
    """The method `deep`: component classifiers with hidden layers of the given widths; none is the linear model, in PyTorch."""

    hidden: tuple[int, ...] = ()
    sharing: Sharing = "component"
    settings: AlternationSettings = field(default_factory=AlternationSettings)

    def fit(self, corpus: Corpus, rng: np.random.Generator) -> "DeepScorer":
        """A scorer trained on every video of the corpus that has features."""
        try:
            import torch
        except ImportError:
            raise MissingExtra("a deeper classifier", "deep") from None
        seed = int(np.random.default_rng(rng).integers(2**62))
        vocabulary = vocabulary_of(corpus.tasks.values(), self.sharing)
        arrays = training_arrays(corpus, vocabulary)
        torch.manual_seed(seed)
        classifier = layers(arrays.rows.shape[1], len(vocabulary.names), self.hidden, self.settings.dropout)
        settings = DeepSettings(self.settings, self.hidden)
        with single_thread():
            trained = alternate_deep(arrays.rows, arrays.videos, arrays.tasks, classifier, settings, seed)
        return DeepScorer(vocabulary, trained)


@dataclass(frozen=True)
class DeepScorer:
    """Scores of a trained PyTorch classifier."""

    vocabulary: Vocabulary
    classifier: Any

    def score(self, task: Task, features: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
        """(T, D) -> (T, K) log-probabilities of the steps."""
        import torch

        parts = self.vocabulary.components_of(task)
        with torch.no_grad():
            g = self.classifier(torch.as_tensor(np.asarray(features, dtype=np.float32))).numpy().astype(np.float64)
        return log_softmax(step_scores(g[:, parts.numbers], parts.membership))
