"""Label files of other programs, read into named intervals: CSV, WebVTT chapters, ActivityNet's and Label Studio's JSON, as `export` writes them.

Which steps and videos the names mean is decided in `importing.py`. A file that is broken, empty, of another kind or too large is refused with
its line or path.
"""

import csv
import html
import io
import json
import logging
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from crosstask import storage
from crosstask.datasets.subtitles.timestamps import parse_timing
from crosstask.records import MAX_VIDEO_S, InputError, Interval, Range, at_line

log = logging.getLogger(__name__)
MAX_BYTES = 2**28  # ours: an export of every CrossTask video is below 20 MB
EXPECTED = "expected CSV, WebVTT chapters, ActivityNet's or Label Studio's JSON, as `export` writes them"
_TIMES = ("moment_s", "start_s", "end_s")
_SHOWN, _NOT_SHOWN = ("", "yes", "true", "1"), ("no", "false", "0")
_SEGMENT_S = 1.0  # a moment is the start of a segment
_USUAL_FPS = 25.0  # frames a second, where a Label Studio file does not state them
_FRAME_RATES = Range(0.1, 1000)
_SAME_RATE = 0.01  # share by which a rate that was typed may differ from that of the file
_MARKUP = re.compile(r"<[^<>]*>")  # without '<' inside, so that many of them are read in linear time


@dataclass(frozen=True)
class NamedLabel:
    """One statement of a file: an interval, a moment, or that the step is not shown; `task` is an id or title, empty where the file has none.

    A moment beside an interval is the machine's, as `export` writes it, unless somebody changed it.
    """

    where: str  # line or path in the file, for messages
    video: str
    step: str
    task: str = ""
    interval: Interval | None = None
    moment_s: float | None = None
    by_person: bool = False  # True: the file says that a person confirmed or corrected it
    says_shown: bool = False  # True: the file can tell steps that are not shown from others, and says that this one is shown


def read_label_file(path: Path, frames_per_second: float | None = None) -> list[NamedLabel]:
    """The labels in a file, by its ending."""
    if path.is_dir():
        raise InputError(f"{path}: a folder; {EXPECTED}, one file at a time")
    text = _text_of(path)
    if not text.strip():
        raise InputError(f"{path.name}: empty; {EXPECTED}")
    kind = path.suffix.lower()
    if kind == ".csv":
        return list(_read_csv(path, text))
    if kind == ".vtt":
        return list(_read_webvtt(path, text))
    if kind == ".json":
        return list(_read_json(path, text, frames_per_second))
    raise InputError(f"{path.name}: ending '{path.suffix}' is unknown; {EXPECTED}")


def _text_of(path: Path) -> str:
    try:
        return storage.read_text(path, max_bytes=MAX_BYTES)
    except UnicodeDecodeError:
        raise InputError(f"{path.name}: not UTF-8 text; {EXPECTED}") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None


def _read_csv(path: Path, text: str) -> Iterator[NamedLabel]:
    """Rows with the columns video, step and start_s, end_s or moment_s; task, shown and by are optional."""
    try:
        rows = list(csv.reader(io.StringIO(text, newline="")))  # splitlines() would cut cells at other separators
    except csv.Error as error:
        raise InputError(f"{path.name}: {error}; expected comma-separated lines") from None
    header = [name.strip().lower() for name in rows[0]]
    if not {"video", "step"} <= set(header) or not ({"start_s", "end_s"} <= set(header) or "moment_s" in header):
        raise at_line(
            path, 1, f"found {','.join(rows[0])[:80]!r}; expected a header with video, step, and start_s and end_s or moment_s"
        )
    if twice := [name for name in ("task", "video", "step", "shown", "by", *_TIMES) if header.count(name) > 1]:
        raise at_line(path, 1, f"two columns '{twice[0]}'; expected one")
    for number, row in enumerate(rows[1:], start=2):
        if not any(cell.strip() for cell in row):
            continue
        if len(row) != len(header):
            raise at_line(path, number, f"{len(row)} cells; expected {len(header)} as in the header")
        yield _csv_label(path, number, dict(zip(header, (cell.strip() for cell in row), strict=True)))


