"""The two interfaces that every method implements, and scikit-learn's parameter conventions for our own."""

from dataclasses import fields
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from crosstask.records import Corpus, InputError, Task

Scores = npt.NDArray[np.floating]


class Scorer(Protocol):
    """A trained model: scores of a task's steps for every segment."""

    def score(self, task: Task, features: npt.NDArray[np.floating]) -> Scores:
        """(T, D) -> (T, K), higher is better."""
        ...


class Method(Protocol):
    """A way to train a scorer on a corpus. Narration windows are part of the corpus; scoring sees features alone."""

    def fit(self, corpus: Corpus, rng: np.random.Generator) -> Scorer:
        """A scorer trained on every video of the corpus."""
        ...


def refuse_other_width(features: npt.NDArray[np.floating], n_dimensions: int) -> None:
    """An error for features of another shape than (T, D) with the D columns of the training; (T, 0) stands for a video without any."""
    if features.ndim == 2 and not features.shape[1]:
        raise InputError(f"no features; the model needs those that it was trained on, (T, {n_dimensions})")
    if features.ndim != 2 or features.shape[1] != n_dimensions:
        raise InputError(
            f"features have shape {features.shape}; the model was trained on {n_dimensions} columns, expected (T, {n_dimensions})"
        )


class Params:
    """`get_params` for methods that are frozen dataclasses, so that `sklearn.base.clone` copies them."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The constructor arguments by name; callbacks and checkpoints are not parameters."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.init and f.compare}  # type: ignore[arg-type]
