"""YouCook2: `{"database": {VIDEO: {"recipe_type", "subset", "duration", "annotations": [{"segment": [s, e], "sentence"}]}}}`.

Sentences are written for one video and no two videos share a step list, so every video becomes a task of its own whose steps are its
sentences in order. Tasks share only words.
"""

from pathlib import Path
from typing import Any

from crosstask.datasets.json_databases import first_entry, parse_named_intervals, read_database, video_from_entry
from crosstask.datasets.named_steps import TaskNames, corpus_from_annotated_videos
from crosstask.records import Corpus

EXPECTED = 'expected YouCook2\'s {"database": {VIDEO: {"recipe_type", "annotations": [{"segment": [s, e], "sentence"}]}}}'


def is_youcook2(value: Any) -> bool:
    """True if a JSON value has the layout of YouCook2."""
    first = first_entry(value)
    return "recipe_type" in first and "annotations" in first


def read_youcook2(path: Path) -> Corpus:
    """The corpus of YouCook2's JSON file; `features/` and `subtitles/` in the same folder are used."""
    n_videos: dict[str, int] = {}  # of each cooking recipe
    recipes, titles, videos = TaskNames(), {}, []
    for video, entry in sorted(read_database(path, EXPECTED).items()):
        recipe = recipes.id_of(str(entry.get("recipe_type", "unnamed")))
        n_videos[recipe] = n_videos.get(recipe, 0) + 1
        task = f"{recipe}-{n_videos[recipe]:03d}"
        titles[task] = f"recipe {recipe}, video {video}"
        steps = parse_named_intervals(path, video, entry.get("annotations", []), "sentence", EXPECTED)
        # The published layout of CrossTask separates step names by commas.
        without_commas = tuple((step.replace(",", "").rstrip("."), interval) for step, interval in steps)
        videos.append(video_from_entry(task, video, entry, without_commas, entry.get("subset") == "validation"))
    return corpus_from_annotated_videos("YouCook2", path.parent, videos, titles)
