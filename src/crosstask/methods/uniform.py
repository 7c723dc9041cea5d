"""Uniform: step k at round((k + 1/2) T / K). Looks at nothing, learns nothing, and is hard to beat on orderly videos."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crosstask.records import Corpus, Task


@dataclass(frozen=True)
class Uniform:
    """Steps at fixed fractions of the video."""

    def fit(self, corpus: Corpus, rng: np.random.Generator) -> "Uniform":
        """Nothing to learn."""
        return self

    def score(self, task: Task, features: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
        """(T, D) -> (T, K): minus the distance in seconds from where the step is put."""
        n_segments, n_steps = len(features), len(task.steps)
        centres = np.rint((np.arange(n_steps) + 0.5) * n_segments / n_steps)
        return -np.abs(np.arange(n_segments)[:, None] - centres[None, :])
