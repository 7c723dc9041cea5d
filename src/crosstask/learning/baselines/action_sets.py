"""Learning from unordered action sets (Richard, Kuehne and Gall, 2018): of a video only the set of its actions is known.

    p(x_t | c) ~ p(c | x_t) / p(c)                    a linear softmax classifier over all C classes, divided by the class prior
    p(l | c)   = Poisson(l; mean_c)                   mean lengths from sum_{c in A_v} mean_c = T_v, least squares, bounded below
    sequences of video v                              drawn from its set: each class at least once, more of them until they are expected to fill T_v

The classifier first learns from the set itself (every frame belongs to each class of its video alike); then the best segmentation of
every video over its drawn sequences gives frame labels, priors and lengths, and the classifier is trained on those; this is repeated a few times.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from crosstask.inference.compiled import compiled_with_reordered_sums
from crosstask.learning.zhukov19.adam import BETA1, BETA2, EPSILON
from crosstask.learning.zhukov19.component_model import log_softmax

Floats = npt.NDArray[np.floating]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class ActionSetSettings:
    """How to train."""

    classifier_rate: float = 1e-2  # step size of Adam, on standardised features
    weight_decay: float = 1e-4
    epochs: int = 4  # over the frames, each time the classifier learns
    batch: int = 512
    rounds: int = 2  # of segmentation and training
    sequences: int = 10  # drawn per video and round
    shortest: float = 3.0  # least mean length of a class, in segments


class ActionSetModel(NamedTuple):
    """Linear map (C, D + 1) whose scores are log p(c | x) - log p(c) up to a constant, mean lengths (C,), labels of every video."""

    weights: npt.NDArray[np.float64]
    mean_lengths: npt.NDArray[np.float64]
    labels: tuple[Ints, ...]


def learn_from_sets(
    videos: Sequence[Floats],
    sets: Sequence[Ints],
    n_classes: int,
    rng: np.random.Generator,
    settings: ActionSetSettings | None = None,
) -> ActionSetModel:
    """Learn from videos (T, D) and the classes that occur in each, in no order."""
    settings = settings or ActionSetSettings()
    rows = np.concatenate(videos).astype(np.float32, copy=False)
    centre, scale = rows.mean(axis=0), np.maximum(rows.std(axis=0), 1e-6)
    rows -= centre
    rows /= scale
    lengths = [len(video) for video in videos]
    of_video = np.repeat(np.arange(len(videos)), lengths)
    targets = _set_targets(sets, n_classes)  # (V, C)
    means = mean_lengths(sets, lengths, n_classes, settings.shortest)
    weights, prior = _fit(rows, of_video, targets, None, rng, settings), _prior(targets[of_video].sum(axis=0))
    labels: list[Ints] = []
    for _ in range(settings.rounds):
        scores = log_softmax(rows @ weights[:, :-1].T + weights[:, -1]) - np.log(prior)
        parts = np.split(scores, np.cumsum(lengths)[:-1])
        labels = [
            segment(s, draw_sequences(a, len(s), means, rng, settings.sequences), means) for s, a in zip(parts, sets, strict=True)
        ]
        flat = np.concatenate(labels)
        weights, prior = (
            _fit(rows, flat, np.eye(n_classes, dtype=np.float32), weights, rng, settings),
            _prior(np.bincount(flat, minlength=n_classes)),
        )
        means = _observed_lengths(labels, means, settings.shortest)
    W = weights[:, :-1] / scale
    b = weights[:, -1] - W @ centre - np.log(prior)
    return ActionSetModel(np.concatenate([W, b[:, None]], axis=1).astype(np.float64), means, tuple(labels))


def mean_lengths(sets: Sequence[Ints], lengths: Sequence[int], n_classes: int, shortest: float) -> npt.NDArray[np.float64]:
    """(C,): the mean lengths that best add up to the lengths of the videos, none below `shortest`.

    >>> mean_lengths([np.array([0, 1]), np.array([0])], [10, 4], 2, 1.0).round(1)
    array([4., 6.])
    """
    from scipy.optimize import lsq_linear

    occurs = np.zeros((len(sets), n_classes))
    for row, members in zip(occurs, sets, strict=True):
        row[members] = 1.0
    typical = float(np.mean([n / max(1, len(a)) for n, a in zip(lengths, sets, strict=True)]))
    # A weak ridge towards the typical length decides where the sets do not determine it.
    ridge = 1e-2 * np.eye(n_classes)
    A, b = np.concatenate([occurs, ridge]), np.concatenate([np.asarray(lengths, float), np.full(n_classes, 1e-2 * typical)])
    return np.asarray(lsq_linear(A, b, bounds=(shortest, np.inf)).x)


def draw_sequences(members: Ints, n_segments: int, means: Floats, rng: np.random.Generator, count: int) -> list[Ints]:
    """Orders of a set's classes: each class once, then more until the expected lengths fill the video."""
    drawn = []
    for _ in range(count):
        sequence = rng.permutation(members).tolist()
        while len(members) > 1 and means[sequence].sum() < n_segments and len(sequence) < min(n_segments, 3 * len(members)):
            others = [c for c in members.tolist() if c != sequence[-1]]
            sequence.append(others[int(rng.integers(len(others)))])
        drawn.append(np.array(sequence[:n_segments], dtype=np.int64))
    return drawn


