"""COIN: `{"database": {VIDEO: {"class", "subset", "duration", "video_url", "annotation": [{"segment": [s, e], "id", "label"}]}}}`.

A class is a task, a label a step. COIN gives no order of steps, so they are sorted by mean position. Its testing videos become validation
videos.
"""

from pathlib import Path
from typing import Any

from crosstask.datasets.json_databases import first_entry, parse_named_intervals, read_database, video_from_entry
from crosstask.datasets.named_steps import TaskNames, corpus_from_annotated_videos
from crosstask.records import Corpus

EXPECTED = 'expected COIN\'s {"database": {VIDEO: {"class", "annotation": [{"segment": [s, e], "label"}]}}}'


def is_coin(value: Any) -> bool:
    """True if a JSON value has the layout of COIN."""
    first = first_entry(value)
    return "class" in first and "annotation" in first


def read_coin(path: Path) -> Corpus:
    """The corpus of COIN's JSON file; `features/` and `subtitles/` in the same folder are used."""
    names, videos = TaskNames(), []
    for video, entry in read_database(path, EXPECTED).items():
        task = names.id_of(str(entry.get("class", "unnamed")))
        steps = parse_named_intervals(path, video, entry.get("annotation"), "label", EXPECTED)
        videos.append(video_from_entry(task, video, entry, steps, entry.get("subset") == "testing"))
    return corpus_from_annotated_videos(
        "COIN", path.parent, videos, {task: _split_camel_case(name) for task, name in names.items()}
    )


def _split_camel_case(name: str) -> str:
    """'AssembleBed' as 'Assemble Bed'."""
    return "".join(f" {c}" if c.isupper() and i and not name[i - 1].isupper() else c for i, c in enumerate(name))
