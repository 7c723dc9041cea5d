"""Posterior -> calibrated probability: how often a found moment lies in the step, and how often a step is shown at all.

A found moment is right because the features are right, or because order alone happens to be. With p the posterior of the step at its moment t, o
the posterior of order alone there (position, duration and presence, without features), and lambda the informativeness of the features, which is
estimated without labels (`narration_evidence.py`),

    q = lambda sigmoid(a logit(p) + b)          probability that the features are right
    P(hit) = q + (1 - q) o

The posterior p is overconfident, as its seconds are not independent; a and b were fitted by maximum likelihood on annotated corpora of other videos
than the user's. How often order alone is right, and whether features say anything, differ from corpus to corpus. o and lambda follow that: a map
of p alone had up to three times the calibration error on a corpus that it was not fitted on.

Scorers without these quantities have Platt scaling, P = sigmoid(a logit(p) + b), and so has the probability that a step is shown.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
_CLIP = 1e-3  # posteriors are clipped to [0.001, 0.999]
_SHOWN_FROM = 0.5  # P(shown) below which a step counts as absent: absence is then more likely
# Priors of a recalibration on the scale of the confidence. The slope differs little from corpus to corpus. The intercept is mostly near 0 and
# sometimes far from it: Student's t shrinks small deviations and accepts large ones (27 right answers of 30 move 0.5 to 0.85, as with a Gaussian of
# deviation 1.0, whose calibration error after 30 corrections is 0.01 to 0.02 larger on the development half of Breakfast and captaincook).
_SLOPE_DEVIATION = 0.1
_INTERCEPT_SCALE = 0.4
_DEGREES_OF_FREEDOM = 2.0
_NEWTON_STEPS = 30


@dataclass(frozen=True)
class Calibration:
    """a and b of Platt scaling."""

    slope: float
    intercept: float


class ConfidenceInputs(NamedTuple):
    """What the confidence of a video's steps needs beside the posterior: P(segment in step | order alone) (T, K), and lambda."""

    by_order: Array
    informativeness: float


# Fitted by maximum likelihood on development people, tasks and channels of captaincook, Breakfast and vlogs with equal weight, with 1 to 30 training
# videos a task; with all training videos (benchmarks/real_data/confidence.py --fit) it is 0.26 and -0.73, and without one of the three
# corpora 0.22 to 0.30 and -0.9 to -0.5.
RIGHT = Calibration(0.27, -0.75)  # q / lambda
# Platt scaling fitted to the same steps:
HIT = Calibration(0.18, -0.69)  # posterior of a scorer without informativeness
HIT_GENERIC = Calibration(0.08, -0.95)  # posterior of the generic HMM around scores that are no probabilities
# Corpora differ in how many steps are absent (7 % and 29 %), and the posterior hardly discriminates them (AUROC 0.53 to 0.63):
# the map stays near the mean of captaincook and breakfast, and is never below one half.
SHOWN = Calibration(0.05, 1.5)


def logit(p: npt.ArrayLike) -> Array:
    """log p / (1 - p) of probabilities clipped to [0.001, 0.999].

    >>> logit([0.5, 1.0]).round(2).tolist()
    [0.0, 6.91]
    """
    clipped = np.clip(np.asarray(p, dtype=np.float64), _CLIP, 1 - _CLIP)
    return np.log(clipped / (1 - clipped))


def calibrated(p: npt.ArrayLike, calibration: Calibration = HIT) -> Array:
    """Calibrated probabilities of posteriors of any shape.

    >>> calibrated([0.2, 0.9], Calibration(1.0, 0.0)).round(3).tolist()
    [0.2, 0.9]
    """
    return np.asarray(1 / (1 + np.exp(-(calibration.slope * logit(p) + calibration.intercept))))


def hit_probability(
    p: npt.ArrayLike, by_order: npt.ArrayLike, informativeness: npt.ArrayLike, right: Calibration = RIGHT
) -> Array:
    """P(hit) of moments with posteriors p (K,) given features, and by_order (K,) given order alone.

    >>> hit_probability([0.9], [0.4], 0.0)
    array([0.4])
    """
    q = np.asarray(informativeness, dtype=np.float64) * calibrated(p, right)
    return np.asarray(q + (1 - q) * np.asarray(by_order, dtype=np.float64))


def is_shown(p_shown: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """False only where absence is more likely than not."""
    return np.asarray(p_shown, dtype=np.float64) >= _SHOWN_FROM


def fit_calibration(
    p: npt.ArrayLike, hits: npt.ArrayLike, prior: Calibration | None = None, weights: npt.ArrayLike | None = None
) -> Calibration:
    """Platt scaling of posteriors p (n,) to observed hits (n,) by penalised maximum likelihood (Newton's method).

    With a `prior`, p are confidences and slope and intercept are shrunk towards it, the slope by a Gaussian prior and the intercept by Student's
    t, a Gaussian whose precision is estimated again in every iteration (EM).

    >>> fit_calibration([0.2, 0.8], [0, 1], Calibration(1.0, 0.0)).slope > 1
    True
    """
    x, y = logit(p), np.asarray(hits, dtype=np.float64)
    w = np.ones(len(x)) if weights is None else np.asarray(weights, dtype=np.float64)
    centre = np.array([prior.slope, prior.intercept]) if prior is not None else np.zeros(2)
    precision = 1e-6 * np.eye(2)
    design, theta = np.stack([x, np.ones_like(x)], axis=1), centre.copy()
    for _ in range(_NEWTON_STEPS):
        if prior is not None:
            precision = np.diag([1 / _SLOPE_DEVIATION**2, _intercept_precision(theta[1] - centre[1])])
        q = 1 / (1 + np.exp(-design @ theta))
        gradient = design.T @ (w * (y - q)) - precision @ (theta - centre)
        hessian = (design.T * (w * q * (1 - q))) @ design + precision
        theta = theta + np.linalg.solve(hessian, gradient)
    return Calibration(float(max(theta[0], 0.0)), float(theta[1]))


def _intercept_precision(deviation: float) -> float:
    """The expected precision of the intercept's prior, given its deviation from the centre (E step of Student's t)."""
    squared = (deviation / _INTERCEPT_SCALE) ** 2
    return (_DEGREES_OF_FREEDOM + 1) / (_DEGREES_OF_FREEDOM + squared) / _INTERCEPT_SCALE**2
