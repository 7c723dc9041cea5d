"""Which videos a person judged relevant for their task: `relevance.json` in the run folder.

{"format": 1, "videos": {"TASK_VIDEO": "relevant" | "irrelevant"}}
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from crosstask.records import InputError, VideoKey, parse_video_key
from crosstask.runs.record import refuse_outside
from crosstask.storage import blocking_lock, read_text, write_json

FORMAT = 1  # version of relevance.json
RELEVANT, IRRELEVANT = RELEVANCES = ("relevant", "irrelevant")


def read_relevance(folder: Path) -> dict[VideoKey, str]:
    """The relevance of each judged video of a run folder."""
    path = refuse_outside(folder, folder / "relevance.json")
    if not path.exists():
        return {}
    try:
        videos = json.loads(read_text(path, "utf-8"))["videos"]
        return {parse_video_key(key): relevance for key, relevance in videos.items() if relevance in RELEVANCES}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise InputError("relevance.json: damaged; repair it or delete it, and mark the videos again") from None


def change_relevance(folder: Path, change: Callable[[dict[VideoKey, str]], Mapping[VideoKey, str]]) -> None:
    """Replace the judgements of a run folder by what `change` makes of them; one process at a time."""
    with blocking_lock(folder / "annotations", lambda process: None):  # the lock of the viewer's store
        write_relevance(folder, change(read_relevance(folder)))


def write_relevance(folder: Path, relevance: Mapping[VideoKey, str]) -> None:
    """Write the judgements of a run folder, for a caller that holds its lock."""
    write_json(folder / "relevance.json", {"format": FORMAT, "videos": {str(key): value for key, value in relevance.items()}})
