"""How informative features are about the steps of their tasks, estimated without labels from the order of the step lists.

If features tell the steps apart, the list in its order makes a video more likely than the list rotated by some places
(`inference/narration_evidence.py`: order gain, and lambda). The class means that score a training video are estimated from the other folds.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from crosstask.inference.narration_evidence import (
    DURATION_SHARE,
    FeatureEvidence,
    informativeness_of,
    order_gain,
    tempered,
)
from crosstask.learning.hmm.class_means import LdaWeights, log_likelihood_ratios
from crosstask.learning.hmm.statistics import ClassIndex, HmmVideo
from crosstask.learning.hmm.task_prior import P_BACKGROUND, PositionWeight, TaskPrior

_FULL_POSITION = PositionWeight(np.inf, 1.0)  # the position is evidence once per interval
_MOST_VIDEOS = 100  # evenly chosen; lambda is one number, and more videos change it little


def feature_evidence(log_ratios: npt.NDArray[np.floating], prior: TaskPrior, autocorrelation_time: float) -> FeatureEvidence:
    """Log-likelihood ratios (T, K + 1) of features and the prior of their task, as evidence for the posterior of ordered intervals."""
    n_segments = len(log_ratios)
    return FeatureEvidence(
        tempered(log_ratios, autocorrelation_time),
        prior.position_log_ratios(n_segments, _FULL_POSITION)[:, :-1].astype(np.float64),
        np.maximum(DURATION_SHARE * prior.duration * n_segments, 1.0).astype(np.float64),
        prior.background_self_transition(n_segments),
        P_BACKGROUND,
        np.asarray(prior.presence, dtype=np.float64),
    )


def cross_fitted_informativeness(
    videos: Sequence[HmmVideo],
    classes: ClassIndex,
    folds: Sequence[int],
    lda: Sequence[LdaWeights],
    priors: Sequence[TaskPrior],
    autocorrelation_time: float,
) -> float:
    """lambda of training videos, each scored with the class means `lda` of the other folds; 0 where there is only one fold."""
    if len(lda) < 2:
        return 0.0
    gains, n_steps = [], []
    for number in range(0, len(videos), max(1, -(-len(videos) // _MOST_VIDEOS))):
        video = videos[number]
        if classes.n_steps[video.task] > 1:  # a single step has no order
            ratios = log_likelihood_ratios(video.rows, lda[folds[number]], classes.of(video.task))
            gains.append(order_gain(feature_evidence(ratios, priors[video.task], autocorrelation_time)))
            n_steps.append(classes.n_steps[video.task])
    return informativeness_of(gains, n_steps)
