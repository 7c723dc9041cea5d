"""Chapters for players: WebVTT, and the description of a YouTube video."""

import re

from crosstask.export.localized_video import LocalizedVideo

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
YOUTUBE_SHORTEST_S = 10  # YouTube silently ignores a list with a shorter chapter
_PART_OF_A_SECOND_S = 1  # by which a video may be shorter than its number of segments
YOUTUBE_FEWEST = 3  # or with fewer chapters


def webvtt(video: LocalizedVideo) -> str:
    """A WebVTT chapter track: one cue per shown step."""
    cues = [f"{_webvtt_clock(step.start_s)} --> {_webvtt_clock(step.end_s)}\n{_webvtt_text(step.name)}\n" for step in video.steps]
    return "\n".join(["WEBVTT\n", *cues])


def youtube(video: LocalizedVideo) -> tuple[str, list[str]]:
    """Chapter lines that YouTube accepts (the first at 0:00, three or more, at least ten seconds each), and remarks on changes."""
    remarks: list[str] = []
    chapters: list[tuple[int, str]] = []  # start in seconds, name
    for step in video.steps:
        second = int(step.start_s)
        if second > video.length_s - _PART_OF_A_SECOND_S - YOUTUBE_SHORTEST_S and chapters:
            chapters[-1] = (chapters[-1][0], f"{chapters[-1][1]}, {step.name}")
            remarks.append(f"'{step.name}' starts within {YOUTUBE_SHORTEST_S} s of the end: merged with the chapter before")
        elif chapters and second - chapters[-1][0] < YOUTUBE_SHORTEST_S:
            remarks.append(f"'{step.name}' starts within {YOUTUBE_SHORTEST_S} s of the chapter before: merged with it")
            chapters[-1] = (chapters[-1][0], f"{chapters[-1][1]}, {step.name}")
        else:
            chapters.append((second, step.name))
    if chapters and chapters[0][0] >= YOUTUBE_SHORTEST_S:
        chapters.insert(0, (0, "Introduction"))
        remarks.append("'Introduction' added at 0:00, where YouTube requires the first chapter")
    elif chapters and chapters[0][0] > 0:
        remarks.append(f"'{chapters[0][1]}' moved from {chapters[0][0]} s to 0:00, where YouTube requires the first chapter")
        chapters[0] = (0, chapters[0][1])
    if len(chapters) < YOUTUBE_FEWEST:
        remarks.append(f"only {len(chapters)} chapters are left; YouTube ignores fewer than {YOUTUBE_FEWEST}")
    return "".join(f"{_youtube_clock(second, video.length_s)} {_one_line(name)}\n" for second, name in chapters), remarks


def _one_line(text: str) -> str:
    r"""Text on one line; '-' for empty text.

    >>> _one_line("salt &\n pepper")
    'salt & pepper'
    """
    return " ".join(_CONTROL.sub(" ", text).split()) or "-"


def _webvtt_text(text: str) -> str:
    """The text of a WebVTT cue on one line, with the characters escaped that WebVTT gives a meaning.

    >>> _webvtt_text("salt & <b> --->")
    'salt &amp; &lt;b> ---&gt;'
    """
    return _one_line(text.replace("&", "&amp;").replace("<", "&lt;").replace("-->", "--&gt;"))


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