def segment(scores: Floats, sequences: Sequence[Ints], means: Floats) -> Ints:
    """(T,): the classes of the best segmentation of scores (T, C) into intervals in the order of one of the sequences."""
    sums = np.concatenate([np.zeros((1, scores.shape[1])), np.cumsum(scores, axis=0, dtype=np.float64)])
    best, labels = -np.inf, np.empty(len(scores), np.int64)
    for sequence in sequences:
        value, ends = _best_intervals(sums, sequence, means)
        if value > best:
            best = value
            labels = np.repeat(sequence, np.diff(ends, prepend=0))
    return labels


@compiled_with_reordered_sums
def _best_intervals(sums: Floats, sequence: Ints, means: Floats) -> tuple[float, Ints]:
    """The best total score of intervals in this order, and where each interval ends (n,); lengths are Poisson, up to a constant of the sequence."""
    T, n = sums.shape[0] - 1, sequence.size
    log_factorial = np.zeros(T + 1)
    for l in range(1, T + 1):
        log_factorial[l] = log_factorial[l - 1] + np.log(l)
    before = np.full(
        (n, T + 1), -np.inf
    )  # for an interval that starts there: the best score of all intervals before it, less the sum up to there
    of_length = np.full((n, T + 1), -np.inf)
    value = np.full(T + 1, -np.inf)
    value[0] = 0.0
    for i in range(n):
        c = sequence[i]
        log_mean = np.log(means[c])
        longest = min(
            T, int(max(5 * means[c], 2 * T / n)) + 1
        )  # longer ones have a negligible Poisson probability; together the intervals can cover 2 T
        for l in range(1, longest + 1):
            of_length[i, l] = l * log_mean - means[c] - log_factorial[l]
        for start in range(i, T + 1):
            before[i, start] = value[start] - sums[start, c]
        value[:] = -np.inf
        last = T - (n - i - 1)  # each remaining interval needs a segment
        for l in range(1, longest + 1):
            _raise_to(value[i + l : last + 1], before[i, i : last + 1 - l], of_length[i, l])
        for end in range(i + 1, last + 1):
            value[end] += sums[end, c]
    return value[T], _ends_of_best(before, of_length)


@compiled_with_reordered_sums
def _raise_to(value: Floats, before: Floats, of_length: float) -> None:
    """Update the best scores with intervals of one length, for all ends at once; without a branch, so that it is vectorised."""
    for end in range(value.size):
        here, other = before[end] + of_length, value[end]
        value[end] = here if here > other else other


