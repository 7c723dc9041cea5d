"""Time stamps of subtitles: text <-> seconds."""

import re

STAMP = r"(?:(\d{1,6}):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})"
_TIMING = re.compile(rf"\s*{STAMP}\s*-->\s*{STAMP}(?:\s.*)?$")
# What a person meant as a timing line, however it is spelt: '00:01 -> 00:02', '00:00:01,000 -- 00:00:02,000'.
_ATTEMPT = re.compile(r"\s*\d[\d:.,]*:[\d:.,]+\s*[-=\u2013\u2014]+>?")


def seconds_of(hours: str | None, minutes: str, seconds: str, fraction: str) -> float:
    """Seconds of the parts of a stamp; a short fraction is a decimal one.

    >>> seconds_of("10", "00", "01", "5")
    36001.5
    """
    return int(hours or 0) * 3600 + int(minutes) * 60 + int(seconds) + int(fraction.ljust(3, "0")) / 1000


def parse_timing(line: str) -> tuple[float, float] | None:
    """(start, end) in seconds of a `start --> end` line, or nothing when it is not one.

    >>> parse_timing("00:01.500 --> 01:00:02,000 align:start")
    (1.5, 3602.0)
    >>> parse_timing("00:01 --> soon") is None
    True
    """
    found = _TIMING.match(line)
    if found is None:
        return None
    parts = found.groups()
    sixty = int(parts[1]) > 59 or int(parts[2]) > 59 or int(parts[5]) > 59 or int(parts[6]) > 59
    return None if sixty else (seconds_of(*parts[:4]), seconds_of(*parts[4:]))


def looks_like_timing(line: str) -> bool:
    """Whether a line was meant as a timing line, well formed or not.

    >>> looks_like_timing("00:00:01,0 -> 00:00:02,0"), looks_like_timing("cook 3-4 minutes")
    (True, False)
    """
    return "-->" in line or _ATTEMPT.match(line) is not None
