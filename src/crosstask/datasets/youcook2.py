"""YouCook2: `{"database": {VIDEO: {"recipe_type", "subset", "duration", "annotations": [{"segment": [s, e], "sentence"}]}}}`.

Sentences are written for one video and no two videos share a list, so every video is a task of its own: its sentences in order.
What tasks share is their words. Validation videos are marked as such.
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

EXPECTED = 'expected YouCook2\'s {"database": {VIDEO: {"recipe_type", "annotations": [{"segment": [s, e], "sentence"}]}}}'


def is_youcook2(value: Any) -> bool:
    """Whether a JSON value looks like the set."""
    first = first_entry(value)
    return "recipe_type" in first and "annotations" in first


def read_youcook2(path: Path) -> Corpus:
    """The set in a file; `features/` and `subtitles/` beside it are used."""
    database = parse_database(path, read_json(path, EXPECTED), EXPECTED)
    counts: dict[str, int] = {}
    titles, videos = {}, []
    for video, entry in sorted(database.items()):
        recipe = task_id_from(str(entry.get("recipe_type", "unnamed")))
        counts[recipe] = counts.get(recipe, 0) + 1
        task = f"{recipe}-{counts[recipe]:03d}"
        titles[task] = f"recipe {recipe}, video {video}"
        steps = parse_named_intervals(path, video, entry.get("annotations", []), "sentence", EXPECTED)
        plain = tuple(
            (step.replace(",", "").rstrip("."), span) for step, span in steps
        )  # the published layout separates by commas
        validation = entry.get("subset") == "validation"
        videos.append(AnnotatedVideo(task, video, plain, duration_of(entry), url_of(entry), validation))
    return corpus_from_annotated_videos("YouCook2", path.parent, videos, titles)
