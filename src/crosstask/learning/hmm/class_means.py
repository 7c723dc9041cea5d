"""Gaussian class means under a Gaussian-process prior, and the LDA log-likelihoods they give.

A class is a step of a task, or the background of a task. Its features are Gaussian, x | c ~ N(m_c, S), with one within-class covariance S for all
classes. A priori the class means vary together as the names of the classes do:

    cov(m_c, m_d) = shared * k(c, d) + own * [c = d]         k: kernel between the names of classes

n_c labelled segments of class c have the mean y_c, which is m_c plus noise of variance noise / n_c + bias_c: consecutive segments repeat each other
(`observation_noise`), and weak labels are systematically off. Labels of a person have no bias; where a class has both kinds, y_c is their mean weighted by
the inverse variances. The posterior mean is Gaussian-process regression, for each feature dimension alike:

    M = C alpha,    alpha = (C + diag(noise / n + bias))^-1 Y,    C = shared * K + own * I

A step with many labelled segments keeps its own mean, a step with few borrows from steps with common words, and a step of a new task is predicted from
its words alone, shared * k(new, .) alpha.

Where features have a text side (image-text models), the name of a step says beforehand how it looks: a direction t_c of feature space with which frames of
the step have a large product. The prior mean is then not 0 but the mean whose LDA weights point along t_c, so many deviations from the background:

    mu_c = g S t_c,    g = separation / sqrt(t_c S t_c),        and the regression is of Y - mu:  M = mu + C alpha

LDA with these means:  log N(x; m_c, S) = x S^-1 m_c - m_c S^-1 m_c / 2 + a term that all classes share.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.floating]
_SMALLEST_DIVISOR = 1e-6  # of counts and variances that may be 0
_UNOBSERVED_VARIANCE = 1e9  # observation variance of a class without labelled segments
_FEWEST_SEGMENTS = 1e-3  # a class with less than this soft count is unobserved
# Independent segments that weigh as much as the prior; of 10, 20, 30 and 41 the best on development people of captaincook and Breakfast.
_ROWS_PER_OBSERVATION = 20.0
_RESIDUAL = 1e-10  # of conjugate gradients, relative to the right side
_MOST_ITERATIONS = 1000  # of conjugate gradients; 100 are usual

TEXT_SEPARATION = 2.0  # deviations between a step and background by its name; 2 and 3 score alike on rendered films of one seed, 1 and 1.5 lower


@dataclass(frozen=True)
class MeanPrior:
    """The prior of the class means and the noise of what is observed of them; variances in units of whitened features."""

    shared: float = 1.0  # variance explained by common words
    own: float = 0.2  # variance of a class beside its words
    noise: float = 200.0  # observation variance of one segment; replaced by `observation_noise` of the training features
    ridge: float = 0.3  # share of the within-class covariance that is replaced by a multiple of the identity


def observation_noise(autocorrelation_time: float) -> float:
    """The observation variance of one segment, when so many seconds in a row count as one independent observation.

    n segments of a class then have the effective sample size n / autocorrelation_time.
    """
    return _ROWS_PER_OBSERVATION * autocorrelation_time


@dataclass(frozen=True)
class ClassStatistics:
    """Soft counts (C,) and feature sums (C, d) of the segments labelled with each class, and the bias variance of their labels (C,).

    `hard_counts` and `hard_sums` are those of labels by a person, which have no bias.
    """

    counts: npt.NDArray[np.float64]
    sums: npt.NDArray[np.float64]
    bias: npt.NDArray[np.float64]
    hard_counts: npt.NDArray[np.float64] | None = None
    hard_sums: npt.NDArray[np.float64] | None = None

    def observations(self, noise: float) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Observed class means (C, d) and their variances (C,)."""
        means, variance = _observed(self.counts, self.sums, noise)
        variance = np.where(self.counts > _FEWEST_SEGMENTS, variance + self.bias, _UNOBSERVED_VARIANCE)
        if self.hard_counts is None or self.hard_sums is None:
            return means, variance
        hard_means, hard_variance = _observed(self.hard_counts, self.hard_sums, noise)
        hard_variance = np.where(self.hard_counts > _FEWEST_SEGMENTS, hard_variance, _UNOBSERVED_VARIANCE)
        together = 1 / (1 / variance + 1 / hard_variance)
        combined = (means / variance[:, None] + hard_means / hard_variance[:, None]) * together[:, None]
        return combined.astype(np.float64), together.astype(np.float64)

    def relative_to(self, means: Floats) -> "ClassStatistics":
        """The statistics of features less the prior mean (C, d) of their class."""
        hard = None
        if self.hard_counts is not None and self.hard_sums is not None:
            hard = self.hard_sums - self.hard_counts[:, None] * means
        return replace(self, sums=self.sums - self.counts[:, None] * means, hard_sums=hard)

    @property
    def all_counts(self) -> npt.NDArray[np.float64]:
        """(C,) of both kinds of labels."""
        return self.counts if self.hard_counts is None else self.counts + self.hard_counts

    @property
    def all_sums(self) -> npt.NDArray[np.float64]:
        """(C, d) of both kinds of labels."""
        return self.sums if self.hard_sums is None else self.sums + self.hard_sums


