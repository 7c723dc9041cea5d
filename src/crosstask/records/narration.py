"""What is said in a video, and when."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Word:
    """A spoken word and when it is said."""

    text: str
    start_s: float
    end_s: float


@dataclass(frozen=True)
class Cue:
    """A line of subtitles: words [first_word, last_word) of the narration."""

    first_word: int
    last_word: int
    start_s: float
    end_s: float


@dataclass(frozen=True)
class Narration:
    """The timed words of a video in spoken order, and how the subtitles grouped them."""

    words: tuple[Word, ...]
    cues: tuple[Cue, ...] = ()
    language: str | None = None

    def text_of(self, cue: Cue) -> str:
        """The words of a cue as one line."""
        return " ".join(word.text for word in self.words[cue.first_word : cue.last_word])
