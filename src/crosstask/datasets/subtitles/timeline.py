"""Displayed cues to spoken words with times.

Captions display words longer and more often than they are spoken: rolling captions keep the previous line on screen (each line appears
two or three times), and cues overlap their successors. Here every word is kept once, and a cue ends where the next one begins. Words
without a time share the time between their neighbours in proportion to their length.
"""

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from crosstask.records import Cue, Narration, Word

_TAG = re.compile(r"</?[A-Za-z][^<>]*>|</?>|\{\\[^{}]*\}")
_ROLLING_GAP_S = 0.5  # ours: a rolling cue starts at most this long after the end of the previous one
_MIN_ROLLING_SHARE = 0.4  # ours
_SOUND = re.compile(r"\[[^\[\]]{0,80}\]|[♪♫]|(?<!\S)>>+(?!\S)")


@dataclass(frozen=True)
class TimedWord:
    """A word as written, with its times where the file gives them."""

    text: str
    start_s: float | None = None
    end_s: float | None = None


@dataclass(frozen=True)
class DisplayedCue:
    """A cue as displayed: lines of words, from `start_s` to `end_s`."""

    start_s: float
    end_s: float
    lines: tuple[tuple[TimedWord, ...], ...]
    words: tuple[TimedWord, ...] = field(init=False)

    def __post_init__(self) -> None:
        """Concatenate the lines."""
        object.__setattr__(self, "words", tuple(word for line in self.lines for word in line))


def caption_words(text: str) -> list[str]:
    """The words of caption text, without markup, entities and descriptions of sounds.

    >>> caption_words("<v Ann>whisk<i> the</i> eggs &amp; [Music] {\\\\an8}milk")
    ['whisk', 'the', 'eggs', '&', 'milk']
    """
    plain = html.unescape(_TAG.sub("", text))
    return _SOUND.sub(" ", plain).split()


def untimed_words(text: str) -> tuple[TimedWord, ...]:
    """The words of a line without time stamps."""
    return tuple(TimedWord(word) for word in caption_words(text))


def narration_from_cues(cues: Iterable[DisplayedCue], language: str | None = None) -> Narration:
    """The narration of cues in any order: repeats of rolling captions removed, overlaps cut, every word timed."""
    ordered = sorted(cues, key=lambda cue: cue.start_s)
    new_words = _without_repeats(ordered) if _are_rolling(ordered) else [cue.words for cue in ordered]
    kept = [(cue, words) for cue, words in zip(ordered, new_words, strict=True) if words]
    intervals = _spoken_intervals([(cue.start_s, cue.end_s, len(words)) for cue, words in kept])
    words: list[Word] = []
    lines: list[Cue] = []
    for (start_s, end_s), (_, cue_words) in zip(intervals, kept, strict=True):
        lines.append(Cue(len(words), len(words) + len(cue_words), start_s, end_s))
        words.extend(_timed(cue_words, start_s, end_s))
    return Narration(tuple(words), tuple(lines), language)


def _texts(words: Sequence[TimedWord]) -> list[str]:
    return [word.text for word in words]


def _overlap(before: DisplayedCue, cue: DisplayedCue) -> int:
    """Number of words at the start of a cue that repeat the previous cue: whole lines, or all its words."""
    shown, now = _texts(before.words), _texts(cue.words)
    heads, total = {len(shown)}, 0
    for line in cue.lines:
        total += len(line)
        heads.add(total)
    return next((n for n in _repeated_lengths(shown, now) if n in heads), 0)


def _repeated_lengths(shown: Sequence[str], now: Sequence[str]) -> list[int]:
    """Every n > 0 for which the last n words of `shown` are the first n of `now`, largest first; in linear time (Knuth-Morris-Pratt).

    >>> _repeated_lengths("xaab", "aabaab"), _repeated_lengths("abab", "ababc"), _repeated_lengths("ab", "ba")
    ([3], [4, 2], [1])
    """
    border = [0] * len(now)  # border[i]: longest proper prefix of now[: i + 1] that is also its suffix
    length = 0
    for i in range(1, len(now)):
        while length and now[i] != now[length]:
            length = border[length - 1]
        length += now[i] == now[length]
        border[i] = length
    length = 0
    for word in shown[max(0, len(shown) - len(now)) :]:
        while length and (length == len(now) or word != now[length]):
            length = border[length - 1]
        length += bool(now) and word == now[length]
    found = []
    while length:
        found.append(length)
        length = border[length - 1]
    return found


def _are_rolling(cues: Sequence[DisplayedCue]) -> bool:
    """True if at least two in five cues start with words that the previous cue already displayed.

    A few repeats are not enough: a speaker may say the same line twice.
    """
    pairs = [(a, b) for a, b in pairwise(cues) if a.words and b.words]
    repeats = sum(_overlap(a, b) > 0 and b.start_s <= a.end_s + _ROLLING_GAP_S for a, b in pairs)
    return len(pairs) > 0 and repeats >= _MIN_ROLLING_SHARE * len(pairs)


def _without_repeats(cues: Sequence[DisplayedCue]) -> list[tuple[TimedWord, ...]]:
    """The words that each cue adds to the previous one."""
    added: list[tuple[TimedWord, ...]] = []
    before: DisplayedCue | None = None
    for cue in cues:
        touches = before is not None and cue.start_s <= before.end_s + _ROLLING_GAP_S
        added.append(cue.words[_overlap(before, cue) :] if before is not None and touches else cue.words)
        before = cue if cue.words else before
    return added


def _spoken_intervals(cues: Sequence[tuple[float, float, int]]) -> list[tuple[float, float]]:
    """(start, end) in which each cue is spoken: it ends where the next starts; cues that start together share the time by words."""
    intervals: list[tuple[float, float]] = []
    at = 0
    while at < len(cues):
        after = at
        while after < len(cues) and cues[after][0] == cues[at][0]:
            after += 1
        start_s = cues[at][0]
        end_s = max(end for _, end, _ in cues[at:after])
        end_s = min(end_s, cues[after][0]) if after < len(cues) else end_s
        total = sum(n for _, _, n in cues[at:after])
        edges, n_words = [start_s], 0
        for _, _, n in cues[at:after]:
            n_words += n
            edges.append(start_s + (end_s - start_s) * n_words / total)
        edges[-1] = end_s
        intervals.extend(pairwise(edges))
        at = after
    return intervals


def _timed(words: Sequence[TimedWord], start_s: float, end_s: float) -> list[Word]:
    """Words of one cue with non-decreasing times within [start_s, end_s]."""
    starts = _starts(words, start_s, end_s)
    ends = [*starts[1:], end_s]
    timed = []
    for word, start, end in zip(words, starts, ends, strict=True):
        own_end = end if word.end_s is None else min(max(word.end_s, start), end)
        timed.append(Word(word.text, start, own_end))
    return timed


def _starts(words: Sequence[TimedWord], start_s: float, end_s: float) -> list[float]:
    """The start of each word; consecutive words without one share the time up to the next known start."""
    known: list[tuple[int, float]] = [(0, start_s)]
    for i, word in enumerate(words):
        if word.start_s is not None:
            word_start_s = min(max(word.start_s, known[-1][1]), end_s)
            if i == 0:
                known.clear()
            known.append((i, word_start_s))
    known.append((len(words), end_s))
    starts: list[float] = []
    for (first, from_s), (last, until_s) in pairwise(known):
        weights = [len(word.text) + 1 for word in words[first:last]]
        total, passed = sum(weights), 0
        for weight in weights:
            starts.append(min(from_s + (until_s - from_s) * passed / total, until_s))
            passed += weight
    return starts
