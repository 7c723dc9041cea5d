"""Posterior -> calibrated probability: how often a found moment lies in the step, and how often a step is shown at all.

    P(hit) = sigmoid(a logit(p) + b),     p: posterior of the step at its moment; P(shown) likewise from the posterior of being shown

(Platt scaling.) The posterior of the interval model is overconfident. The two parameters of each map were fitted on annotated corpora of
other videos than the user's; more inputs did not carry over from one corpus to another (leave-one-corpus-out on development halves: expected duration,
its share of an even part, number of steps and of training videos, posterior of order alone, entropy, agreement of strict and loose order, distance from
even spacing): the duration of a step helps on Breakfast (AUROC 0.70 alone), but beside the posterior its weight is negative on captaincook and vlogs.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
_CLIP = 1e-3  # posteriors are clipped to [0.001, 0.999]
_SHOWN_FROM = 0.5  # P(shown) below which a step counts as absent: absence is then more likely
# Of slope and intercept on the scale of the confidence, from corpus to corpus. Narrower intercepts (0.5) were 0.003 better in ECE after 30 corrections
# on the development half of three hard corpora, within noise, but leave an easy collection at 0.75 where 0.9 is right.
_PRIOR_DEVIATIONS = (0.1, 1.0)
_NEWTON_STEPS = 30


@dataclass(frozen=True)
class Calibration:
    """a and b of Platt scaling."""

    slope: float
    intercept: float


# Fitted on development people and channels of captaincook, Breakfast and vlogs with equal weight (benchmarks/real_data/confidence.py --fit).
# Fitted without one of the three, slopes move by at most 0.19 and intercepts by at most 0.3.
HIT = Calibration(0.18, -0.69)  # posterior of features alone
HIT_JOINT = Calibration(0.42, 0.16)  # joint posterior of features and narration
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


def is_shown(p_shown: npt.ArrayLike) -> npt.NDArray[np.bool_]:
    """False only where absence is more likely than not."""
    return np.asarray(p_shown, dtype=np.float64) >= _SHOWN_FROM


def fit_calibration(
    p: npt.ArrayLike, hits: npt.ArrayLike, prior: Calibration | None = None, weights: npt.ArrayLike | None = None
) -> Calibration:
    """Platt scaling of posteriors p (n,) to observed hits (n,) by penalised maximum likelihood (Newton's method).

    With a `prior`, p are confidences and slope and intercept are shrunk towards it by Gaussian priors, so that a few dozen corrections move
    the level at once and the slope slowly.

    >>> fit_calibration([0.2, 0.8], [0, 1], Calibration(1.0, 0.0)).slope > 1
    True
    """
    x, y = logit(p), np.asarray(hits, dtype=np.float64)
    w = np.ones(len(x)) if weights is None else np.asarray(weights, dtype=np.float64)
    centre = np.array([prior.slope, prior.intercept]) if prior is not None else np.zeros(2)
    precision = np.diag(1 / np.array(_PRIOR_DEVIATIONS) ** 2) if prior is not None else 1e-6 * np.eye(2)
    design, theta = np.stack([x, np.ones_like(x)], axis=1), centre.copy()
    for _ in range(_NEWTON_STEPS):
        q = 1 / (1 + np.exp(-design @ theta))
        gradient = design.T @ (w * (y - q)) - precision @ (theta - centre)
        hessian = (design.T * (w * q * (1 - q))) @ design + precision
        theta = theta + np.linalg.solve(hessian, gradient)
    return Calibration(float(max(theta[0], 0.0)), float(theta[1]))
