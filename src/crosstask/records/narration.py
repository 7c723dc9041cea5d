"""What is said in a video, and when."""

from dataclasses import dataclass, replace


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

    def until(self, end_s: float) -> "Narration":
        """The narration without the cues that begin at `end_s`, the end of the video, or later; without cues, without such words."""
        cues = tuple(cue for cue in self.cues if cue.start_s < end_s)
        n_words = max((cue.last_word for cue in cues), default=0) if self.cues else sum(w.start_s < end_s for w in self.words)
        return replace(self, words=self.words[:n_words], cues=cues)
