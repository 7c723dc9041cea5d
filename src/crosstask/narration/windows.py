"""Mention probabilities -> windows: one interval of fixed length per step, such that some ordered choice of moments lies in all of them."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from crosstask.inference.once import decode_once
from crosstask.records import Interval, StepInterval

Matrix = npt.NDArray[np.float64]


def windows_around(
    moments: Sequence[float] | npt.NDArray[np.float64] | npt.NDArray[np.int64], n_segments: int, window_s: int
) -> tuple[StepInterval, ...]:
    """For step k the `window_s` whole seconds around moment k, shifted (or, in a shorter video, clipped) to lie inside the video.

    >>> [(w.interval.start_s, w.interval.end_s) for w in windows_around([1.5, 50.7, 99], n_segments=60, window_s=9)]
    [(0.0, 9.0), (46.0, 55.0), (51.0, 60.0)]
    """
    windows = []
    for step, moment in enumerate(moments):
        start = max(0, min(int(moment) - window_s // 2, n_segments - window_s))
        windows.append(StepInterval(step, Interval(float(start), float(min(start + window_s, n_segments)))))
    return tuple(windows)


def mention_mass(mentions: Matrix, start_s: Matrix, end_s: Matrix, n_segments: int, lag_s: float) -> Matrix:
    """Mass (T, K) of mentions (L, K), distributed evenly over the segments of each unit of speech, shifted later by `lag_s`."""
    mass = np.zeros((n_segments, mentions.shape[1]))
    first = np.clip((start_s + lag_s).astype(int), 0, n_segments - 1)
    last = np.clip(np.ceil(end_s + lag_s).astype(int), first + 1, n_segments)
    for a, b, weight in zip(first, last, mentions, strict=True):
        mass[a:b] += weight / (b - a)
    return mass


def expected_overlap(mass: Matrix, window_s: int) -> Matrix:
    """(T, K): the share of a step's mass inside a window of `window_s` seconds around segment t."""
    padded = np.pad(mass, ((window_s // 2 + 1, window_s - 1 - window_s // 2), (0, 0)))
    cumulative = padded.cumsum(axis=0)
    return np.maximum(cumulative[window_s:] - cumulative[:-window_s], 0.0) if len(cumulative) > window_s else mass


def ordered_windows(scores: Matrix, window_s: int) -> tuple[StepInterval, ...]:
    """One window per step, of highest total score (T, K), such that some ordered choice of moments lies in all of them.

    The centres need not be in order: two steps mentioned in the other order keep their windows as long as the windows overlap.
    So each step is decoded once at a moment that scores as the best centre within half a window, and that centre is taken.
    """
    half = window_s // 2
    n_segments, n_steps = scores.shape
    padded = np.pad(scores, ((half, half), (0, 0)), constant_values=-np.inf)
    best_nearby = np.lib.stride_tricks.sliding_window_view(padded, 2 * half + 1, axis=0).max(axis=-1)
    moments = decode_once(-best_nearby)
    centres = []
    for k in range(n_steps):
        low = max(0, int(moments[k]) - half)
        centres.append(low + int(scores[low : int(moments[k]) + half + 1, k].argmax()))
    return windows_around(centres, n_segments, window_s)
