"""COIN: `{"database": {VIDEO: {"class", "subset", "duration", "video_url", "annotation": [{"segment": [s, e], "id", "label"}]}}}`.

A class is a task, a label a step. The set lists no order of steps: they stand by their mean position. Its testing videos count as validation.
"""

from pathlib import Path
from typing import Any

from crosstask.datasets.named_steps import (
    AnnotatedVideo,
    url_of,
    corpus_from_annotated_videos,
    parse_database,
    first_entry,
    duration_of,
    parse_named_intervals,
    task_id_from,
    read_json,
)
from crosstask.records import Corpus

EXPECTED = 'expected COIN\'s {"database": {VIDEO: {"class", "annotation": [{"segment": [s, e], "label"}]}}}'


def is_coin(value: Any) -> bool:
    """Whether a JSON value looks like the set."""
    first = first_entry(value)
    return "class" in first and "annotation" in first


def read_coin(path: Path) -> Corpus:
    """The set in a file; `features/` and `subtitles/` beside it are used."""
    database = parse_database(path, read_json(path, EXPECTED), EXPECTED)
    titles, videos = {}, []
    for video, entry in database.items():
        task = task_id_from(str(entry.get("class", "unnamed")))
        titles[task] = _spaced(str(entry.get("class", task)))
        steps = parse_named_intervals(path, video, entry.get("annotation"), "label", EXPECTED)
        testing = entry.get("subset") == "testing"
        videos.append(AnnotatedVideo(task, video, steps, duration_of(entry), url_of(entry), testing))
    return corpus_from_annotated_videos("COIN", path.parent, videos, titles)


def _spaced(name: str) -> str:
    """'AssembleBed' as 'Assemble Bed'."""
    return "".join(f" {c}" if c.isupper() and i and not name[i - 1].isupper() else c for i, c in enumerate(name))
