"""Similarities of a whole collection -> comparable evidence for steps, without labels.

A raw cosine says more of the cue ("the toast") and of the step name (short names match anything) than of their meeting. So:
contrast (a cue is judged against the other steps of the task), and calibration (a step's scores are standardised over all
videos of the task). Then the collection teaches itself: what is said where the steps seem to be mentioned in all videos gives
prototypes of each step's speech, and where in the video it is said gives a position.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float64]


def standardised(scores: Sequence[npt.NDArray[np.floating]]) -> list[Matrix]:
    """Scores (L_v, K) of all videos with mean 0 and deviation 1 for each step over the collection.

    >>> standardised([np.array([[1.0, 5.0]]), np.array([[3.0, 5.0]])])
    [array([[-1.,  0.]]), array([[1., 0.]])]
    """
    together = np.concatenate(scores).astype(np.float64)
    mean, deviation = together.mean(axis=0), together.std(axis=0)
    scale = np.where(deviation > 1e-9, deviation, np.inf)
    return [(score.astype(np.float64) - mean) / scale for score in scores]


def contrasted(similarity: npt.NDArray[np.floating]) -> Matrix:
    """Similarity (L, K) less its mean over the steps; that of a single step stays as it is."""
    exact: Matrix = np.asarray(similarity, dtype=np.float64)
    return exact - exact.mean(axis=1, keepdims=True) if exact.shape[1] > 1 else exact


def added(parts: Sequence[Sequence[Matrix]], weights: Sequence[float]) -> list[Matrix]:
    """The standardised weighted sum of several standardised scores of the same collection."""
    return standardised([sum(w * part for w, part in zip(weights, video, strict=True)) for video in zip(*parts, strict=True)])


def prototype_scores(vectors: Sequence[npt.NDArray[np.floating]], mentions: Sequence[Matrix]) -> list[Matrix]:
    """Scores (L_v, K) of each video's vectors (L_v, d) against what the whole collection says when it mentions a step.

    The prototype of a step is the mean vector of its mentions, less the mean over all speech and over the other steps.
    """
    everything = np.concatenate(vectors).astype(np.float64)
    weights = np.concatenate(mentions)  # (L, K)
    mean = everything.mean(axis=0)
    prototypes = weights.T @ everything / (weights.sum(axis=0)[:, None] + 1e-9) - mean  # (K, d)
    if len(prototypes) > 1:
        prototypes = prototypes - prototypes.mean(axis=0)
    prototypes /= np.maximum(np.linalg.norm(prototypes, axis=1, keepdims=True), 1e-9)
    return [(video - mean) @ prototypes.T for video in vectors]


def position_scores(
    positions: Sequence[Matrix], mentions: Sequence[Matrix], n_bins: int = 20, smoothing: float = 2.0
) -> list[Matrix]:
    """log P(position | step) / P(position) for each piece, (L_v, K); positions (L_v,) in [0, 1) of the video.

    Both densities are histograms over the collection, smoothed by a Gaussian of `smoothing` bins, with a tenth of a bin's worth
    of uniform added so that nothing is impossible.
    """
    bins = [np.clip((position * n_bins).astype(int), 0, n_bins - 1) for position in positions]
    of_step = np.zeros((n_bins, mentions[0].shape[1]))
    of_speech = np.zeros(n_bins)
    for where, weight in zip(bins, mentions, strict=True):
        np.add.at(of_step, where, weight)
        np.add.at(of_speech, where, 1.0)
    kernel = np.exp(-0.5 * ((np.arange(n_bins)[:, None] - np.arange(n_bins)) / smoothing) ** 2)
    step_density, speech_density = _density(kernel @ of_step), _density(kernel @ of_speech[:, None])
    prior = np.log(step_density / speech_density)
    return [prior[where] for where in bins]


def _density(histogram: Matrix) -> Matrix:
    """Columns that sum to one, never zero."""
    return histogram / np.maximum(histogram.sum(axis=0), 1e-9) + 0.1 / len(histogram)
