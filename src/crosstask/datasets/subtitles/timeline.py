"""Displayed cues -> spoken words with times.

Captions show words longer and oftener than they are said: rolling captions keep the line before on the screen (each line
appears two or three times), and cues overlap their successors. Here every word is kept once, and a cue ends where the next
one begins. Words without a time of their own share the time between their neighbours, longer words taking longer.
"""

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from crosstask.records import Cue, Narration, Word

_TAG = re.compile(r"</?[A-Za-z][^<>]*>|</?>|\{\\[^{}]*\}")
_SOUND = re.compile(r"\[[^\[\]]{0,80}\]|[♪♫]|(?<!\S)>>+(?!\S)")


@dataclass(frozen=True)
class TimedWord:
    """A word as written, with its own times where the file gives them."""

    text: str
    start_s: float | None = None
    end_s: float | None = None


@dataclass(frozen=True)
class DisplayedCue:
    """A cue as the file shows it: its lines of words, between two moments."""

    start_s: float
    end_s: float
    lines: tuple[tuple[TimedWord, ...], ...]
    words: tuple[TimedWord, ...] = field(init=False)

    def __post_init__(self) -> None:
        """Join the lines once."""
        object.__setattr__(self, "words", tuple(word for line in self.lines for word in line))


def spoken(text: str) -> list[str]:
    """The words of a piece of caption text, without styling, entities or notes on sounds.

    >>> spoken("<v Ann>whisk<i> the</i> eggs &amp; [Music] {\\\\an8}milk")
    ['whisk', 'the', 'eggs', '&', 'milk']
    """
    plain = html.unescape(_TAG.sub("", text))
    return _SOUND.sub(" ", plain).split()


def untimed(text: str) -> tuple[TimedWord, ...]:
    """The words of a line that carries no times of its own."""
    return tuple(TimedWord(word) for word in spoken(text))


def narration_from_cues(cues: Iterable[DisplayedCue], language: str | None = None) -> Narration:
    """The narration of cues in any order: repeats of rolling captions dropped, overlaps cut, every word timed."""
    ordered = sorted(cues, key=lambda cue: cue.start_s)
    new_words = _without_repeats(ordered) if _rolls(ordered) else [cue.words for cue in ordered]
    kept = [(cue, words) for cue, words in zip(ordered, new_words, strict=True) if words]
    spans = _spans([(cue.start_s, cue.end_s, len(words)) for cue, words in kept])
    words: list[Word] = []
    lines: list[Cue] = []
    for (start_s, end_s), (_, cue_words) in zip(spans, kept, strict=True):
        lines.append(Cue(len(words), len(words) + len(cue_words), start_s, end_s))
        words.extend(_timed(cue_words, start_s, end_s))
    return Narration(tuple(words), tuple(lines), language)


def _texts(words: Sequence[TimedWord]) -> list[str]:
    return [word.text for word in words]


def _overlap(before: DisplayedCue, cue: DisplayedCue) -> int:
    """How many words at the head of a cue are still those of the cue before: whole lines, or all that was shown."""
    shown, now = _texts(before.words), _texts(cue.words)
    heads, total = {len(shown)}, 0
    for line in cue.lines:
        total += len(line)
        heads.add(total)
    for n in sorted(heads, reverse=True):
        if 0 < n <= min(len(shown), len(now)) and now[:n] == shown[-n:]:
            return n
    return 0


def _rolls(cues: Sequence[DisplayedCue]) -> bool:
    """Whether the captions roll: at least two in five cues begin with words that the cue before still showed.

    A speaker who says the same line twice is no rolling caption, so one repeat proves nothing in a longer file.
    """
    pairs = [(a, b) for a, b in pairwise(cues) if a.words and b.words]
    repeats = sum(_overlap(a, b) > 0 and b.start_s <= a.end_s + 0.5 for a, b in pairs)
    return len(pairs) > 0 and repeats >= 0.4 * len(pairs)


def _without_repeats(cues: Sequence[DisplayedCue]) -> list[tuple[TimedWord, ...]]:
    """The words each cue adds to the one before it."""
    added: list[tuple[TimedWord, ...]] = []
    before: DisplayedCue | None = None
    for cue in cues:
        touches = before is not None and cue.start_s <= before.end_s + 0.5
        added.append(cue.words[_overlap(before, cue) :] if before is not None and touches else cue.words)
        before = cue if cue.words else before
    return added


def _spans(cues: Sequence[tuple[float, float, int]]) -> list[tuple[float, float]]:
    """When each cue is spoken: it ends where the next begins, and cues that begin together share the time by words."""
    spans: list[tuple[float, float]] = []
    at = 0
    while at < len(cues):
        after = at
        while after < len(cues) and cues[after][0] == cues[at][0]:
            after += 1
        start_s = cues[at][0]
        end_s = max(end for _, end, _ in cues[at:after])
        end_s = min(end_s, cues[after][0]) if after < len(cues) else end_s
        total = sum(n for _, _, n in cues[at:after])
        edges, said = [start_s], 0
        for _, _, n in cues[at:after]:
            said += n
            edges.append(start_s + (end_s - start_s) * said / total)
        edges[-1] = end_s
        spans.extend(pairwise(edges))
        at = after
    return spans


def _timed(words: Sequence[TimedWord], start_s: float, end_s: float) -> list[Word]:
    """Words of one cue with times that never run backwards, within [start_s, end_s]."""
    starts = _starts(words, start_s, end_s)
    ends = [*starts[1:], end_s]
    timed = []
    for word, start, end in zip(words, starts, ends, strict=True):
        own_end = end if word.end_s is None else min(max(word.end_s, start), end)
        timed.append(Word(word.text, start, own_end))
    return timed


def _starts(words: Sequence[TimedWord], start_s: float, end_s: float) -> list[float]:
    """The start of each word; runs of words without one share the time up to the next known moment."""
    known: list[tuple[int, float]] = [(0, start_s)]
    for i, word in enumerate(words):
        if word.start_s is not None:
            moment = min(max(word.start_s, known[-1][1]), end_s)
            known = [*known, (i, moment)] if i else [(0, moment)]
    known.append((len(words), end_s))
    starts: list[float] = []
    for (first, from_s), (last, until_s) in pairwise(known):
        weights = [len(word.text) + 1 for word in words[first:last]]
        total, passed = sum(weights), 0
        for weight in weights:
            starts.append(min(from_s + (until_s - from_s) * passed / total, until_s))
            passed += weight
    return starts
