"""Chapters for players: WebVTT, and the text that goes under a YouTube video."""

from collections.abc import Sequence

from crosstask.export.parses import Parse
from crosstask.records import FoundStep

YOUTUBE_APART_S = 10  # YouTube silently ignores chapters that are shorter
YOUTUBE_LEAST = 3  # and a list of fewer than three


def webvtt(parse: Parse) -> str:
    """A WebVTT chapter track: one cue per shown step."""
    cues = [f"{_webvtt_clock(step.start_s)} --> {_webvtt_clock(step.end_s)}\n{_one_line(step.step)}\n" for step in parse.steps]
    return "\n".join(["WEBVTT\n", *cues])


def youtube(parse: Parse) -> tuple[str, list[str]]:
    """Chapter lines that YouTube accepts, and what was changed to get them: the first at 0:00, three or more, ten seconds apart."""
    remarks: list[str] = []
    kept: list[tuple[int, str]] = []
    for step in parse.steps:
        second = int(step.start_s)
        if second > parse.length_s - YOUTUBE_APART_S and kept:
            kept[-1] = (kept[-1][0], f"{kept[-1][1]}, {step.step}")
            remarks.append(f"'{step.step}' starts within {YOUTUBE_APART_S} s of the end: joined to the chapter before")
        elif kept and second - kept[-1][0] < YOUTUBE_APART_S:
            remarks.append(f"'{step.step}' starts within {YOUTUBE_APART_S} s of the chapter before: joined to it")
            kept[-1] = (kept[-1][0], f"{kept[-1][1]}, {step.step}")
        else:
            kept.append((second, step.step))
    if kept and kept[0][0] >= YOUTUBE_APART_S:
        kept.insert(0, (0, "Introduction"))
        remarks.append("'Introduction' added at 0:00, where YouTube wants the first chapter")
    elif kept and kept[0][0] > 0:
        remarks.append(f"'{kept[0][1]}' moved from {kept[0][0]} s to 0:00, where YouTube wants the first chapter")
        kept[0] = (0, kept[0][1])
    if len(kept) < YOUTUBE_LEAST:
        remarks.append(f"only {len(kept)} chapters are left; YouTube ignores fewer than {YOUTUBE_LEAST}")
    return "".join(f"{_youtube_clock(second, parse.length_s)} {_one_line(name)}\n" for second, name in kept), remarks


def _one_line(text: str) -> str:
    """Text that cannot break out of its line or start a cue."""
    return " ".join(text.replace("-->", "->").replace("&", "&amp;").replace("<", "&lt;").split()) or "-"


def _webvtt_clock(seconds: float) -> str:
    """`01:02:03.500`.

    >>> _webvtt_clock(3723.5)
    '01:02:03.500'
    """
    milliseconds = round(seconds * 1000)
    return f"{milliseconds // 3_600_000:02d}:{milliseconds // 60_000 % 60:02d}:{milliseconds // 1000 % 60:02d}.{milliseconds % 1000:03d}"


def _youtube_clock(second: int, length_s: float) -> str:
    """`1:02`, or `1:02:03` in videos of an hour or more."""
    if length_s >= 3600:
        return f"{second // 3600}:{second // 60 % 60:02d}:{second % 60:02d}"
    return f"{second // 60}:{second % 60:02d}"


def steps_text(steps: Sequence[FoundStep]) -> str:
    """The steps as a line for people."""
    return ", ".join(f"{step.step} at {int(step.second) // 60}:{int(step.second) % 60:02d}" for step in steps)
