"""Named random streams: every part of a synthetic corpus has its own generator, so adding a video changes no other video."""

import hashlib

import numpy as np

# The labels below are hashed into the seed of a stream. They are fixed for good: another spelling would change every generated corpus
# and make the stored results on synthetic data impossible to reproduce.
WORD_STREAM = "measured word"
APPEARANCE_STREAM = "measured look"
PROJECTION_STREAM = "measured camera"
TIMING_STREAM = "habits"
VIDEO_STREAM = "video"
FEATURE_STREAM = "rows"
NARRATION_STREAM = "speech"
PERMUTATION_STREAM = "permuted names"


def generator(seed: int, *names: str | int) -> np.random.Generator:
    """A random generator for one named part; the same on every machine and under any PYTHONHASHSEED.

    >>> first, again = generator(7, "video", "a"), generator(7, "video", "a")
    >>> first.random() == again.random()
    True
    """
    text = "\0".join(str(name) for name in names)
    return np.random.default_rng([seed, int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")])
