"""Subtitle files (WebVTT, SRT, JSON) to narrations: words with times, without repeats."""

import codecs
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from crosstask.datasets.subtitles.json_cues import read_json
from crosstask.datasets.subtitles.language import language_in_name
from crosstask.datasets.subtitles.srt import read_srt
from crosstask.datasets.subtitles.webvtt import read_webvtt
from crosstask.records import InputError, Narration, at_line, folded_name
from crosstask.storage import raise_if_disk_failed, read_bytes

__all__ = ["READERS", "parse_narration", "read_narration"]

# File extension -> reader; files with other extensions are identified by their first characters.
READERS: Mapping[str, Callable[[Path, str], Narration]] = {
    ".vtt": read_webvtt,
    ".srt": read_srt,
    ".json": read_json,
    ".json3": read_json,
}
_MAX_BYTES = 200_000_000  # ours: far above the subtitles of any video


def read_narration(path: Path, video: str = "") -> Narration:
    """The narration of a subtitle file (WebVTT, SRT, json3, JSON cues) of a video of this name: `clip.it.vtt` of clip.it is not in Italian."""
    try:
        data = read_bytes(path, _MAX_BYTES)
    except OSError as problem:
        raise_if_disk_failed(problem)
        raise InputError(f"{path}: cannot be read ({problem.strerror}); expected a .vtt, .srt, .json or .json3 file") from problem
    return parse_narration(path, data, video)


def parse_narration(path: Path, data: bytes, video: str = "") -> Narration:
    """The narration in the bytes of a file of a video; `path` selects the reader and is named in errors."""
    text = _decode(path, data)
    if not text.strip():
        raise at_line(path, 1, "the file is empty; expected subtitles")
    reader = READERS.get(path.suffix.lower()) or _reader_by_content(text)
    narration = reader(path, text)
    if narration.language or folded_name(path.stem) == folded_name(video):
        return narration
    return replace(narration, language=language_in_name(path))


def _reader_by_content(text: str) -> Callable[[Path, str], Narration]:
    head = text.lstrip()
    if head.startswith("WEBVTT"):
        return read_webvtt
    return read_json if head[0] in "[{" else read_srt


def _decode(path: Path, data: bytes) -> str:
    """The text with Unix newlines; UTF-8, or UTF-16 if the file starts with its byte order mark."""
    utf16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    encoding = "UTF-16" if utf16 else "UTF-8"
    try:
        text = data.decode("utf-16" if utf16 else "utf-8-sig")
    except UnicodeDecodeError as problem:
        line = data.count(b"\n", 0, problem.start) + 1
        found = f"byte 0x{problem.object[problem.start]:02x}"
        raise at_line(path, line, f"{found} is not {encoding}; save the file as UTF-8") from problem
    if "\0" in text:
        raise at_line(path, text.count("\n", 0, text.index("\0")) + 1, "a zero byte; expected text")
    return text.replace("\r\n", "\n").replace("\r", "\n")
