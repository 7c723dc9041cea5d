"""Reader and writer of WebVTT, including YouTube's rolling captions with time stamps inside the lines.

A block that is neither a cue nor NOTE, STYLE or REGION is an error: skipping it would lose words.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from crosstask.datasets.subtitles.timeline import DisplayedCue, TimedWord, caption_words, narration_from_cues, untimed_words
from crosstask.datasets.subtitles.timestamps import STAMP, format_timestamp, parse_timing, time_problem, to_seconds
from crosstask.records import Cue, Narration, at_line
from crosstask.storage import write_text

_INLINE = re.compile(rf"<{STAMP}>")
_NOT_SPOKEN = re.compile(r"(NOTE|STYLE|REGION)(\s|$)")

Block = tuple[int, list[str]]  # number of the first line, lines


def read_webvtt(path: Path, text: str) -> Narration:
    """The narration of a WebVTT file."""
    lines = text.split("\n")
    if not lines or not re.match(r"WEBVTT(\s|$)", lines[0]):
        raise at_line(path, 1, f"found {_start_of_first_line(lines)!r}; expected 'WEBVTT', the first word of every WebVTT file")
    blocks = _blocks(lines)
    _, header = next(blocks)
    if any("-->" in line for line in header):
        raise at_line(path, 2, "a cue directly under 'WEBVTT'; expected an empty line between them")
    cues = [cue for block in blocks for cue in _cues(path, block)]
    return narration_from_cues(cues, _language(header))


def _start_of_first_line(lines: Sequence[str]) -> str:
    return lines[0][:40] if lines else ""


def _language(header: Sequence[str]) -> str | None:
    """The value of `Language: en` in the header."""
    for line in header:
        name, colon, value = line.partition(":")
        if colon and name.strip().lower() == "language" and value.strip():
            return value.strip()
    return None


def _blocks(lines: Sequence[str]) -> Iterator[Block]:
    """Groups of lines separated by empty lines; a line of spaces is text, as rolling captions use it."""
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
    """The cues of a block: none for a comment, several if the empty line between them is missing."""
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
        raise at_line(
            path, number, f"{timing[:60]!r} is not a timing line; expected a line such as 00:00:01.000 --> 00:00:04.500"
        )
    problem = time_problem(*times)
    if problem is not None:
        raise at_line(path, number, problem)
    return DisplayedCue(*times, tuple(_words(line) for line in payload))


def _words(line: str) -> tuple[TimedWord, ...]:
    """Words of a payload line; the word after `<00:00:01.200>` starts at that time."""
    if "<" not in line or not _INLINE.search(line):
        return untimed_words(line)
    pieces = _INLINE.split(line)  # text, h, m, s, fraction, text, ...
    words = list(untimed_words(pieces[0]))
    for at in range(1, len(pieces), 5):
        texts = caption_words(pieces[at + 4])
        start_s = to_seconds(pieces[at], *pieces[at + 1 : at + 4])
        words.extend(TimedWord(text, start_s if i == 0 else None) for i, text in enumerate(texts))
    return tuple(words)


def write_webvtt(path: Path, narration: Narration, note: str = "") -> Path:
    """`path`, now holding the narration with word times, so that reading it returns the same narration; `note` becomes a NOTE block."""
    header = "WEBVTT\n" + (f"Language: {narration.language}\n" if narration.language else "")
    blocks = [header, *([f"NOTE {note}\n"] if note else []), *(_cue_block(narration, cue) for cue in narration.cues)]
    return write_text(path, "\n".join(blocks))


def _cue_block(narration: Narration, cue: Cue) -> str:
    words = narration.words[cue.first_word : cue.last_word]
    line = " ".join(
        f"<{format_timestamp(word.start_s)}>{_escaped(word.text)}" if i else _escaped(word.text) for i, word in enumerate(words)
    )
    return f"{format_timestamp(cue.start_s)} --> {format_timestamp(cue.end_s)}\n{line}\n"


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
