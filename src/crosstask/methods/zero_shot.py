"""Zero-shot localization by image-text features: frames are compared with the names of the steps; nothing is trained.

The similarity s_tk of segment t and step k is the product of the frame's vector, less the mean of its video, with the vector of the step name. Each
step's similarities are scaled to the deviation `TEXT_SEPARATION`, as if they were log-likelihood ratios of two Gaussians so many deviations
apart. Scores are log-probabilities under the same hidden Markov model of ordered steps as in the default method, with its prior for new tasks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from crosstask.inference.hmm_posterior import HmmPosterior
from crosstask.learning.hmm.class_means import TEXT_SEPARATION
from crosstask.learning.hmm.em import loose_posterior, posterior
from crosstask.learning.hmm.task_prior import UNSEEN_TASK_WEIGHT, initial_prior
from crosstask.learning.hmm.whitening import centred
from crosstask.methods.protocols import Params
from crosstask.methods.text_prior import Arrays, check_columns, text_side_from, text_side_to_values, with_names_of
from crosstask.records import Corpus, InputError, StepLabel, Task, TextSide
from crosstask.text.encoders.image_text import text_vectors

_P_STRICT_ORDER = 0.5  # as in the default method
_SMALLEST_PROBABILITY = 1e-12


@dataclass(frozen=True)
class ZeroShot(Params):
    """The method `zero-shot`: it needs features with a text side, and no training videos."""

    def fit(self, corpus: Corpus, rng: np.random.Generator) -> "ZeroShotScorer":
        """A scorer with the vectors of all steps of the corpus; videos are not used."""
        if corpus.text_side is None:
            raise InputError(
                f"corpus '{corpus.name}': its features ('{corpus.feature_spec}') have no text side, which zero-shot compares step names with; "
                "extract them with an image-text model: crosstask extract CORPUS --features clip=FOLDER"
            )
        return ZeroShotScorer(with_names_of(corpus.text_side, list(corpus.tasks.values())))


@dataclass(frozen=True)
class ZeroShotScorer:
    """Scores any step list by the similarity of frames and step names."""

    text_side: TextSide
    kind: str = "zero-shot"
    decoder: str = "free"  # the order of the steps is in the posterior already

    def score(self, task: Task, features: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
        """(T, D) -> (T, K) log-probability that the segment lies in the step."""
        return self.log_posterior(self.posterior(task, features))

    @staticmethod
    def log_posterior(found: HmmPosterior) -> npt.NDArray[np.floating]:
        """(T, K) scores from a posterior."""
        return np.log(found.in_step + _SMALLEST_PROBABILITY)

    def posterior(self, task: Task, features: npt.NDArray[np.floating], labels: Sequence[StepLabel] = ()) -> HmmPosterior:
        """The posterior of a task's steps in a video with features (T, D): the mean of strict and of loose order."""
        if labels:
            raise InputError("method 'zero-shot' cannot use labels of a person; a model of `--method hmm` can")
        prior = replace(initial_prior(len(task.steps)), trained=False)
        ratios = self.similarities(task, features) - TEXT_SEPARATION**2 / 2
        log_ratios = np.hstack([ratios, np.zeros((len(ratios), 1))]) + prior.position_log_ratios(len(ratios), UNSEEN_TASK_WEIGHT)
        strict = posterior(log_ratios, prior)
        in_step = _P_STRICT_ORDER * strict.in_step + (1 - _P_STRICT_ORDER) * loose_posterior(log_ratios, prior)
        return HmmPosterior(in_step, strict.starts, strict.log_likelihood)

    def similarities(self, task: Task, features: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
        """(T, K) scaled similarities of segments and step names; each column has mean 0 and, unless constant, deviation `TEXT_SEPARATION`."""
        if features.ndim != 2:
            raise InputError(f"features have shape {features.shape}; expected (T, D)")
        check_columns(self.text_side, features.shape[1])
        rows = centred(features[:, self.text_side.columns]).astype(np.float64)
        found = rows @ text_vectors(self.text_side, task.steps).T.astype(np.float64)
        deviation = found.std(axis=0)
        return np.asarray(found * np.divide(TEXT_SEPARATION, deviation, out=np.zeros_like(deviation), where=deviation > 1e-9))

    def to_arrays(self) -> tuple[Arrays, dict[str, object]]:
        """Arrays and plain values for the model file."""
        return text_side_to_values(self.text_side)


def zero_shot_scorer_from(arrays: Mapping[str, npt.NDArray[Any]], values: Mapping[str, Any]) -> ZeroShotScorer:
    """The inverse of `to_arrays`."""
    side = text_side_from(arrays, values)
    if side is None:
        raise InputError("model file: its text side is missing; make it again with `train --method zero-shot`")
    return ZeroShotScorer(side)
