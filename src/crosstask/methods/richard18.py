"""Richard'18: trained on the unordered set of steps of each video, and decoded like every other method.

Classes are step names, so that sets differ between tasks; within a task all videos have the same set, which is why it learns little here.
"""

from dataclasses import dataclass, field

import numpy as np

from crosstask.learning.baselines.action_sets import ActionSetSettings, learn_from_sets
from crosstask.methods.component_scorer import ComponentScorer
from crosstask.methods.protocols import Params
from crosstask.methods.training_videos import Notices, trainable_videos
from crosstask.records import Corpus
from crosstask.text import vocabulary_of


@dataclass(frozen=True)
class Richard18(Params):
    """The method `richard18`: a softmax over step names, a length model and sampled orders."""

    settings: ActionSetSettings = field(default_factory=ActionSetSettings)

    def fit(self, corpus: Corpus, rng: np.random.Generator) -> ComponentScorer:
        """A scorer trained on every video of the corpus that has features, without order and windows."""
        notices = Notices()
        videos = trainable_videos(corpus, notices)
        notices.report(narrated=False)
        vocabulary = vocabulary_of(corpus.tasks.values(), "step")
        sets = [vocabulary.components_of(corpus.task_of(video)).numbers for video in videos]
        rows = [np.asarray(corpus.features.rows(video.id), dtype=np.float32) for video in videos]
        found = learn_from_sets(rows, sets, len(vocabulary.names), np.random.default_rng(rng), self.settings)
        return ComponentScorer(vocabulary, found.weights.astype(np.float32))
