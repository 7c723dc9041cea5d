"""The classifier of Richard, Kuehne and Gall (2018), as published: action sets, one hidden layer, a binary output per class.

    h = max(0, V x + a)              256 rectified units
    p(c in set | x) = sigmoid(u_c h + s_c)
    loss = sum_c cross-entropy of [c in the set of the video], mean over the frames of a batch; plain gradient descent, two epochs
    prior(c) = frames of the videos whose set has c, as a share of the sum over classes

The background is a class that every video has. The published output layer has two units per class and a softmax over them; only their
difference matters, so it is held here as one unit with the difference as weights, which moves at twice the rate. The length model and the
sampled grammar of
the original serve its decoder; the paper decodes the classifier's scores log p(c | x) - log prior(c) like those of every other method.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.floating]
Ints = npt.NDArray[np.int64]
_SMALLEST_DEVIATION = 1e-6  # of a feature that does not vary


@dataclass(frozen=True)
class SetNetworkSettings:
    """How to train; the defaults are those of the published code."""

    hidden: int = 256
    classifier_rate: float = 0.1
    epochs: int = 2
    batch: int = 512

    def __post_init__(self) -> None:
        """Refuse settings without a meaning."""
        if self.hidden < 1 or self.epochs < 1 or self.batch < 1 or not self.classifier_rate > 0:
            raise ValueError("hidden units, epochs, batch and rate must be positive")


class SetNetwork(NamedTuple):
    """Weights for raw features (D,) -> (H,) -> (C,), biases last, and log prior (C,); the background is the last class."""

    into_hidden: npt.NDArray[np.float64]  # (H, D + 1)
    into_classes: npt.NDArray[np.float64]  # (C, H + 1)
    log_prior: npt.NDArray[np.float64]  # (C,)

    def scores(self, rows: Floats, classes: Ints) -> npt.NDArray[np.float64]:
        """(T, D) -> (T, len(classes)): log p(c in set | x) - log prior(c)."""
        hidden = np.maximum(np.asarray(rows, np.float64) @ self.into_hidden[:, :-1].T + self.into_hidden[:, -1], 0.0)
        logits = hidden @ self.into_classes[classes, :-1].T + self.into_classes[classes, -1]
        return np.asarray(-np.logaddexp(0.0, -logits) - self.log_prior[classes])


def train_set_network(
    videos: Sequence[Floats], sets: Sequence[Ints], n_classes: int, rng: np.random.Generator, settings: SetNetworkSettings
) -> SetNetwork:
    """The network trained on videos (T, D) and their sets of classes; features are standardised first, which the result undoes."""
    rows = np.concatenate(videos).astype(np.float32, copy=False)
    centre, scale = rows.mean(axis=0), np.maximum(rows.std(axis=0), _SMALLEST_DEVIATION)
    rows = (rows - centre) / scale
    of_video = np.repeat(np.arange(len(videos)), [len(video) for video in videos])
    in_set = set_matrix(sets, n_classes)
    first, second = initial_weights(rows.shape[1], settings.hidden, n_classes + 1, rng)
    for _ in range(settings.epochs):
        order = rng.permutation(len(rows))
        for start in range(0, len(rows), settings.batch):
            at = order[start : start + settings.batch]
            descend(first, second, rows[at], in_set[of_video[at]], settings.classifier_rate)
    W = first[:, :-1] / scale
    into_hidden = np.concatenate([W, (first[:, -1] - W @ centre)[:, None]], axis=1)
    return SetNetwork(into_hidden.astype(np.float64), second.astype(np.float64), log_prior(in_set, [len(v) for v in videos]))


def set_matrix(sets: Sequence[Ints], n_classes: int) -> npt.NDArray[np.float32]:
    """(V, C + 1): 1 where a class is in the set of a video; the last column is the background, which all videos have."""
    found = np.zeros((len(sets), n_classes + 1), np.float32)
    for row, members in zip(found, sets, strict=True):
        row[members] = 1.0
    found[:, -1] = 1.0
    return found


def log_prior(in_set: Floats, lengths: Sequence[int]) -> npt.NDArray[np.float64]:
    """(C,): log of the frames of videos with the class, as a share of the sum over classes; a class in no set counts one frame.

    >>> np.exp(log_prior(np.array([[1.0, 1.0], [0.0, 1.0]]), [30, 10])).round(3).tolist()
    [0.429, 0.571]
    """
    frames = np.maximum(np.asarray(lengths, np.float64) @ np.asarray(in_set, np.float64), 1.0)
    return np.asarray(np.log(frames / frames.sum()))


def initial_weights(
    n_dimensions: int, n_hidden: int, n_classes: int, rng: np.random.Generator
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """(H, D + 1) and (C, H + 1), biases last: uniform within 1 / sqrt(inputs), the output layer the difference of two such draws."""
    a, b = 1 / np.sqrt(n_dimensions), 1 / np.sqrt(n_hidden)
    first = rng.uniform(-a, a, (n_hidden, n_dimensions + 1)).astype(np.float32)
    second = rng.uniform(-b, b, (2, n_classes, n_hidden + 1)).astype(np.float32)
    return first, second[1] - second[0]


def descend(first: Floats, second: Floats, x: Floats, targets: Floats, rate: float) -> None:
    """One step of gradient descent on a batch x (B, D) with targets (B, C), in place."""
    hidden = np.maximum(x @ first[:, :-1].T + first[:, -1], 0.0)  # (B, H)
    logits = hidden @ second[:, :-1].T + second[:, -1]
    error = (1 / (1 + np.exp(-np.clip(logits, -50, 50))) - targets) / len(x)  # (B, C)
    back = (error @ second[:, :-1]) * (hidden > 0)  # (B, H)
    second[:, :-1] -= 2 * rate * (error.T @ hidden)  # both units of a class move
    second[:, -1] -= 2 * rate * error.sum(axis=0)
    first[:, :-1] -= rate * (back.T @ x)
    first[:, -1] -= rate * back.sum(axis=0)