def _csv_label(path: Path, number: int, cells: Mapping[str, str]) -> NamedLabel:
    times: dict[str, float | None] = {}
    for name in _TIMES:
        try:
            times[name] = float(cells[name]) if cells.get(name) else None
        except ValueError:
            raise at_line(path, number, f"{name} is {cells[name][:40]!r}; expected seconds, e.g. 12.5") from None
    where = f"line {number}"
    label = NamedLabel(where, _unquoted(cells["video"]), _unquoted(cells["step"]), _unquoted(cells.get("task", "")))
    label = replace(label, by_person=cells.get("by") == "person")
    shown = cells.get("shown", "").lower()
    if shown not in _SHOWN + _NOT_SHOWN:
        raise at_line(path, number, f"shown is {shown[:40]!r}; expected yes or no")
    if shown in _NOT_SHOWN:
        return label
    label = replace(label, says_shown=shown != "")
    moment_s, start_s, end_s = (times[name] for name in _TIMES)
    if (start_s is None) != (end_s is None):
        raise at_line(path, number, "one of start_s and end_s; expected both, or moment_s alone")
    if start_s is not None:
        interval = _interval(path, where, start_s, end_s)
        if moment_s is not None and not interval.start_s - _SEGMENT_S <= moment_s <= interval.end_s + _SEGMENT_S:
            raise at_line(
                path, number, f"moment_s {moment_s:g} is not between start_s and end_s; correct or empty what no longer holds"
            )
        return replace(label, interval=interval, moment_s=moment_s)
    if moment_s is None or not (math.isfinite(moment_s) and 0 <= moment_s <= MAX_VIDEO_S):
        raise at_line(path, number, "no time; expected start_s and end_s, or moment_s, or shown = no")
    return replace(label, moment_s=moment_s)


def _unquoted(cell: str) -> str:
    """The cell without the quote that `export` puts before what a spreadsheet would take for a formula."""
    return cell[1:] if cell[:1] == "'" and cell.lstrip("'")[:1] in ("=", "+", "-", "@") else cell


def _interval(path: Path, where: str, start_s: Any, end_s: Any) -> Interval:
    try:
        start, end = float(start_s), float(end_s)
    except (TypeError, ValueError, OverflowError):
        start, end = math.nan, math.nan
    if not (0 <= start < end <= MAX_VIDEO_S):
        raise InputError(f"{path.name}, {where}: from {start_s!r:.30} to {end_s!r:.30}; expected seconds, start before end")
    return Interval(start, end)


def _read_webvtt(path: Path, text: str) -> Iterator[NamedLabel]:
    """Chapters of one video, whose TASK_VIDEO is the name of the file; the text of a cue is the name of a step."""
    lines = text.split("\n")
    if not re.match(r"WEBVTT(\s|$)", lines[0]):
        raise at_line(path, 1, f"found {lines[0][:40]!r}; expected 'WEBVTT', the first word of every WebVTT file")
    n_cues = 0
    for number, line in enumerate(lines, start=1):
        if "-->" not in line:
            continue
        times = parse_timing(line)
        if times is None:
            raise at_line(path, number, f"{line[:60]!r} is not a timing line; expected e.g. 00:00:01.000 --> 00:00:04.500")
        name, below = [], number
        while below < len(lines) and lines[below].strip() and "-->" not in lines[below]:
            name.append(lines[below].strip())
            below += 1
        n_cues += 1
        interval = _interval(path, f"line {number}", *times)
        yield NamedLabel(f"line {number}", path.stem, html.unescape(_MARKUP.sub("", " ".join(name))), interval=interval)
    if n_cues == 0:
        raise InputError(
            f"{path.name}: no chapter; expected cues such as 00:00:01.000 --> 00:00:04.500 with the name of a step below"
        )


def _read_json(path: Path, text: str, frames_per_second: float | None) -> Iterator[NamedLabel]:
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise InputError(f"{path.name}, line {error.lineno}: not JSON ({error.msg}); {EXPECTED}") from None
    except (ValueError, RecursionError):
        raise InputError(f"{path.name}: nested too deeply, or a number that is too long; {EXPECTED}") from None
    if isinstance(value, dict) and isinstance(value.get("results", value.get("database")), dict):
        return _read_activitynet(path, value)
    if isinstance(value, list) and value and all(isinstance(task, dict) and isinstance(task.get("data"), dict) for task in value):
        return _read_label_studio(path, value, frames_per_second)
    raise InputError(f"{path.name}: JSON, but neither ActivityNet's nor Label Studio's; {EXPECTED}")


