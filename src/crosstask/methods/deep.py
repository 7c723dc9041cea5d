"""The paper's training with a deeper classifier in place of the linear one. Extra: deep."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from crosstask.inference import BadCost
from crosstask.learning.zhukov19.alternation import AlternationSettings
from crosstask.learning.zhukov19.component_model import component_scores, log_softmax, step_scores
from crosstask.learning.zhukov19.deep import DeepSettings, alternate_deep, layers
from crosstask.methods.component_scorer import VocabularyScorer
from crosstask.methods.protocols import Params, refuse_other_width
from crosstask.methods.training_videos import training_arrays
from crosstask.records import Corpus, InputError, MissingExtra, Task
from crosstask.storage import single_thread
from crosstask.text import SHARING, Vocabulary, vocabulary_of
from crosstask.text.sharing import Sharing, sharing_from_values, sharing_to_values

Layer = npt.NDArray[np.float32]
_DIVERGED = "training of a deeper classifier diverged; lower its learning_rate, or scale the features"


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
        try:
            with single_thread():
                trained = alternate_deep(arrays.rows, arrays.videos, arrays.tasks, classifier, settings, seed)
        except BadCost:
            raise InputError(_DIVERGED) from None
        found = tuple(_parameters(module) for module in trained if hasattr(module, "weight"))
        if not all(np.isfinite(layer).all() for layer in found):
            raise InputError(_DIVERGED)
        return DeepScorer(vocabulary, found, tuple(corpus.tasks.values()))


def _parameters(linear: Any) -> Layer:
    """Weights and offsets (n_out, n_in + 1) of a torch.nn.Linear."""
    weights, offsets = (part.detach().cpu().numpy() for part in (linear.weight, linear.bias))
    return np.concatenate([weights, offsets[:, None]], axis=1).astype(np.float32)


@dataclass(frozen=True)
class DeepScorer(VocabularyScorer):
    """Scores of a trained classifier: linear layers (n_out, n_in + 1) with rectified units between them. It needs no PyTorch."""

    vocabulary: Vocabulary
    layers: tuple[Layer, ...]
    tasks: tuple[Task, ...] = field(default=(), compare=False, repr=False)  # whose components a custom sharing stores
    kind: str = "deep"

    def score(self, task: Task, features: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
        """(T, D) -> (T, K) log-probabilities of the steps."""
        refuse_other_width(features, self.layers[0].shape[1] - 1)
        parts = self.vocabulary.components_of(task)
        x: npt.NDArray[np.floating] = np.asarray(features, dtype=np.float32)
        for layer in self.layers[:-1]:
            x = np.maximum(component_scores(x, layer), 0)
        g = component_scores(x.astype(np.float64), self.layers[-1][parts.numbers])
        return log_softmax(step_scores(g, parts.membership))

    def to_arrays(self) -> tuple[dict[str, npt.NDArray[np.generic]], dict[str, object]]:
        """Arrays and plain values for the model file."""
        values = sharing_to_values(self.vocabulary.sharing, SHARING, self.tasks)
        return {f"layer{i}": layer for i, layer in enumerate(self.layers)}, {**values, "components": list(self.vocabulary.names)}


def deep_scorer_from(arrays: dict[str, npt.NDArray[np.generic]], values: dict[str, object]) -> DeepScorer:
    """The inverse of `to_arrays`."""
    names = values.get("components")
    found = tuple(np.asarray(arrays[f"layer{i}"], dtype=np.float32) for i in range(len(arrays)))
    widths = [layer.shape[1] - 1 for layer in found[1:]] + [len(names) if isinstance(names, list) else -1]
    if not isinstance(names, list) or not found or [len(layer) for layer in found] != widths:
        raise InputError("model file: its layers do not fit each other and its vocabulary; train it again")
    return DeepScorer(Vocabulary(sharing_from_values(values, SHARING), tuple(str(name) for name in names)), found)
