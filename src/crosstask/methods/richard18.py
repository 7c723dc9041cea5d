"""Richard'18: trained on the unordered set of steps of each video, and decoded like every other method.

Classes are step names, so that sets differ between tasks; within a task all videos have the same set, which is why it learns little here.
`richard18` is the published classifier; `richard18-linear` a linear softmax that relearns from its own segmentations twice.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from crosstask.learning.baselines.action_sets import ActionSetSettings, learn_from_sets
from crosstask.learning.baselines.set_network import SetNetwork, SetNetworkSettings, train_set_network
from crosstask.methods.component_scorer import ComponentScorer, VocabularyScorer
from crosstask.methods.protocols import Params, refuse_other_width
from crosstask.methods.training_videos import Notices, trainable_videos
from crosstask.records import Corpus, InputError, Task
from crosstask.storage import single_thread
from crosstask.text import Vocabulary, vocabulary_of


@dataclass(frozen=True)
class Richard18(Params):
    """The method `richard18`: 256 rectified units, a binary output per step name and for the background, plain gradient descent."""

    settings: SetNetworkSettings = field(default_factory=SetNetworkSettings)

    @single_thread()
    def fit(self, corpus: Corpus, rng: np.random.Generator) -> "SetNetworkScorer":
        """A scorer trained on every video of the corpus that has features, without order and windows."""
        vocabulary, rows, sets = _rows_and_sets(corpus)
        found = train_set_network(rows, sets, len(vocabulary.names), np.random.default_rng(rng), self.settings)
        if not all(np.isfinite(array).all() for array in found):
            raise InputError("training of richard18 diverged; lower its classifier_rate, or scale the features")
        return SetNetworkScorer(vocabulary, found)


@dataclass(frozen=True)
class Richard18Linear(Params):
    """The method `richard18-linear`: a softmax over step names, a length model and sampled orders."""

    settings: ActionSetSettings = field(default_factory=ActionSetSettings)

    @single_thread()
    def fit(self, corpus: Corpus, rng: np.random.Generator) -> ComponentScorer:
        """A scorer trained on every video of the corpus that has features, without order and windows."""
        vocabulary, rows, sets = _rows_and_sets(corpus)
        found = learn_from_sets(rows, sets, len(vocabulary.names), np.random.default_rng(rng), self.settings)
        return ComponentScorer(vocabulary, found.weights.astype(np.float32))


def _rows_and_sets(corpus: Corpus) -> tuple[Vocabulary, list[npt.NDArray[np.float32]], list[npt.NDArray[np.int64]]]:
    """Step names as classes, and the features (T, D) and classes of every trainable video."""
    notices = Notices()
    videos = trainable_videos(corpus, notices)
    notices.report(narrated=False)
    vocabulary = vocabulary_of(corpus.tasks.values(), "step")
    sets = [vocabulary.components_of(corpus.task_of(video)).numbers for video in videos]
    return vocabulary, [np.asarray(corpus.features.rows(video.id), dtype=np.float32) for video in videos], sets


@dataclass(frozen=True)
class SetNetworkScorer(VocabularyScorer):
    """Scores log p(step in the set | x) - log prior(step); a step name that was not trained scores zero everywhere."""

    vocabulary: Vocabulary
    network: SetNetwork
    kind: str = "set-network"

    def score(self, task: Task, features: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
        """(T, D) -> (T, K)."""
        refuse_other_width(features, self.network.into_hidden.shape[1] - 1)
        parts = self.vocabulary.components_of(task)
        return self.network.scores(features, parts.numbers) @ parts.averaging.T

    def to_arrays(self) -> tuple[dict[str, npt.NDArray[np.generic]], dict[str, object]]:
        """Arrays and plain values for the model file."""
        return dict(self.network._asdict()), {"components": list(self.vocabulary.names)}


def set_network_scorer_from(arrays: Mapping[str, npt.NDArray[Any]], values: Mapping[str, Any]) -> SetNetworkScorer:
    """The inverse of `to_arrays`."""
    names = values.get("components")
    parts = [arrays.get(name) for name in SetNetwork._fields]
    if not isinstance(names, list) or any(part is None for part in parts):
        raise InputError("model file: its network or step names are missing; train it again")
    network = SetNetwork(*(np.asarray(part, dtype=np.float64) for part in parts))
    hidden, out, prior = network
    if hidden.ndim != 2 or out.ndim != 2 or out.shape != (len(names) + 1, len(hidden) + 1) or prior.shape != (len(out),):
        raise InputError("model file: its step names do not fit its network; train it again")
    return SetNetworkScorer(Vocabulary("step", tuple(str(name) for name in names)), network)