def _observed(counts: Floats, sums: Floats, noise: float) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Means (C, d) of labelled segments and their variances (C,) without bias."""
    means, variance = sums / np.maximum(counts, _SMALLEST_DIVISOR)[:, None], noise / np.maximum(counts, _FEWEST_SEGMENTS)
    return means.astype(np.float64), variance.astype(np.float64)


@dataclass(frozen=True)
class FactoredKernel:
    """The kernel S S^T of many classes, given by S (C, V), a scipy.sparse matrix; it is never written out.

    With D = own I + diag(variance), Woodbury's identity needs a solution in V dimensions instead of C:

        (shared S S^T + D)^-1 Y = D^-1 Y - D^-1 S (I / shared + S^T D^-1 S)^-1 S^T D^-1 Y
    """

    factor: Any

    def __len__(self) -> int:
        """C, the number of classes."""
        return int(self.factor.shape[0])

    def __matmul__(self, right: Floats) -> npt.NDArray[np.float64]:
        """(C, d) product with coefficients (C, d)."""
        return np.asarray(self.factor @ (self.factor.T @ right))

    def solve(self, shared: float, diagonal: Floats, right: Floats) -> npt.NDArray[np.float64]:
        """(shared S S^T + diag(diagonal))^-1 right, for diagonal (C,) and right (C, d)."""
        scaled = right / diagonal[:, None]
        weighted = self.factor.multiply(1 / diagonal[:, None]).tocsr()
        inner = (self.factor.T @ weighted).tocsr()
        inner.setdiag(inner.diagonal() + 1 / shared)
        return np.asarray(scaled - weighted @ conjugate_gradients(inner, self.factor.T @ scaled))


def conjugate_gradients(matrix: Any, right: Floats) -> npt.NDArray[np.float64]:
    """(V, d) solution of matrix @ x = right for each column of right, for a sparse, symmetric, positive definite matrix (V, V).

    Preconditioned by the diagonal. Its cost grows with the number of non-zero entries, where a direct solution takes V^3 operations.
    """
    scale = 1 / matrix.diagonal()[:, None]
    solution = np.zeros(right.shape)
    residual = np.array(right, dtype=np.float64)
    enough = _RESIDUAL * np.linalg.norm(residual, axis=0)
    direction = scale * residual
    energy = (residual * direction).sum(axis=0)
    for _ in range(_MOST_ITERATIONS):
        open_columns = np.linalg.norm(residual, axis=0) > enough
        if not open_columns.any():
            break
        product = matrix @ direction
        step = np.where(open_columns, energy / np.where(open_columns, (direction * product).sum(axis=0), 1), 0)
        solution += step * direction
        residual -= step * product
        before, energy = energy, (scale * residual**2).sum(axis=0)
        direction = scale * residual + np.where(open_columns, energy / np.where(open_columns, before, 1), 0) * direction
    return solution


Kernel = Floats | FactoredKernel


def text_means(directions: Floats, covariance: Floats) -> npt.NDArray[np.float64]:
    """(C, d) prior means of classes with text directions (C, d), for a within-class covariance (d, d); zero where there is no direction."""
    means = directions @ covariance
    variance = (means * directions).sum(axis=1, keepdims=True)
    scale = np.divide(TEXT_SEPARATION, np.sqrt(np.maximum(variance, 0)), out=np.zeros_like(variance), where=variance > 0)
    return np.asarray(scale * means, dtype=np.float64)


def mean_coefficients(statistics: ClassStatistics, kernel: Kernel, prior: MeanPrior) -> npt.NDArray[np.float64]:
    """(C, d) alpha of the regression above; kernel is (C, C)."""
    means, variance = statistics.observations(prior.noise)
    if isinstance(kernel, FactoredKernel):
        return kernel.solve(prior.shared, prior.own + variance, means)
    covariance = prior.shared * kernel + prior.own * np.eye(len(means))
    return np.linalg.solve(covariance + np.diag(variance), means).astype(np.float64, copy=False)


def observed_class_means(statistics: ClassStatistics, kernel: Kernel, prior: MeanPrior) -> npt.NDArray[np.float64]:
    """(C, d) posterior means C alpha of the regression above, without a product with C: they are Y - diag(noise / n + bias) alpha."""
    means, variance = statistics.observations(prior.noise)
    unobserved = variance >= _UNOBSERVED_VARIANCE  # where the difference of two large numbers would be rounded
    if unobserved.any():
        return class_means(mean_coefficients(statistics, kernel, prior), kernel, prior)
    return means - variance[:, None] * mean_coefficients(statistics, kernel, prior)


def class_means(coefficients: Floats, kernel: Kernel, prior: MeanPrior) -> npt.NDArray[np.float64]:
    """(C, d) posterior means of the trained classes, C alpha."""
    return prior.shared * (kernel @ coefficients) + prior.own * coefficients


def within_covariance(
    statistics: ClassStatistics, second_moment: Floats, n_rows: int, prior: MeanPrior
) -> npt.NDArray[np.float64]:
    """(d, d) covariance of segments around their class means, shrunk towards a multiple of the identity."""
    counts, sums = statistics.all_counts, statistics.all_sums
    between = (sums.T / np.maximum(counts, _SMALLEST_DIVISOR)) @ sums / n_rows
    within = second_moment - between
    d = len(within)
    mean_variance = max(float(np.trace(within)) / d, _SMALLEST_DIVISOR)  # positive, also where one class explains every segment
    return (1 - prior.ridge) * within + prior.ridge * mean_variance * np.eye(d)


@dataclass(frozen=True)
class LdaWeights:
    """x -> x W^T - b: the log-likelihood of each class up to a term that all classes share; W (C, d), b (C,)."""

    weights: npt.NDArray[np.float32]
    offsets: npt.NDArray[np.float32]


def lda_weights(means: Floats, covariance: Floats) -> LdaWeights:
    """The weights of classes with these means (C, d) and one covariance (d, d)."""
    return _from_solved(means, np.linalg.solve(covariance, means.T).T)


def lda_weights_from_cholesky(means: Floats, factor: tuple[Floats, bool]) -> LdaWeights:
    """The same from the Cholesky factor of the covariance, which several sets of means share."""
    from scipy.linalg import cho_solve  # imported here: it takes 0.3 s, and using a trained model does not need it

    return _from_solved(means, cho_solve(factor, means.T).T)


def _from_solved(means: Floats, weights: Floats) -> LdaWeights:
    return LdaWeights(weights.astype(np.float32), (0.5 * (weights * means).sum(axis=1)).astype(np.float32))


def log_likelihood_ratios(rows: Floats, lda: LdaWeights, classes: slice) -> npt.NDArray[np.float64]:
    """(T, K + 1) log-likelihood ratios of a task's classes to its background, the last of them, for rows (T, d)."""
    scores = (rows @ lda.weights[classes].T - lda.offsets[classes]).astype(np.float64)
    return scores - scores[:, -1:]
