"""Reader of JSON subtitles: YouTube's json3, plain cues, and the output of speech recognisers.

- json3: `{"events": [{"tStartMs", "dDurationMs", "segs": [{"utf8", "tOffsetMs"}]}]}`
- cues: `[{"start", "end" or "duration", "text"}]`, alone or under "segments" or "cues", each perhaps with
  `"words": [{"word", "start", "end"}]`
- columns: `{"start": [..], "end": [..], "text": [..]}`
"""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from crosstask.datasets.subtitles.timeline import DisplayedCue, TimedWord, caption_words, narration_from_cues, untimed_words
from crosstask.datasets.subtitles.timestamps import time_problem
from crosstask.records import InputError, Narration, at_line

EXPECTED = 'expected [{"start": 0.0, "end": 2.5, "text": ".."}] or YouTube\'s json3'
_MAX_TIME_S = 1e7  # ours: a third of a year; larger numbers are errors


def read_json(path: Path, text: str) -> Narration:
    """The narration of a JSON file in one of the three layouts."""
    try:
        data = json.loads(text)
    except json.JSONDecodeError as problem:
        raise at_line(path, problem.lineno, f"not valid JSON ({problem.msg}); {EXPECTED}") from problem
    except (RecursionError, ValueError) as problem:
        raise at_line(path, 1, f"JSON that cannot be read; {EXPECTED}") from problem
    language = data.get("language") if isinstance(data, dict) and isinstance(data.get("language"), str) else None
    return narration_from_cues(_cues(path, data), language)


def _cues(path: Path, data: Any) -> list[DisplayedCue]:
    if isinstance(data, dict) and isinstance(data.get("events"), list):
        return [cue for i, event in enumerate(data["events"], 1) if (cue := _event(_Location(path, "event", i), event))]
    if isinstance(data, dict):
        data = _columns(path, data) if isinstance(data.get("start"), list) else data.get("segments", data.get("cues"))
    if not isinstance(data, list):
        raise at_line(path, 1, f"JSON without cues; {EXPECTED}")
    return [_plain_cue(_Location(path, "cue", i), cue) for i, cue in enumerate(data, 1)]


def _columns(path: Path, data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Cues from three lists of equal length."""
    columns = [data.get(name) for name in ("start", "end", "text")]
    if not all(isinstance(column, list) and len(column) == len(data["start"]) for column in columns):
        raise at_line(path, 1, "'start', 'end' and 'text' are not lists of equal length; " + EXPECTED)
    starts, ends, texts = columns
    return [{"start": a, "end": b, "text": c} for a, b, c in zip(starts or (), ends or (), texts or (), strict=True)]


class _Location:
    """An item of the file, for error messages; JSON items are numbered because their lines are not known."""

    def __init__(self, path: Path, kind: str, number: int) -> None:
        self.name = f"{'/'.join(path.parts[-2:])}, {kind} {number}"

    def problem(self, message: str) -> InputError:
        return InputError(f"{self.name}: {message}; {EXPECTED}")

    def number(self, item: Mapping[str, Any], name: str) -> float:
        value = item.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float) or value in (math.inf, -math.inf) or value != value:
            raise self.problem(f"{name!r} is {str(value)[:40]!r}, not a number")
        if not 0 <= value <= _MAX_TIME_S * 1000:  # compared before conversion: an integer may be too large for a float
            raise self.problem(f"{name!r} is {str(value)[:40]}, not a time within a video")
        return float(value)

    def check_times(self, start_s: float, end_s: float) -> None:
        problem = time_problem(start_s, end_s)
        if problem is not None:
            raise self.problem(problem.removeprefix("cue "))

    def text(self, item: Mapping[str, Any], name: str) -> str:
        value = item.get(name)
        if not isinstance(value, str):
            raise self.problem(f"{name!r} is {str(value)[:40]!r}, not text")
        return value

    def item(self, value: Any) -> Mapping[str, Any]:
        if not isinstance(value, dict):
            raise self.problem(f"found {str(value)[:40]!r}")
        return value


def _plain_cue(location: _Location, value: Any) -> DisplayedCue:
    cue = location.item(value)
    start_s = location.number(cue, "start")
    end_s = location.number(cue, "end") if "end" in cue else start_s + location.number(cue, "duration")
    location.check_times(start_s, end_s)
    if isinstance(cue.get("words"), list) and cue["words"]:
        return DisplayedCue(start_s, end_s, (tuple(w for word in cue["words"] for w in _recognised(location, word)),))
    return DisplayedCue(start_s, end_s, tuple(untimed_words(line) for line in location.text(cue, "text").splitlines()))


def _recognised(location: _Location, value: Any) -> list[TimedWord]:
    """The words of one entry of a recogniser; without times if the entry has none or holds several words."""
    word = location.item(value)
    texts = caption_words(location.text(word, "word" if "word" in word else "text"))
    if "start" not in word or "end" not in word or len(texts) != 1:
        return [TimedWord(text) for text in texts]
    return [TimedWord(texts[0], location.number(word, "start"), location.number(word, "end"))]


def _event(location: _Location, value: Any) -> DisplayedCue | None:
    """The cue of a json3 event, or None for an event that only opens a window or breaks a line."""
    event = location.item(value)
    if not isinstance(event.get("segs"), list):
        return None
    start_s = location.number(event, "tStartMs") / 1000
    length_s = location.number(event, "dDurationMs") / 1000 if "dDurationMs" in event else 0.0
    words: list[TimedWord] = []
    for value in event["segs"]:
        segment = location.item(value)
        word_start_s = start_s + location.number(segment, "tOffsetMs") / 1000 if "tOffsetMs" in segment else None
        texts = caption_words(location.text(segment, "utf8")) if "utf8" in segment else []
        words.extend(TimedWord(text, word_start_s if i == 0 else None) for i, text in enumerate(texts))
    location.check_times(start_s, start_s + length_s)
    return DisplayedCue(start_s, start_s + length_s, (tuple(words),)) if words else None
