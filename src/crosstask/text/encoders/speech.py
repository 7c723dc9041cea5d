"""Speech as features: one row a second, the vector of what is being said."""

from collections.abc import Sequence

import numpy as np

from crosstask.records import Cue, Narration
from crosstask.text.encoders.contract import Encoder, Vectors

RECIPE = "speech"


def speech_features(narration: Narration, n_segments: int, encoder: Encoder) -> Vectors:
    """(T, d): for each second the vector of the cue spoken in it (the last one to begin), zeros where nobody speaks."""
    cues = [cue for cue in narration.cues if cue.last_word > cue.first_word]
    vectors = encoder.encode([narration.text_of(cue) for cue in cues])
    cue_of_second = last_cue_of_each_second(cues, n_segments)
    rows = np.zeros((n_segments, vectors.shape[1]), np.float32)
    spoken = cue_of_second >= 0
    rows[spoken] = vectors[cue_of_second[spoken]]
    return rows


def last_cue_of_each_second(cues: Sequence[Cue], n_segments: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """(T,): the last cue that touches each second, -1 for none.

    >>> last_cue_of_each_second([Cue(0, 1, 0.5, 2.0), Cue(1, 2, 1.5, 1.9)], 4).tolist()
    [0, 1, -1, -1]
    """
    last = np.full(n_segments, -1, dtype=np.int64)
    for i, cue in enumerate(cues):
        last[max(0, int(cue.start_s)) : max(0, int(np.ceil(cue.end_s)))] = i
    return last
