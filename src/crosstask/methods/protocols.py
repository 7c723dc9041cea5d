"""The two contracts that every method keeps."""

from typing import Protocol

import numpy as np
import numpy.typing as npt

from crosstask.records import Corpus, Task

Scores = npt.NDArray[np.floating]


class Scorer(Protocol):
    """What was learnt: scores of a task's steps for every segment."""

    def score(self, task: Task, features: npt.NDArray[np.floating]) -> Scores:
        """(T, D) -> (T, K), higher is better."""
        ...


class Method(Protocol):
    """A way to learn a scorer from a corpus. Windows ride in the corpus; scoring is given no narration."""

    def fit(self, corpus: Corpus, rng: np.random.Generator) -> Scorer:
        """Learn from every video of the corpus."""
        ...
