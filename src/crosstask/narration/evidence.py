"""Similarities over a whole collection -> comparable evidence for steps, without annotation.

A raw cosine depends more on the cue ("the toast") and on the step name (short names match anything) than on how well the two fit. So:
centring (a cue is compared with the other steps of the task), and calibration (the scores of a step are standardised over all videos of
the task). Two more scores are estimated from the mentions found so far in all videos: prototypes, the mean vector of what is said when a
step is mentioned, and a prior of the position in the video at which it is mentioned.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float64]
_SMALLEST_DIVISOR = 1e-9  # avoids division by zero
_UNIFORM_SHARE = 0.1  # of one bin's uniform probability, added to every bin so that no position has probability zero


def standardise(scores: Sequence[npt.NDArray[np.floating]]) -> list[Matrix]:
    """Scores (L_v, K) of all videos with mean 0 and standard deviation 1 for each step over the collection.

    >>> standardise([np.array([[1.0, 5.0]]), np.array([[3.0, 5.0]])])
    [array([[-1.,  0.]]), array([[1., 0.]])]
    """
    pooled = np.concatenate(scores).astype(np.float64)
    mean, deviation = pooled.mean(axis=0), pooled.std(axis=0)
    scale = np.where(deviation > _SMALLEST_DIVISOR, deviation, np.inf)
    return [(score.astype(np.float64) - mean) / scale for score in scores]


def centre_over_steps(similarity: npt.NDArray[np.floating]) -> Matrix:
    """Similarity (L, K) minus its mean over the steps; unchanged for a single step."""
    exact: Matrix = np.asarray(similarity, dtype=np.float64)
    return exact - exact.mean(axis=1, keepdims=True) if exact.shape[1] > 1 else exact


def weighted_sum(parts: Sequence[Sequence[Matrix]], weights: Sequence[float]) -> list[Matrix]:
    """The standardised weighted sum (L_v, K) of several standardised scores of the same collection."""
    return standardise([sum(w * part for w, part in zip(weights, video, strict=True)) for video in zip(*parts, strict=True)])


def prototype_scores(vectors: Sequence[npt.NDArray[np.floating]], mentions: Sequence[Matrix]) -> list[Matrix]:
    """Scores (L_v, K) of each video's vectors (L_v, d) against the prototypes of the steps.

    The prototype of a step is the mean vector of its mentions in all videos, minus the mean over all speech and over the other steps.
    """
    pooled = np.concatenate(vectors).astype(np.float64)
    weights = np.concatenate(mentions)  # (L, K)
    mean = pooled.mean(axis=0)
    prototypes = weights.T @ pooled / (weights.sum(axis=0)[:, None] + _SMALLEST_DIVISOR) - mean  # (K, d)
    if len(prototypes) > 1:
        prototypes = prototypes - prototypes.mean(axis=0)
    prototypes /= np.maximum(np.linalg.norm(prototypes, axis=1, keepdims=True), _SMALLEST_DIVISOR)
    return [(video - mean) @ prototypes.T for video in vectors]


def position_scores(
    positions: Sequence[Matrix], mentions: Sequence[Matrix], n_bins: int = 20, smoothing: float = 2.0
) -> list[Matrix]:
    """log P(position | step) / P(position) of each unit of speech, (L_v, K); positions (L_v,) in [0, 1) of the video.

    Both densities are histograms over the collection, smoothed by a Gaussian of `smoothing` bins, with a tenth of the uniform
    distribution added so that no position is impossible.
    """
    bins = [np.clip((position * n_bins).astype(int), 0, n_bins - 1) for position in positions]
    step_counts = np.zeros((n_bins, mentions[0].shape[1]))
    speech_counts = np.zeros(n_bins)
    for bin_of_unit, weight in zip(bins, mentions, strict=True):
        np.add.at(step_counts, bin_of_unit, weight)
        np.add.at(speech_counts, bin_of_unit, 1.0)
    kernel = np.exp(-0.5 * ((np.arange(n_bins)[:, None] - np.arange(n_bins)) / smoothing) ** 2)
    step_density, speech_density = _density(kernel @ step_counts), _density(kernel @ speech_counts[:, None])
    log_ratio = np.log(step_density / speech_density)
    return [log_ratio[bin_of_unit] for bin_of_unit in bins]


def _density(histogram: Matrix) -> Matrix:
    """Columns normalised to one, plus a uniform share; never zero."""
    return histogram / np.maximum(histogram.sum(axis=0), _SMALLEST_DIVISOR) + _UNIFORM_SHARE / len(histogram)
