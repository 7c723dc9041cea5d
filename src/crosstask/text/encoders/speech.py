"""Speech features: the sentence vectors of the narration, one row per second."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from crosstask.records import Cue, Narration
from crosstask.text.encoders.protocol import Encoder, Vectors


def speech_features(narration: Narration, n_segments: int, encoder: Encoder) -> Vectors:
    """(T, 2 d): for each second the vector of the current cue, and that of the nearest cue with both its neighbours.

    The first half is zero in silence; everything is zero for a narration without words.
    """
    cues = [cue for cue in narration.cues if cue.last_word > cue.first_word]
    lines = [narration.text_of(cue) for cue in cues]
    current = encoder.encode(lines)
    around = encoder.encode([" ".join(lines[max(0, i - 1) : i + 2]) for i in range(len(lines))])
    if not cues:
        return np.zeros((n_segments, 2 * current.shape[1]), np.float32)
    cue_of_second = cue_of_each_second(cues, n_segments)
    speaking = np.zeros((n_segments, 1), np.float32)
    for cue in cues:
        speaking[max(0, int(cue.start_s)) : max(0, int(np.ceil(cue.end_s)))] = 1
    return np.concatenate([current[cue_of_second] * speaking, around[cue_of_second]], axis=1)


def cue_of_each_second(cues: Sequence[Cue], n_segments: int) -> npt.NDArray[np.int64]:
    """(T,) index of the last cue that overlaps each second, or in silence of the nearest one.

    >>> cue_of_each_second([Cue(0, 1, 0.5, 2.0), Cue(1, 2, 1.5, 1.9), Cue(2, 3, 8.0, 9.0)], 8).tolist()
    [0, 1, 1, 1, 1, 2, 2, 2]
    """
    middles = np.array([(cue.start_s + cue.end_s) / 2 for cue in cues])
    order = np.argsort(middles, kind="stable")
    seconds = np.arange(n_segments) + 0.5
    right = np.clip(np.searchsorted(middles[order], seconds), 0, len(cues) - 1)
    left = np.maximum(right - 1, 0)
    nearer_left = np.abs(seconds - middles[order[left]]) <= np.abs(seconds - middles[order[right]])
    chosen: npt.NDArray[np.int64] = order[np.where(nearer_left, left, right)]
    for i, cue in enumerate(cues):
        chosen[max(0, int(cue.start_s)) : max(0, int(np.ceil(cue.end_s)))] = i
    return chosen
