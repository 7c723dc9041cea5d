"""A trained model of the default method: several hidden Markov models whose posteriors are averaged.

EM ends in different parameters when its settings change a little, at nearly the same likelihood and, on average, the same accuracy. The
members disagree most where they are wrong, so the mean of their posteriors is more often right than each of them:

    P(segment t in step k | x) = 1/M sum_m P(segment t in step k | x, parameters of member m)
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from crosstask.inference.confidence import ConfidenceInputs
from crosstask.inference.hmm_posterior import HmmPosterior
from crosstask.inference.narration_evidence import (
    FeatureEvidence,
    informativeness_of,
    order_gain,
    order_gain_per_step,
    order_posterior,
)
from crosstask.learning.hmm.em import EmSettings, StartingPoint
from crosstask.learning.hmm.whitening import Whitening
from crosstask.methods.hmm_scorer import HmmScorer
from crosstask.records import StepLabel, Task, TextSide
from crosstask.text.sharing import Sharing


class Variation(NamedTuple):
    """How a member is trained: factors of the common settings, and whether steps share through the meaning of their names too."""

    evidence_weight: float = 1.0
    noise: float = 1.0
    ridge: float = 1.0
    meaning: bool = True

    def of(self, common: EmSettings, number: int) -> EmSettings:
        """The settings of member `number`; it also has its own assignment of videos to folds."""
        prior = common.mean_prior
        return replace(
            common,
            evidence_weight=self.evidence_weight * common.evidence_weight,
            fold_seed=common.fold_seed + number,
            mean_prior=replace(prior, noise=self.noise * prior.noise, ridge=min(self.ridge * prior.ridge, 1.0)),
        )


# Each alone scores like the first on development people and tasks (results/protocols/accuracy.json); eight members score like five.
VARIATIONS = (
    Variation(),
    Variation(meaning=False),
    Variation(evidence_weight=1.4),
    Variation(noise=0.5),
    Variation(ridge=2.0),
)
# One video of a new task says little about how informative its features are: so many steps with a share of the training videos' order gain are counted
# beside it. Chosen on development tasks of captaincook and channels of vlogs; the whole gain is better on the former and worse on the latter.
_TRAINING_STEPS = 20
_NEW_TASK_SHARE = 0.5


@dataclass(frozen=True)
class HmmEnsemble:
    """A trained model: the members have the same tasks, whitening and sharing; scores are logarithms of the mean posterior."""

    members: tuple[HmmScorer, ...]
    kind: str = "hmm"
    decoder: str = "free"  # the order of the steps is in the posterior already, as far as it is kept

    def score(self, task: Task, features: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
        """(T, D) -> (T, K) log-probability that the segment lies in the step, given the whole video."""
        return self.log_posterior(self.posterior(task, features))

    @staticmethod
    def log_posterior(found: HmmPosterior) -> npt.NDArray[np.floating]:
        """(T, K) scores from a posterior."""
        return HmmScorer.log_posterior(found)

    def posterior(self, task: Task, features: npt.NDArray[np.floating], labels: Sequence[StepLabel] = ()) -> HmmPosterior:
        """The mean posterior of the members, given labels of a person for some steps."""
        found = [member.posterior(task, features, labels) for member in self.members]
        in_step, starts = (np.mean(parts, axis=0) for parts in zip(*((f.in_step, f.starts) for f in found), strict=True))
        return HmmPosterior(in_step, starts, float(np.mean([f.log_likelihood for f in found])))

    def feature_evidence(self, task: Task, features: npt.NDArray[np.floating]) -> FeatureEvidence:
        """What features (T, D) and the priors say before narration is considered, for joint decoding: the mean over the members."""
        return _mean_evidence([member.feature_evidence(task, features, self.autocorrelation_time) for member in self.members])

    def confidence_inputs(self, task: Task, features: npt.NDArray[np.floating]) -> ConfidenceInputs:
        """What the confidence of steps found in features (T, D) needs beside the posterior.

        The informativeness is that of the training videos; for a new task, that of this video and of some training videos.
        """
        informativeness = self._first.informativeness(task)
        if informativeness is None:
            gains, n_steps = [order_gain(self.feature_evidence(task, features))], [len(task.steps)]
            trained = self._first.parameters.informativeness
            if trained is not None:
                gains.append(_TRAINING_STEPS * _NEW_TASK_SHARE * order_gain_per_step(trained))
                n_steps.append(_TRAINING_STEPS)
            informativeness = informativeness_of(gains, n_steps)
        prior = _mean_evidence([member.prior_evidence(task, len(features)) for member in self.members])
        return ConfidenceInputs(order_posterior(prior).in_step, informativeness)

    @staticmethod
    def label_log_ratios(labels: Sequence[StepLabel], n_segments: int, task: Task) -> npt.NDArray[np.float64]:
        """(T, K + 1) certain evidence of a person's labels for joint decoding, background last."""
        return HmmScorer.label_log_ratios(labels, n_segments, task)

    def even_spacing_weight(self, task: Task) -> float:
        """The weight of even spacing in the posterior of a task."""
        return self._first.even_spacing_weight(task)

    def starting_points(self, tasks: Sequence[Task]) -> list[StartingPoint]:
        """The parameters of each member for further training on some tasks."""
        return [member.starting_point(tasks) for member in self.members]

    def with_changes(self, **changes: Any) -> "HmmEnsemble":
        """The model with some fields of every member changed."""
        return replace(self, members=tuple(replace(member, **changes) for member in self.members))

    @property
    def _first(self) -> HmmScorer:
        """The member with the common settings."""
        return self.members[0]

    @property
    def windows_used(self) -> bool:
        """True if narration windows were informative in training."""
        return self._first.windows_used

    @property
    def autocorrelation_time(self) -> float:
        """The autocorrelation time of the training features in seconds."""
        return self._first.autocorrelation_time

    @property
    def whitening(self) -> Whitening:
        """The scaling of features, the same for all members."""
        return self._first.whitening

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The trained tasks."""
        return self._first.tasks

    @property
    def sharing(self) -> Sharing:
        """What two steps must have in common to share their class means."""
        return self._first.sharing

    @property
    def text_side(self) -> TextSide | None:
        """The text side of image-text features."""
        return self._first.text_side

    @property
    def known_words(self) -> frozenset[str]:
        """The words of all trained steps."""
        return self._first.known_words

    def unknown_words(self, task: Task) -> tuple[str, ...]:
        """Words of the task's steps that were never trained."""
        return self._first.unknown_words(task)

    def unknown_steps(self, task: Task) -> list[str]:
        """Steps none of whose words was trained."""
        return self._first.unknown_steps(task)

    def to_arrays(self) -> tuple[dict[str, npt.NDArray[np.generic]], dict[str, object]]:
        """Arrays and plain values for the model file."""
        from crosstask.methods.hmm_file import hmm_to_arrays  # imported here: it imports this module

        return hmm_to_arrays(self)


def _mean_evidence(found: Sequence[FeatureEvidence]) -> FeatureEvidence:
    """The mean of what several models say of a video."""
    log_ratios, position, duration, background, p_background, presence = zip(*found, strict=True)
    return FeatureEvidence(
        np.mean(log_ratios, axis=0),
        np.mean(position, axis=0),
        np.mean(duration, axis=0),
        float(np.mean(background)),
        float(np.mean(p_background)),
        np.mean(presence, axis=0),
    )
