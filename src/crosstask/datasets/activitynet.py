"""ActivityNet: `{"version", "database": {VIDEO: {"subset", "duration", "url", "annotations": [{"segment": [s, e], "label"}]}}}`.

ActivityNet has activities, not steps: each label becomes a task with one step of the same name. A video with several labels is listed
under each of them.
"""

from pathlib import Path
from typing import Any

from crosstask.datasets.json_databases import first_entry, parse_named_intervals, read_database, video_from_entry
from crosstask.datasets.named_steps import TaskNames, corpus_from_annotated_videos
from crosstask.records import Corpus

EXPECTED = 'expected ActivityNet\'s {"database": {VIDEO: {"annotations": [{"segment": [s, e], "label"}]}}}'


def is_activitynet(value: Any) -> bool:
    """True if a JSON value has the layout of ActivityNet."""
    first = first_entry(value)
    return "annotations" in first and "recipe_type" not in first


def read_activitynet(path: Path) -> Corpus:
    """The corpus of ActivityNet's JSON file, without its unannotated (testing) videos; `features/` and `subtitles/` beside it are used."""
    titles, videos = TaskNames(), []
    for video, entry in read_database(path, EXPECTED).items():
        steps = parse_named_intervals(path, video, entry.get("annotations", []), "label", EXPECTED)
        for label in dict.fromkeys(name for name, _ in steps):
            task, step = titles.id_of(label), label.replace(",", "").lower()
            own = tuple((step, interval) for name, interval in steps if name == label)
            videos.append(video_from_entry(task, video, entry, own, entry.get("subset") == "validation"))
    return corpus_from_annotated_videos("ActivityNet", path.parent, videos, titles)