@compiled_with_reordered_sums
def _ends_of_best(before: Floats, of_length: Floats) -> Ints:
    """(n,): where the intervals of the best segmentation end, traced from the last to the first; of equal ones the longest."""
    n, T = before.shape[0], before.shape[1] - 1
    ends = np.empty(n, np.int64)
    end = T
    for i in range(n - 1, -1, -1):
        ends[i] = end
        best, came = -np.inf, 0
        for start in range(i, end):
            here = before[i, start] + of_length[i, end - start]
            if here > best:
                best, came = here, start
        end = came
    return ends


def _set_targets(sets: Sequence[Ints], n_classes: int) -> npt.NDArray[np.float32]:
    targets = np.zeros((len(sets), n_classes), np.float32)
    for row, members in zip(targets, sets, strict=True):
        row[members] = 1 / len(members)
    return targets


def _prior(counts: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """Class shares; a class never seen counts as one frame."""
    counts = np.maximum(counts, 1.0)
    return np.asarray(counts / counts.sum(), dtype=np.float64)


def _observed_lengths(labels: Sequence[Ints], before: Floats, shortest: float) -> npt.NDArray[np.float64]:
    """Mean length of the intervals of each class; as before where a class has none."""
    total, count = np.zeros(len(before)), np.zeros(len(before))
    for of_video in labels:
        starts = np.flatnonzero(np.diff(of_video, prepend=-1))
        np.add.at(total, of_video[starts], np.diff(starts, append=len(of_video)))
        np.add.at(count, of_video[starts], 1)
    return np.where(count > 0, np.maximum(total / np.maximum(count, 1), shortest), before)


def _fit(
    rows: Floats, kind: Ints, targets: Floats, start: Floats | None, rng: np.random.Generator, settings: ActionSetSettings
) -> npt.NDArray[np.float32]:
    """(C, D + 1): cross-entropy to the target distribution of each row's kind, by Adam over shuffled batches."""
    n_rows, n_dimensions = rows.shape
    w = np.zeros((targets.shape[1], n_dimensions + 1), np.float32) if start is None else start.astype(np.float32)
    m, v, gradient = np.zeros_like(w), np.zeros_like(w), np.empty_like(w)
    buffer = np.empty((settings.batch, n_dimensions), rows.dtype)
    n = 0
    for _ in range(settings.epochs):
        order = rng.permutation(n_rows)
        for first in range(0, n_rows, settings.batch):
            at = order[first : first + settings.batch]
            x = np.take(rows, at, axis=0, out=buffer[: len(at)], mode="clip")  # 'clip' writes into the buffer itself
            error = _softmax(x @ w[:, :-1].T + w[:, -1])  # (B, C)
            error -= targets[kind[at]]
            error /= len(at)
            np.matmul(error.T, x, out=gradient[:, :-1])
            error.sum(axis=0, out=gradient[:, -1])
            gradient += settings.weight_decay * w
            n += 1
            _adam_step(w, m, v, gradient, settings.classifier_rate, n)
    return np.asarray(w, np.float32)


def _softmax(f: Floats) -> Floats:
    """(B, C): probabilities over the classes of each row, written over f."""
    f -= f.max(axis=1, keepdims=True)
    f -= np.log(np.exp(f).sum(axis=1, keepdims=True))
    return np.exp(f, out=f)


def _adam_step(w: Floats, m: Floats, v: Floats, gradient: Floats, learning_rate: float, n: int) -> None:
    """Step n (counted from 1) of Adam on w with its moments m and v, all in place; the gradient is used up."""
    m *= BETA1
    m += (1 - BETA1) * gradient
    v *= BETA2
    np.square(gradient, out=gradient)
    gradient *= 1 - BETA2
    v += gradient
    np.divide(v, 1 - BETA2**n, out=gradient)
    np.sqrt(gradient, out=gradient)
    gradient += EPSILON
    step = m / (1 - BETA1**n)
    step *= learning_rate
    step /= gradient
    w -= step