def _read_activitynet(path: Path, value: dict[str, Any]) -> Iterator[NamedLabel]:
    """`results` (detections) or `database` (annotations) by video: label and segment."""
    part = "results" if isinstance(value.get("results"), dict) else "database"
    for video, entry in value[part].items():
        rows = entry.get("annotations") if isinstance(entry, dict) else entry
        if not isinstance(rows, list):
            raise InputError(f"{path.name}, {part}.{video}: no list; expected [{{'label', 'segment'}}, ...]")
        for i, row in enumerate(rows):
            where = f"{part}.{video}[{i}]"
            if not isinstance(row, dict) or not isinstance(row.get("label"), str) or not _is_pair(row.get("segment")):
                raise InputError(f"{path.name}, {where}: found {str(row)[:60]!r}; expected {{'label', 'segment': [start, end]}}")
            yield NamedLabel(where, video, row["label"], interval=_interval(path, where, *row["segment"]))


def _is_pair(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2


def _read_label_studio(path: Path, tasks: list[dict[str, Any]], frames_per_second: float | None) -> Iterator[NamedLabel]:
    """Timeline labels of each task: its annotations where it has any, otherwise its predictions."""
    if frames_per_second is None and any("frames_per_second" not in task["data"] for task in tasks):
        log.warning("%s: states no frame rate; %g frames a second are taken, --fps says otherwise", path.name, _USUAL_FPS)
    for i, task in enumerate(tasks):
        data = task["data"]
        rate = _frame_rate(path, f"[{i}].data", data, frames_per_second)
        video = str(data.get("video_id") or PurePosixPath(str(data.get("video", ""))).stem)
        versions = task.get("annotations") or task.get("predictions") or []
        for j, version in enumerate(versions if isinstance(versions, list) else []):
            if isinstance(version, dict) and version.get("was_cancelled"):
                continue  # the annotator skipped the video
            regions = version.get("result") if isinstance(version, dict) else None
            if not isinstance(regions, list):
                raise InputError(f"{path.name}, [{i}].annotations[{j}]: no 'result' list; {EXPECTED}")
            for k, region in enumerate(regions):
                where = f"[{i}].annotations[{j}].result[{k}]"
                for name, interval in _regions(path, where, region, rate):
                    yield NamedLabel(where, video, name, str(data.get("task", "")), interval)


def _frame_rate(path: Path, where: str, data: dict[str, Any], given: float | None) -> float:
    """Frames a second: as the file states, as `export` wrote them, else as given."""
    stated = data.get("frames_per_second")
    if stated is None:
        return _USUAL_FPS if given is None else given
    if isinstance(stated, bool) or not isinstance(stated, int | float) or not _FRAME_RATES.contains(stated):
        raise InputError(f"{path.name}, {where}: frames_per_second is {stated!r:.40}; expected a number {_FRAME_RATES}")
    if given is not None and abs(given - stated) > _SAME_RATE * stated:
        raise InputError(f"{path.name}, {where}: its frames are {stated:g} a second, not {given:g}; leave out --fps")
    return float(stated)


def _regions(path: Path, where: str, region: Any, frames_per_second: float) -> Iterator[tuple[str, Interval]]:
    """(step, interval) of a region; frames count from 1. Our own seconds are exact where the frames were not moved."""
    try:
        value, meta = region["value"], dict(region.get("meta") or {})
        names, ranges = [str(name) for name in value["timelinelabels"]], value["ranges"]
        spans = [(int(float(one["start"])), int(float(one["end"]))) for one in ranges]
        own = tuple(float(meta[name]) for name in ("start_s", "end_s") if isinstance(meta.get(name), int | float))
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
        raise InputError(
            f"{path.name}, {where}: found {str(region)[:60]!r}; expected a region with timelinelabels and ranges"
        ) from None
    for first, last in spans:
        times = (first - 1) / frames_per_second, last / frames_per_second
        kept = Interval(*own) if len(own) == 2 and len(spans) == 1 and all(0 <= time <= MAX_VIDEO_S for time in own) else None
        if kept is not None and kept.frames(frames_per_second) == (first, last):
            times = kept.start_s, kept.end_s
        for name in names:
            yield name, _interval(path, where, *times)
