"""Baselines that look at no features: even spacing, and random scores under the order of the steps."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crosstask.methods.protocols import Params
from crosstask.records import Corpus, Task


@dataclass(frozen=True)
class Uniform(Params):
    """Step k at segment round((k + 1/2) T / K), k from 0."""

    def fit(self, corpus: Corpus, rng: np.random.Generator) -> "Uniform":
        """Itself: there is nothing to train."""
        return self

    def score(self, task: Task, features: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
        """(T, D) -> (T, K): minus the distance in seconds from the evenly spaced moment of the step."""
        n_segments, n_steps = len(features), len(task.steps)
        centres = np.rint((np.arange(n_steps) + 0.5) * n_segments / n_steps)
        return -np.abs(np.arange(n_segments)[:, None] - centres[None, :])


@dataclass(frozen=True)
class Random(Params):
    """Gaussian scores: after ordered decoding, what order alone is worth."""

    def fit(self, corpus: Corpus, rng: np.random.Generator) -> "RandomScorer":
        """A scorer that draws from `rng`."""
        return RandomScorer(np.random.default_rng(rng))


@dataclass(frozen=True)
class RandomScorer:
    """Fresh Gaussian scores at every call."""

    rng: np.random.Generator

    def score(self, task: Task, features: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
        """(T, D) -> (T, K) standard normal numbers."""
        return self.rng.standard_normal((len(features), len(task.steps)))
