"""Which videos a person judged relevant for their task: `relevance.json` in the run folder.

{"format": 1, "videos": {"TASK_VIDEO": "relevant" | "irrelevant"}, "contents": {"TASK": {"DIGEST": "relevant" | "irrelevant"}}}

A judgement is of the content of a video file, where that is known, and otherwise of the name of the video.
"""

import json
from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from crosstask.records import InputError, VideoKey, parse_video_key
from crosstask.runs.record import refuse_outside
from crosstask.storage import blocking_lock, read_text, write_json

FORMAT = 1  # version of relevance.json
RELEVANT, IRRELEVANT = RELEVANCES = ("relevant", "irrelevant")


@dataclass(frozen=True)
class Judgements:
    """The relevance of videos, by name and by (task, digest of the file)."""

    by_name: dict[VideoKey, str] = field(default_factory=dict)
    by_content: dict[tuple[str, str], str] = field(default_factory=dict)

    def of(self, contents: Mapping[VideoKey, str]) -> dict[VideoKey, str]:
        """The relevance of each judged video; `contents` are the digests of the files now."""
        known = {key: (key.task, content) for key, content in contents.items()}
        return self.by_name | {key: self.by_content[place] for key, place in known.items() if place in self.by_content}

    def judge(self, key: VideoKey, content: str | None, relevance: str | None) -> None:
        """Change the relevance of a video, or remove it with None."""
        self.by_name.pop(key, None)
        if content is not None:
            self.by_content.pop((key.task, content), None)
        if relevance is not None and content is not None:
            self.by_content[key.task, content] = relevance
        elif relevance is not None:
            self.by_name[key] = relevance


def read_relevance(folder: Path, contents: Mapping[VideoKey, str], tasks: Container[str]) -> dict[VideoKey, str]:
    """The relevance of each judged video of a run folder; `contents` are the digests of the video files, `tasks` those of the run."""
    return _read(folder, tasks).of(contents)


def save_relevance(folder: Path, relevance: Mapping[VideoKey, str | None], contents: Mapping[VideoKey, str]) -> None:
    """Save the relevance of some videos of a run folder, or remove it with None; one process at a time."""
    with blocking_lock(folder / "annotations", lambda process: None):  # the lock of the viewer's store
        judged = _read(folder, {key.task for key in relevance})
        for key, value in relevance.items():
            judged.judge(key, contents.get(key), value)
        _write(folder, judged)


def note_contents(folder: Path, contents: Mapping[VideoKey, str]) -> None:
    """Write judgements that have only the name of a video, as those of earlier versions, by the content of its file."""
    by_name = _read(folder, {key.task for key in contents}).by_name
    if known := {key: relevance for key, relevance in by_name.items() if key in contents}:
        save_relevance(folder, known, contents)


def _read(folder: Path, tasks: Container[str]) -> Judgements:
    path = refuse_outside(folder, folder / "relevance.json")
    if not path.exists():
        return Judgements()
    try:
        data = json.loads(read_text(path, "utf-8"))
        by_name = {parse_video_key(key, tasks): relevance for key, relevance in data["videos"].items()}
        by_content = {(task, key): relevance for task, of in data.get("contents", {}).items() for key, relevance in of.items()}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise InputError("relevance.json: damaged; repair it or delete it, and mark the videos again") from None
    return Judgements(
        {key: relevance for key, relevance in by_name.items() if relevance in RELEVANCES},
        {place: relevance for place, relevance in by_content.items() if relevance in RELEVANCES},
    )


def _write(folder: Path, judged: Judgements) -> None:
    contents: dict[str, dict[str, str]] = {}
    for (task, content), relevance in judged.by_content.items():
        contents.setdefault(task, {})[content] = relevance
    shape = {"format": FORMAT, "videos": {str(key): value for key, value in judged.by_name.items()}}
    write_json(folder / "relevance.json", shape | ({"contents": contents} if contents else {}))
