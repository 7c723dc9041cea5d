"""Search results in a file: yt-dlp's JSON (one object with entries, or one object per line), or a list of ids or addresses.

yt-dlp "ytsearch50:how to make pancakes" --flat-playlist --dump-single-json > results.json
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crosstask.records import InputError, Video, at_line, refuse_escaping_id
from crosstask.storage import read_text

EXPECTED = "expected yt-dlp's JSON (entries, or one object a line), or one video id or address a line"
_ID_IN_ADDRESS = re.compile(r"(?:[?&]v=|youtu\.be/|/shorts/|/embed/)([\w-]{11})(?:[?&#/]|$)")
_WATCH = "https://www.youtube.com/watch?v="
_YOUTUBE_ID = re.compile(r"[\w-]{11}")


@dataclass(frozen=True)
class SearchResult:
    """A video in a list of search results; title and length where they are listed."""

    id: str
    url: str
    title: str = ""
    seconds: float | None = None


def read_search_results(path: Path) -> list[SearchResult]:
    """The results of a file without duplicates, best first."""
    try:
        text = read_text(path)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); {EXPECTED}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: not UTF-8 text; {EXPECTED}") from None
    found = _from_json(path, text) if text.lstrip()[:1] in ("{", "[") else _from_lines(path, text)
    first: dict[str, SearchResult] = {}
    for result in found:
        first.setdefault(result.id, result)
    return list(first.values())


def _from_json(path: Path, text: str) -> list[SearchResult]:
    """Results from one JSON value, or from one value per line."""
    try:
        return _entries(path, 1, json.loads(text))
    except RecursionError:
        raise at_line(path, 1, f"nested too deeply; {EXPECTED}") from None
    except json.JSONDecodeError:
        pass
    except ValueError as error:
        raise InputError(f"{path.name}: {error}") from None
    results: list[SearchResult] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            raise at_line(path, number, f"no valid JSON; {EXPECTED}") from None
        results += _entries(path, number, value)
    return results


def _entries(path: Path, line: int, value: Any) -> list[SearchResult]:
    if isinstance(value, dict) and isinstance(value.get("entries"), list):
        value = value["entries"]
    values = value if isinstance(value, list) else [value]
    return [_entry(path, line, entry) for entry in values if entry is not None]  # yt-dlp writes null for unavailable videos


def _entry(path: Path, line: int, entry: Any) -> SearchResult:
    if isinstance(entry, str):
        return _from_id_or_address(path, line, entry)
    if not isinstance(entry, dict) or not isinstance(entry.get("id"), str):
        raise at_line(path, line, f"found {str(entry)[:60]!r} without an id; {EXPECTED}")
    seconds = entry.get("duration")
    address = entry.get("webpage_url") or entry.get("url") or _address_of(entry["id"])
    return SearchResult(
        _checked_id(path, line, entry["id"]),
        address.replace(",", "%2C") if isinstance(address, str) and address.isprintable() else "",  # one cell of one row
        entry["title"] if isinstance(entry.get("title"), str) else "",
        float(seconds) if isinstance(seconds, int | float) and not isinstance(seconds, bool) and 0 < seconds < 1e7 else None,
    )


def _from_lines(path: Path, text: str) -> list[SearchResult]:
    return [
        _from_id_or_address(path, number, line.strip())
        for number, line in enumerate(text.splitlines(), start=1)
        if line.strip() and not line.startswith("#")
    ]


def _from_id_or_address(path: Path, line: int, name: str) -> SearchResult:
    """A result with only an id or an address."""
    address = _ID_IN_ADDRESS.search(name)
    if address:
        return SearchResult(address[1], name)
    return SearchResult(_checked_id(path, line, name), _address_of(name))


def _address_of(video: str) -> str:
    return _WATCH + video if _YOUTUBE_ID.fullmatch(video) else ""


def _checked_id(path: Path, line: int, video: str) -> str:
    try:
        return refuse_escaping_id(video, "video")
    except InputError as error:
        raise at_line(path, line, str(error)) from None


def videos_from_results(
    task: str, results: Iterable[SearchResult], top: int = 30, shortest_s: float = 0.0, longest_s: float = float("inf")
) -> list[Video]:
    """The first `top` results (30 in the paper) with a length in the given range, as videos of a task; unknown lengths are accepted.

    >>> found = [SearchResult("a", "", seconds=20.0), SearchResult("b", ""), SearchResult("c", "", seconds=300.0)]
    >>> [video.id for video in videos_from_results("tea", found, top=2, shortest_s=60)]
    ['b', 'c']
    """
    fitting = (r for r in results if r.seconds is None or shortest_s <= r.seconds <= longest_s)
    return [Video(task, result.id, result.url) for result, _ in zip(fitting, range(top), strict=False)]


def read_results_by_title(folder: Path) -> dict[str, list[str]]:
    """Title in lower case -> ids of its search results, from `TITLE.json`, `.jsonl` or `.txt` in a folder."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; expected one file of search results a title, e.g. 'Make Pancakes.json'")
    files = sorted(path for path in folder.iterdir() if path.suffix in (".json", ".jsonl", ".txt"))
    return {path.stem.lower(): [result.id for result in read_search_results(path)] for path in files}
