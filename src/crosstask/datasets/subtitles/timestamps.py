"""Time stamps of subtitle files: parsing and formatting."""

import re

from crosstask.records import MAX_VIDEO_S

STAMP = r"(?:(\d{1,6}):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})"
_TIMING = re.compile(rf"\s*{STAMP}\s*-->\s*{STAMP}(?:\s.*)?$")
# A malformed timing line: '00:01 -> 00:02', '00:00:01,000 -- 00:00:02,000'.
_MALFORMED_TIMING = re.compile(
    r"\s*+(\d[\d:.,]*+)\s*+[-=\u2013\u2014]++>?\s*+(\d[\d:.,]*+)"
)  # possessive: linear in the length of the line


def to_seconds(hours: str | None, minutes: str, seconds: str, fraction: str) -> float:
    """Seconds of the parts of a time stamp; the fraction is decimal, so '5' means half a second.

    >>> to_seconds("10", "00", "01", "5")
    36001.5
    """
    return int(hours or 0) * 3600 + int(minutes) * 60 + int(seconds) + int(fraction.ljust(3, "0")) / 1000


def parse_timing(line: str) -> tuple[float, float] | None:
    """(start, end) in seconds of a `start --> end` line, or None if it is not one.

    >>> parse_timing("00:01.500 --> 01:00:02,000 align:start")
    (1.5, 3602.0)
    >>> parse_timing("00:01 --> soon") is None
    True
    """
    found = _TIMING.match(line)
    if found is None:
        return None
    parts = found.groups()
    out_of_range = int(parts[1]) > 59 or int(parts[2]) > 59 or int(parts[5]) > 59 or int(parts[6]) > 59
    return None if out_of_range else (to_seconds(*parts[:4]), to_seconds(*parts[4:]))


def resembles_timing(line: str) -> bool:
    """True if a line is a timing line, well formed or not.

    >>> resembles_timing("00:00:01,0 -> 00:00:02,0"), resembles_timing("cook 3-4 minutes"), resembles_timing("10:30 - add milk")
    (True, False, False)
    """
    if "-->" in line:
        return True
    found = _MALFORMED_TIMING.match(line)
    return found is not None and all(":" in time[:-1] for time in found.groups())


def time_problem(start_s: float, end_s: float) -> str | None:
    """What is wrong with the times of a cue, or None.

    >>> time_problem(1.0, 0.5), time_problem(0.0, 4e9)
    ('cue ends at 0.5 s, before it starts at 1 s', 'cue ends at 4e+09 s, later than any video; expected at most 1000000 s')
    """
    if end_s < start_s:
        return f"cue ends at {end_s:g} s, before it starts at {start_s:g} s"
    if end_s > MAX_VIDEO_S:
        return f"cue ends at {end_s:g} s, later than any video; expected at most {MAX_VIDEO_S} s"
    return None


def format_timestamp(moment_s: float) -> str:
    """`HH:MM:SS.mmm` of a time in seconds.

    >>> format_timestamp(3725.5)
    '01:02:05.500'
    """
    milliseconds = round(moment_s * 1000)
    return f"{milliseconds // 3600000:02d}:{milliseconds // 60000 % 60:02d}:{milliseconds // 1000 % 60:02d}.{milliseconds % 1000:03d}"
