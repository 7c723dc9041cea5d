"""Probable mentions -> windows: nine seconds each where the step is most expected, all of them passable in order."""

import numpy as np
import numpy.typing as npt

from crosstask.inference.once import decode_once
from crosstask.narration.plain import windows_around
from crosstask.records import StepInterval

Matrix = npt.NDArray[np.float64]


def seconds_of_mentions(mentions: Matrix, start_s: Matrix, end_s: Matrix, n_segments: int, lag_s: float) -> Matrix:
    """Mass (T, K) of mentions (L, K), spread evenly over the seconds of each piece of speech, `lag_s` later."""
    mass = np.zeros((n_segments, mentions.shape[1]))
    first = np.clip((start_s + lag_s).astype(int), 0, n_segments - 1)
    last = np.clip(np.ceil(end_s + lag_s).astype(int), first + 1, n_segments)
    for a, b, weight in zip(first, last, mentions, strict=True):
        mass[a:b] += weight / (b - a)
    return mass


def expected_overlap(mass: Matrix, window_s: int) -> Matrix:
    """(T, K): the share of a step's mass that a window of `window_s` seconds around t would hold."""
    padded = np.pad(mass, ((window_s // 2 + 1, window_s - 1 - window_s // 2), (0, 0)))
    running = padded.cumsum(axis=0)
    return np.maximum(running[window_s:] - running[:-window_s], 0.0) if len(running) > window_s else mass


def ordered_windows(worth: Matrix, window_s: int) -> tuple[StepInterval, ...]:
    """The windows, one a step, of greatest total worth (T, K) through which some ordered choice of moments passes.

    Their centres need not be in order: two steps told the other way round keep their windows as long as the windows overlap.
    So each step is placed *once* at a moment that is worth the best centre within reach, and that centre is taken.
    """
    reach = window_s // 2
    n_segments, n_steps = worth.shape
    padded = np.pad(worth, ((reach, reach), (0, 0)), constant_values=-np.inf)
    within_reach = np.lib.stride_tricks.sliding_window_view(padded, 2 * reach + 1, axis=0).max(axis=-1)
    moments = decode_once(-within_reach)
    centres = []
    for k in range(n_steps):
        low = max(0, int(moments[k]) - reach)
        centres.append(low + int(worth[low : int(moments[k]) + reach + 1, k].argmax()))
    return windows_around(centres, n_segments, window_s)
