"""ActivityNet: `{"version", "database": {VIDEO: {"subset", "duration", "url", "annotations": [{"segment": [s, e], "label"}]}}}`.

An activity is no step of a task: each label becomes a task with one step of the same name. A video with several labels stands under each.
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

EXPECTED = 'expected ActivityNet\'s {"database": {VIDEO: {"annotations": [{"segment": [s, e], "label"}]}}}'


def is_activitynet(value: Any) -> bool:
    """Whether a JSON value looks like the set."""
    first = first_entry(value)
    return "annotations" in first and "recipe_type" not in first


def read_activitynet(path: Path) -> Corpus:
    """The set in a file; `features/` and `subtitles/` beside it are used. Videos without annotation (testing) are left out."""
    database = parse_database(path, read_json(path, EXPECTED), EXPECTED)
    titles, videos = {}, []
    for video, entry in database.items():
        steps = parse_named_intervals(path, video, entry.get("annotations", []), "label", EXPECTED)
        for label in dict.fromkeys(name for name, _ in steps):
            task, step = task_id_from(label), label.replace(",", "").lower()
            titles[task] = label
            own = tuple((step, span) for name, span in steps if name == label)
            validation = entry.get("subset") == "validation"
            videos.append(AnnotatedVideo(task, video, own, duration_of(entry), url_of(entry), validation))
    return corpus_from_annotated_videos("ActivityNet", path.parent, videos, titles)
