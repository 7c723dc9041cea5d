"""A scorer of linear component classifiers, the paper's model, at any level of sharing."""

import logging
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from crosstask.learning.float16 import linear_scores
from crosstask.learning.zhukov19.component_model import log_softmax
from crosstask.methods.protocols import refuse_other_width
from crosstask.records import InputError, Task
from crosstask.text import SHARING, Vocabulary
from crosstask.text.sharing import sharing_from_values, sharing_to_values

log = logging.getLogger(__name__)


class VocabularyScorer:
    """What a scorer of the components of a vocabulary says of words and steps that it was not trained on."""

    vocabulary: Vocabulary

    def unknown_words(self, task: Task) -> tuple[str, ...]:
        """Components of the task's steps that were never trained."""
        return self.vocabulary.components_of(task).unknown

    def unknown_steps(self, task: Task) -> list[str]:
        """Steps none of whose words was trained: their place comes from order alone."""
        return [task.steps[k] for k in self.vocabulary.components_of(task).untrained_steps]


@dataclass(frozen=True)
class ComponentScorer(VocabularyScorer):
    """Linear component classifiers (M, D + 1) over a vocabulary; scores are log softmax over the steps of the task."""

    vocabulary: Vocabulary
    parameters: npt.NDArray[np.float32]
    tasks: tuple[Task, ...] = field(default=(), compare=False, repr=False)  # whose components a custom sharing stores
    losses: tuple[float, ...] = field(default=(), compare=False, repr=False)  # of the epochs; not stored
    kind: str = "component"

    def score(self, task: Task, features: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
        """(T, D) -> (T, K) log-probabilities of the steps, normalised over the steps of each segment."""
        return log_softmax(self.raw_score(task, features))

    def raw_score(self, task: Task, features: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
        """(T, D) -> (T, K), Eq. (1) itself: the paper decodes f, we decode its log softmax (deviation 7)."""
        refuse_other_width(features, self.parameters.shape[1] - 1)
        parts = self.vocabulary.components_of(task)
        weights = parts.averaging @ self.parameters[parts.numbers].astype(np.float64)  # (K, D + 1)
        return linear_scores(features, weights)

    def to_arrays(self) -> tuple[dict[str, npt.NDArray[np.generic]], dict[str, object]]:
        """Arrays and plain values for the model file."""
        values = sharing_to_values(self.vocabulary.sharing, SHARING, self.tasks)
        return {"parameters": self.parameters}, {**values, "components": list(self.vocabulary.names)}


def component_scorer_from(arrays: dict[str, npt.NDArray[np.generic]], values: dict[str, object]) -> ComponentScorer:
    """The inverse of `to_arrays`."""
    names, parameters = values.get("components"), arrays.get("parameters")
    if not isinstance(names, list) or parameters is None or parameters.ndim != 2 or len(names) != len(parameters):
        raise InputError("model file: its vocabulary does not fit its weights; train it again")
    sharing = sharing_from_values(values, SHARING)
    return ComponentScorer(Vocabulary(sharing, tuple(str(name) for name in names)), np.asarray(parameters, dtype=np.float32))
