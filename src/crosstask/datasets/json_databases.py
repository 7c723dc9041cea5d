"""The JSON layout `{"database": {VIDEO: {"duration", ..., "annotations": [{"segment": [start, end], NAME: step}]}}}`.

COIN, YouCook2 and ActivityNet share it, each with keys of its own.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from crosstask.datasets.named_steps import MAX_VIDEO_S, AnnotatedVideo
from crosstask.datasets.text_files import read_json
from crosstask.records import InputError, Interval, refuse_escaping_id


def first_entry(value: Any) -> Mapping[str, Any]:
    """The entry of the first video, whose keys identify the data set; empty for a value of another layout."""
    entries = value.get("database") if isinstance(value, dict) else None
    first = next(iter(entries.values()), None) if isinstance(entries, dict) else None
    return first if isinstance(first, dict) else {}


def read_database(path: Path, expected: str) -> dict[str, dict[str, Any]]:
    """Video id -> entry of a JSON file; ids are checked."""
    value = read_json(path, expected)
    database = value.get("database") if isinstance(value, dict) else None
    if not isinstance(database, dict) or not all(isinstance(entry, dict) for entry in database.values()):
        raise InputError(f"{path.name}: no database of videos; {expected}")
    return {refuse_escaping_id(video, "video"): entry for video, entry in database.items()}


def parse_named_intervals(path: Path, video: str, rows: Any, name: str, expected: str) -> tuple[tuple[str, Interval], ...]:
    """(step, interval) pairs of `[{"segment": [start, end], NAME: step}]`, sorted by time."""
    if not isinstance(rows, list):
        raise InputError(f"{path.name}, video {video}: found no list of annotations; {expected}")
    found = []
    for row in rows:
        try:
            start_s, end_s = (float(moment_s) for moment_s in row["segment"])
            step = str(row[name]).strip()
        except (KeyError, TypeError, ValueError, OverflowError):
            raise InputError(f"{path.name}, video {video}: found {str(row)[:60]!r}; {expected}") from None
        if not step or not (0 <= start_s < end_s < MAX_VIDEO_S):
            raise InputError(f"{path.name}, video {video}: '{step}' from {start_s} to {end_s}; expected a name, start before end")
        found.append((step, Interval(start_s, end_s)))
    return tuple(sorted(found, key=lambda pair: (pair[1], pair[0])))


def video_from_entry(
    task: str, video: str, entry: Mapping[str, Any], steps: tuple[tuple[str, Interval], ...], validation: bool
) -> AnnotatedVideo:
    """The annotated video of an entry, with its duration and URL where they are valid."""
    seconds = entry.get("duration")
    is_valid = isinstance(seconds, int | float) and not isinstance(seconds, bool) and 0 < seconds < MAX_VIDEO_S
    duration_s = float(seconds) if is_valid and seconds is not None else None
    url = next((entry[key] for key in ("video_url", "url") if isinstance(entry.get(key), str)), "")
    return AnnotatedVideo(task, video, steps, duration_s, url, validation)
