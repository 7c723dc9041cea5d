"""WebVTT, including YouTube's rolling captions with times inside the lines.

Strict where silence would cost words: a block that is neither cue, NOTE, STYLE nor REGION is an error, not skipped.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from crosstask.datasets.subtitles.format_timestamp import STAMP, parse_timing, seconds_of
from crosstask.datasets.subtitles.timeline import DisplayedCue, TimedWord, narration_from_cues, spoken, untimed
from crosstask.records import Narration, at_line

_INLINE = re.compile(rf"<{STAMP}>")
_NOT_SPOKEN = re.compile(r"(NOTE|STYLE|REGION)(\s|$)")

Block = tuple[int, list[str]]  # number of its first line, and its lines


def read_webvtt(path: Path, text: str) -> Narration:
    """The narration of a WebVTT file."""
    lines = text.split("\n")
    if not lines or not re.match(r"WEBVTT(\s|$)", lines[0]):
        raise at_line(path, 1, f"found {_short(lines)!r}; expected 'WEBVTT', the first word of every WebVTT file")
    blocks = _blocks(lines)
    _, header = next(blocks)
    if any("-->" in line for line in header):
        raise at_line(path, 2, "a cue directly under 'WEBVTT'; expected an empty line between them")
    shown = [cue for block in blocks for cue in _cues(path, block)]
    return narration_from_cues(shown, _language(header))


def _short(lines: Sequence[str]) -> str:
    return lines[0][:40] if lines else ""


def _language(header: Sequence[str]) -> str | None:
    """The value of `Language: en` in the header."""
    for line in header:
        name, colon, value = line.partition(":")
        if colon and name.strip().lower() == "language" and value.strip():
            return value.strip()
    return None


def _blocks(lines: Sequence[str]) -> Iterator[Block]:
    """Runs of lines between empty ones (a line of blanks is text: rolling captions use it)."""
    block: list[str] = []
    first = 1
    for number, line in enumerate(lines, start=1):
        if line and not block:
            first = number
        if line:
            block.append(line)
        elif block:
            yield first, block
            block = []
    if block:
        yield first, block


def _cues(path: Path, block: Block) -> Iterator[DisplayedCue]:
    """The cues of a block: one, or several where the empty line between them was forgotten; none for a comment."""
    first, lines = block
    if _NOT_SPOKEN.match(lines[0]) or not any(line.strip() for line in lines):
        return
    timings = [i for i, line in enumerate(lines) if "-->" in line]
    if not timings or timings[0] > 1:
        at = first + (timings[0] - 1 if timings else 0)
        raise at_line(
            path, at, f"{lines[0][:40]!r} belongs to no cue; expected 'start --> end' above it, and no empty line inside a cue"
        )
    for i, after in zip(timings, [*timings[1:], len(lines)], strict=True):
        yield _cue(path, first + i, lines[i], lines[i + 1 : after])


def _cue(path: Path, number: int, timing: str, payload: Sequence[str]) -> DisplayedCue:
    times = parse_timing(timing)
    if times is None:
        raise at_line(path, number, f"{timing[:60]!r} is no timing; expected such as 00:00:01.000 --> 00:00:04.500")
    start_s, end_s = times
    if end_s < start_s:
        raise at_line(path, number, f"cue ends at {end_s:g} s, before it starts at {start_s:g} s")
    return DisplayedCue(start_s, end_s, tuple(_words(line) for line in payload))


def _words(line: str) -> tuple[TimedWord, ...]:
    """Words of a payload line; the first one after `<00:00:01.200>` starts then."""
    if "<" not in line or not _INLINE.search(line):
        return untimed(line)
    pieces = _INLINE.split(line)  # text, h, m, s, fraction, text, ...
    words = list(untimed(pieces[0]))
    for at in range(1, len(pieces), 5):
        texts = spoken(pieces[at + 4])
        moment = seconds_of(pieces[at], *pieces[at + 1 : at + 4])
        words.extend(TimedWord(text, moment if i == 0 else None) for i, text in enumerate(texts))
    return tuple(words)
