"""Random: Gaussian scores through the ordered programme: what order alone is worth."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crosstask.records import Corpus, Task


@dataclass(frozen=True)
class RandomScores:
    """A method whose scores mean nothing."""

    def fit(self, corpus: Corpus, rng: np.random.Generator) -> "RandomScorer":
        """A scorer with a generator of its own."""
        return RandomScorer(rng)


@dataclass(frozen=True)
class RandomScorer:
    """Fresh Gaussian scores at every call."""

    rng: np.random.Generator

    def score(self, task: Task, features: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
        """(T, D) -> (T, K) standard normal numbers."""
        return self.rng.standard_normal((len(features), len(task.steps)))
