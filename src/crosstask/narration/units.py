"""Units of speech that are compared with a step: a sliding window over words, or cues with their neighbours."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crosstask.records import Cue, Narration, Word

_WORDS_PER_CUE = 8  # about one caption line; used for narrations without cues
Seconds = npt.NDArray[np.float64]


@dataclass(frozen=True)
class SpokenUnits:
    """L units of speech in order: the text to compare, and the time of its central word or cue, [start_s, end_s), each (L,)."""

    texts: tuple[str, ...]
    start_s: Seconds
    end_s: Seconds

    def __len__(self) -> int:
        """L."""
        return len(self.texts)


def word_windows(narration: Narration, words: int = 10) -> SpokenUnits:
    """One unit per word: the `words` words around it, and the time of the word itself.

    >>> from crosstask.records import Word
    >>> said = Narration(tuple(Word(w, i, i + 1) for i, w in enumerate("now pour the milk".split())))
    >>> word_windows(said, words=3).texts
    ('now pour', 'now pour the', 'pour the milk', 'the milk')
    """
    texts = [word.text for word in narration.words]
    before = (words - 1) // 2
    around = tuple(" ".join(texts[max(0, i - before) : i - before + words]) for i in range(len(texts)))
    return SpokenUnits(around, *_times(narration.words))


def cue_windows(narration: Narration, neighbours: int = 1) -> SpokenUnits:
    """One unit per cue: its text with that of `neighbours` cues on either side, and the time of the cue itself."""
    cues = narration.cues or _cues_of_words(narration)
    texts = [narration.text_of(cue) for cue in cues]
    around = tuple(" ".join(texts[max(0, i - neighbours) : i + neighbours + 1]) for i in range(len(texts)))
    return SpokenUnits(around, *_times(cues))


def _times(timed: Sequence[Word] | Sequence[Cue]) -> tuple[Seconds, Seconds]:
    """Start and end of words or cues, each (L,)."""
    start_s = np.array([item.start_s for item in timed], dtype=np.float64)
    return start_s, np.array([item.end_s for item in timed], dtype=np.float64)


def _cues_of_words(narration: Narration) -> tuple[Cue, ...]:
    """Cues of eight words each."""
    words = narration.words
    firsts = range(0, len(words), _WORDS_PER_CUE)
    bounds = [(first, min(first + _WORDS_PER_CUE, len(words))) for first in firsts]
    return tuple(Cue(a, b, words[a].start_s, words[b - 1].end_s) for a, b in bounds)
