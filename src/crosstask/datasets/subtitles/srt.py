"""Reader of SubRip (SRT): numbered cues, time stamps with a decimal comma.

The text of real files contains empty lines, so a cue ends at the number above the next timing line. A malformed timing line is an error.
"""

from collections.abc import Sequence
from pathlib import Path

from crosstask.datasets.subtitles.timeline import DisplayedCue, narration_from_cues, untimed_words
from crosstask.datasets.subtitles.timestamps import parse_timing, resembles_timing, time_problem
from crosstask.records import Narration, at_line


def read_srt(path: Path, text: str) -> Narration:
    """The narration of a SubRip file."""
    lines = text.split("\n")
    timings = [i for i, line in enumerate(lines) if resembles_timing(line)]
    before = [i for i, line in enumerate(lines[: timings[0] if timings else len(lines)]) if line.strip()]
    if len(before) > 1 or (before and not _is_number(lines[before[0]])):
        raise at_line(path, before[0] + 1, f"found {lines[before[0]][:40]!r}; expected cue number 1 and its times")
    if before and not timings:
        raise at_line(
            path, before[0] + 1, "cue number without times; expected a line such as 00:00:01,000 --> 00:00:04,500 below it"
        )
    return narration_from_cues(
        [_cue(path, lines, i, after) for i, after in zip(timings, [*timings[1:], len(lines)], strict=True)]
    )


def _is_number(line: str) -> bool:
    return line.strip().isdecimal()


def _cue(path: Path, lines: Sequence[str], at: int, after: int) -> DisplayedCue:
    """The cue with its timing in line `at` and its text up to the next cue, which starts in line `after`."""
    times = parse_timing(lines[at])
    if times is None:
        raise at_line(
            path, at + 1, f"{lines[at][:60]!r} is not a timing line; expected a line such as 00:00:01,000 --> 00:00:04,500"
        )
    problem = time_problem(*times)
    if problem is not None:
        raise at_line(path, at + 1, problem)
    last = after
    while last > at + 1 and not lines[last - 1].strip():
        last -= 1
    numbered = last > at + 1 and _is_number(lines[last - 1]) and (last - 1 == at + 1 or not lines[last - 2].strip())
    if after < len(lines) and last > at + 1 and _is_number(lines[last - 1]):
        last -= 1
    elif numbered and last - 1 > at + 1:
        raise at_line(path, last, f"cue number {lines[last - 1].strip()} without times; the file seems to be cut off")
    return DisplayedCue(times[0], times[1], tuple(untimed_words(line) for line in lines[at + 1 : last]))
