"""What each step looks like: means that borrow from steps with the same words, and the linear evidence they give.

Every class (a step of a task, or a task's background) has a true mean; a priori they vary together as their names do: covariance
pool * (share of common words) + own * identity. What was seen of class c, n_c rows with mean y_c, is that mean plus noise of variance
noise / n_c + bias_c. The best guess is Gaussian-process regression, M = C (C + diag(noise / n + bias))⁻¹ Y: component sharing and a small step residual at
once, so that a step with many clear examples keeps its own look and a step with none is predicted from its words.

Evidence is linear discriminant analysis with one within-class covariance S: log p(x | c) = x S⁻¹ m_c - m_c S⁻¹ m_c / 2 + constant.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.floating]
_NOTHING_SEEN = 1e9


@dataclass(frozen=True)
class MeanPrior:
    """How much classes borrow from each other, and how much what was seen is trusted."""

    pool: float = 1.0  # variance that common words explain
    own: float = 0.2  # variance of a step beside its words
    noise: float = 200.0  # so many rows make one clear sight; set from the data by `observation_noise`
    ridge: float = 0.3  # share of the covariance that is taken to be round


def observation_noise(autocorrelation_time: float) -> float:
    """How many rows make one clear sight of a step, when so many seconds in a row say the same."""
    return 41.0 * autocorrelation_time


@dataclass(frozen=True)
class ClassStatistics:
    """Soft counts (C,) and sums (C, d) of the rows given to each class, and how biased they may be (C,)."""

    counts: npt.NDArray[np.float64]
    sums: npt.NDArray[np.float64]
    bias: npt.NDArray[np.float64]


def mean_coefficients(seen: ClassStatistics, word_kernel: Floats, settings: MeanPrior) -> npt.NDArray[np.float64]:
    """(C, d) coefficients: shared_words_of_new_steps @ coefficients are the means of steps known by their words alone."""
    means = seen.sums / np.maximum(seen.counts, 1e-6)[:, None]
    doubt = np.where(seen.counts > 1e-3, settings.noise / np.maximum(seen.counts, 1e-3) + seen.bias, _NOTHING_SEEN)
    covariance = settings.pool * word_kernel + settings.own * np.eye(len(means))
    return np.linalg.solve(covariance + np.diag(doubt), means)


def class_means(coefficients: Floats, word_kernel: Floats, settings: MeanPrior) -> npt.NDArray[np.float64]:
    """(C, d) means of the classes that were trained."""
    return settings.pool * word_kernel @ coefficients + settings.own * coefficients


def within_covariance(seen: ClassStatistics, second_moment: Floats, n_rows: int, settings: MeanPrior) -> npt.NDArray[np.float64]:
    """(d, d) covariance of rows around their class means, part of it made round."""
    between = (seen.sums.T / np.maximum(seen.counts, 1e-6)) @ seen.sums / n_rows
    within = second_moment - between
    d = len(within)
    roundness = max(float(np.trace(within)) / d, 1e-6)  # rows are in units of their own spread, so this is nothing
    return (1 - settings.ridge) * within + settings.ridge * roundness * np.eye(d)


@dataclass(frozen=True)
class LdaWeights:
    """x -> x W - b: log-likelihood of each class up to a term that all share; (C, d), (C,)."""

    weights: npt.NDArray[np.float32]
    offsets: npt.NDArray[np.float32]


def lda_weights(means: Floats, covariance: Floats) -> LdaWeights:
    """The discriminant of class means under one covariance."""
    return _evidence(means, np.linalg.solve(covariance, means.T).T)


def lda_weights_from_cholesky(means: Floats, factor: tuple[Floats, bool]) -> LdaWeights:
    """The same from the covariance's Cholesky factor, which is found once for many sets of means."""
    from scipy.linalg import cho_solve  # costs a third of a second, and a trained model needs it for nothing

    return _evidence(means, cho_solve(factor, means.T).T)


def _evidence(means: Floats, weights: Floats) -> LdaWeights:
    return LdaWeights(weights.astype(np.float32), (0.5 * (weights * means).sum(axis=1)).astype(np.float32))


def log_likelihood_ratios(rows: Floats, evidence: LdaWeights, classes: slice) -> npt.NDArray[np.float64]:
    """(T, K + 1) log-likelihood ratios of a task's classes to its background, which is the last of them."""
    scores = (rows @ evidence.weights[classes].T - evidence.offsets[classes]).astype(np.float64)
    return scores - scores[:, -1:]
