"""Class means against the conditional of a joint Gaussian, LDA against Gaussian densities, covariance against sums over rows."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import cho_factor
from scipy.sparse import csr_matrix

from crosstask.learning.hmm.class_means import (
    ClassStatistics,
    FactoredKernel,
    MeanPrior,
    class_means,
    conjugate_gradients,
    lda_weights,
    lda_weights_from_cholesky,
    log_likelihood_ratios,
    mean_coefficients,
    observation_noise,
    observed_class_means,
    within_covariance,
)
from learning.hmm.problems import random_kernel, random_statistics
from oracles import log_ratios_by_densities, means_by_conditioning, within_covariance_by_sums

seeds = st.integers(0, 10**6)


def posterior_means(statistics, kernel, prior):
    return class_means(mean_coefficients(statistics, kernel, prior), kernel, prior)


@settings(deadline=None, max_examples=40)
@given(seeds)
def test_means_equal_the_conditional_of_the_joint_gaussian(seed):
    rng = np.random.default_rng(seed)
    statistics, kernel = random_statistics(rng, 6), random_kernel(rng, 6)
    prior = MeanPrior(*rng.uniform(0.1, 2, 2), noise=rng.uniform(0.1, 50))
    expected = means_by_conditioning(statistics, kernel, prior)
    assert np.allclose(posterior_means(statistics, kernel, prior), expected, atol=1e-6)
    assert np.allclose(observed_class_means(statistics, kernel, prior), expected, atol=1e-6)
    none = replace(statistics, counts=statistics.counts * (np.arange(6) > 0))
    assert np.allclose(observed_class_means(none, kernel, prior), posterior_means(none, kernel, prior), atol=1e-9)


@settings(deadline=None, max_examples=20)
@given(seeds)
def test_means_of_new_classes_are_predicted_from_their_words(seed):
    rng = np.random.default_rng(seed)
    statistics, kernel, prior = random_statistics(rng, 6), random_kernel(rng, 6, n_new=2), MeanPrior()
    alpha = mean_coefficients(statistics, kernel[:6, :6], prior)
    expected = means_by_conditioning(statistics, kernel[:6, :6], prior, new_kernel=kernel[6:, :6])
    assert np.allclose(prior.shared * kernel[6:, :6] @ alpha, expected, atol=1e-6)


def test_without_common_words_each_mean_is_shrunk_on_its_own():
    """Variance 1 + 0.2 a priori; noise 10 / 5 + 0.8 = 2.8, so the mean 3 becomes 3 * 1.2 / (1.2 + 2.8) = 0.9."""
    statistics = ClassStatistics(np.array([5.0, 10.0]), np.array([[15.0], [40.0]]), np.array([0.8, 0.0]))
    means = posterior_means(statistics, np.eye(2), MeanPrior(shared=1.0, own=0.2, noise=10.0))
    assert means[:, 0].tolist() == pytest.approx([0.9, 4 * 1.2 / (1.2 + 1.0)])


def test_with_infinite_data_the_mean_is_that_of_the_segments():
    rng = np.random.default_rng(0)
    counts, wanted = np.full(4, 1e12), rng.normal(size=(4, 3))
    statistics = ClassStatistics(counts, counts[:, None] * wanted, np.zeros(4))
    assert np.allclose(posterior_means(statistics, random_kernel(rng, 4), MeanPrior()), wanted, atol=1e-5)


def test_a_class_without_segments_is_predicted_from_a_class_of_the_same_name():
    """Of the variance 1 + 0.25 of a known mean 5, the share 1 / 1.25 is common to the name: 4."""
    statistics = ClassStatistics(np.array([1e12, 0.0]), np.array([[5e12], [0.0]]), np.zeros(2))
    means = posterior_means(statistics, np.ones((2, 2)), MeanPrior(shared=1.0, own=0.25))
    assert means[:, 0].tolist() == pytest.approx([5.0, 4.0])


def test_noise_grows_with_the_autocorrelation_time():
    assert observation_noise(1.0) == 20.0 and observation_noise(5.0) == 100.0


@settings(deadline=None, max_examples=20)
@given(seeds)
def test_within_covariance_equals_sums_over_labelled_rows(seed):
    rng = np.random.default_rng(seed)
    rows, labels = rng.normal(size=(30, 3)), rng.dirichlet(np.full(4, 0.3), size=30)
    statistics = ClassStatistics(labels.sum(axis=0), labels.T @ rows, np.zeros(4))
    found = within_covariance(statistics, rows.T @ rows / 30, 30, MeanPrior(ridge=0.3))
    assert np.allclose(found, within_covariance_by_sums(rows, labels, ridge=0.3))


def test_within_covariance_is_positive_where_the_classes_explain_every_segment():
    rows = np.array([[1.0, 2.0], [1.0, 2.0]])
    statistics = ClassStatistics(np.array([2.0]), rows.sum(axis=0)[None], np.zeros(1))
    found = within_covariance(statistics, rows.T @ rows / 2, 2, MeanPrior(ridge=0.3))
    assert np.allclose(found, 0.3 * 1e-6 * np.eye(2)) and np.linalg.eigvalsh(found).min() > 0


@settings(deadline=None, max_examples=20)
@given(seeds)
def test_lda_gives_differences_of_gaussian_log_densities(seed):
    rng = np.random.default_rng(seed)
    means, root, rows = rng.normal(size=(7, 3)), rng.normal(size=(3, 3)), rng.normal(size=(5, 3))
    covariance = root @ root.T + 0.5 * np.eye(3)
    expected = log_ratios_by_densities(rows, means[2:5], covariance)
    for lda in (lda_weights(means, covariance), lda_weights_from_cholesky(means, cho_factor(covariance))):
        assert lda.weights.dtype == lda.offsets.dtype == np.float32
        assert np.allclose(log_likelihood_ratios(rows, lda, slice(2, 5)), expected, rtol=1e-4, atol=1e-4)


def test_a_factored_kernel_gives_the_same_means():
    rng = np.random.default_rng(5)
    factor = rng.random((7, 3)) * (rng.random((7, 3)) < 0.6)
    statistics, prior = random_statistics(rng, 7), MeanPrior(noise=3.0)
    expected = posterior_means(statistics, factor @ factor.T, prior)
    assert np.allclose(posterior_means(statistics, FactoredKernel(csr_matrix(factor)), prior), expected, atol=1e-8)


def test_conjugate_gradients_solve_as_a_direct_solution_does():
    rng = np.random.default_rng(6)
    factor = (rng.random((40, 25)) < 0.2) * rng.random((40, 25))
    matrix = factor.T @ (factor / rng.uniform(1e-3, 1e3, 40)[:, None]) + np.eye(25)
    right = np.c_[rng.normal(size=(25, 3)), np.zeros(25)]
    found = conjugate_gradients(csr_matrix(matrix), right)
    assert np.allclose(found, np.linalg.solve(matrix, right), rtol=1e-8, atol=1e-10)
    assert (found[:, 3] == 0).all()
