import gc
import weakref
from dataclasses import dataclass, field, replace

import numpy as np

from crosstask.features import FeaturesInMemory, NpyFeatures
from crosstask.methods.hmm import HiddenMarkovModel
from tiny import write_tiny


@dataclass(frozen=True)
class CountingFeatures(NpyFeatures):
    """Feature files that count how many of the arrays read from them exist at a time."""

    alive: list[weakref.ref] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)

    def rows(self, video_id):
        gc.collect()
        self.counts.append(sum(reference() is not None for reference in self.alive))
        rows = super().rows(video_id)
        self.alive.append(weakref.ref(rows))
        return rows


def test_of_loose_files_few_are_in_memory_at_a_time(tmp_path):
    corpus = write_tiny(tmp_path, videos_per_task=6)
    counting = CountingFeatures(tmp_path / "crosstask_features")
    trained = HiddenMarkovModel().fit(replace(corpus, features=counting), np.random.default_rng(0))
    assert len(counting.counts) > 2 * len(corpus.videos) and max(counting.counts) <= 2
    in_memory = FeaturesInMemory({video_id: counting.rows(video_id) for video_id in counting})
    same = HiddenMarkovModel().fit(replace(corpus, features=in_memory), np.random.default_rng(0))
    for one, other in zip(trained.members, same.members, strict=True):
        assert np.array_equal(one.parameters.coefficients, other.parameters.coefficients)
