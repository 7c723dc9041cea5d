"""Data sets that name the step of every interval: from videos with named intervals to a corpus with step lists.

Where a set has no list of a task's steps, one is derived: the names shown in enough of the task's videos, by where in the video they
come on average.
"""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from crosstask.datasets.release import read_feature_spec
from crosstask.datasets.subtitle_folders import SubtitleFolders
from crosstask.features import NpyFeatures
from crosstask.records import Corpus, InputError, Interval, NoFeatures, StepInterval, Task, Video, VideoKey, refuse_escaping_id


@dataclass(frozen=True)
class AnnotatedVideo:
    """A video of a task with the names of its steps; `seconds` where the set says how long it is."""

    task: str
    id: str
    steps: tuple[tuple[str, Interval], ...]
    seconds: float | None = None
    url: str = ""
    validation: bool = False

    @property
    def length_s(self) -> float:
        """Its length, or the end of its last step."""
        return self.seconds or max((span.end_s for _, span in self.steps), default=1.0)


def corpus_from_annotated_videos(
    name: str, folder: Path, videos: Sequence[AnnotatedVideo], titles: Mapping[str, str] | None = None, least_share: float = 0.0
) -> Corpus:
    """The corpus of such videos; steps shown in less than `least_share` of a task's videos are left out of its list.

    Features (`features/VIDEO.npy`, one row a second) and subtitles (`subtitles/VIDEO.vtt`) are used where they lie beside.
    """
    of_task: dict[str, list[AnnotatedVideo]] = {}
    for video in videos:
        of_task.setdefault(video.task, []).append(video)
    tasks = {}
    for task_id, members in sorted(of_task.items()):
        steps = steps_by_mean_position(members, least_share)
        if steps:
            tasks[task_id] = Task(refuse_escaping_id(task_id, "task"), (titles or {}).get(task_id, task_id), steps)
    if not tasks:
        raise InputError(f"{folder}: no video with named steps in it; expected the annotation of {name}")
    kept = [video for video in videos if video.task in tasks]
    features = folder / "features"
    return Corpus(
        name=name,
        tasks=tasks,
        videos=tuple(Video(v.task, v.id, v.url) for v in kept),
        validation=frozenset(VideoKey(v.task, v.id) for v in kept if v.validation),
        seconds={v.id: max(1, math.ceil(v.length_s)) for v in kept},
        annotations={VideoKey(v.task, v.id): _intervals(v, tasks[v.task]) for v in kept},
        subtitles=SubtitleFolders((folder / "subtitles",)),
        features=NpyFeatures(features) if features.is_dir() else NoFeatures(),
        folder=folder,
        feature_spec=read_feature_spec(features),
    )


def steps_by_mean_position(videos: Sequence[AnnotatedVideo], least_share: float = 0.0) -> tuple[str, ...]:
    """The step names of a task's videos in the order in which they come on average.

    >>> a = AnnotatedVideo("t", "a", (("pour", Interval(0, 2)), ("stir", Interval(5, 6))))
    >>> steps_by_mean_position([a])
    ('pour', 'stir')
    """
    places: dict[str, dict[str, list[float]]] = {}
    for video in videos:
        for step, span in video.steps:
            middle = (span.start_s + span.end_s) / 2 / video.length_s
            places.setdefault(step, {}).setdefault(video.id, []).append(middle)
    kept = {step: by for step, by in places.items() if len(by) >= least_share * len(videos)}
    mean = {step: float(np.mean([np.mean(middles) for middles in by.values()])) for step, by in kept.items()}
    return tuple(sorted(mean, key=lambda step: (mean[step], step)))


def _intervals(video: AnnotatedVideo, task: Task) -> tuple[StepInterval, ...]:
    number = {step: k for k, step in enumerate(task.steps)}
    return tuple(StepInterval(number[step], span) for step, span in video.steps if step in number)


def read_json(path: Path, expected: str) -> Any:
    """The value of a JSON file, or an error that says what was expected."""
    try:
        return json.loads(path.read_text("utf-8-sig"))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); {expected}") from None
    except (ValueError, RecursionError):
        raise InputError(f"{path.name}: no valid JSON; {expected}") from None


def first_entry(value: Any) -> Mapping[str, Any]:
    """The first video's entry of `{"database": {VIDEO: {...}}}`, by which such sets are told apart; empty for anything else."""
    entries = value.get("database") if isinstance(value, dict) else None
    first = next(iter(entries.values()), None) if isinstance(entries, dict) else None
    return first if isinstance(first, dict) else {}


def parse_database(path: Path, value: Any, expected: str) -> dict[str, dict[str, Any]]:
    """The entries of `{"database": {VIDEO: {..}}}`, ids checked."""
    database = value.get("database") if isinstance(value, dict) else None
    if not isinstance(database, dict) or not all(isinstance(entry, dict) for entry in database.values()):
        raise InputError(f"{path.name}: no database of videos; {expected}")
    return {refuse_escaping_id(video, "video"): entry for video, entry in database.items()}


def parse_named_intervals(path: Path, video: str, rows: Any, name: str, expected: str) -> tuple[tuple[str, Interval], ...]:
    """(step, interval) of `[{"segment": [start, end], NAME: step}]`, sorted by time."""
    if not isinstance(rows, list):
        raise InputError(f"{path.name}, video {video}: found no list of annotations; {expected}")
    found = []
    for row in rows:
        try:
            start_s, end_s = (float(second) for second in row["segment"])
            step = str(row[name]).strip()
        except (KeyError, TypeError, ValueError, OverflowError):
            raise InputError(f"{path.name}, video {video}: found {str(row)[:60]!r}; {expected}") from None
        if not step or not (0 <= start_s < end_s < 1e6):
            raise InputError(f"{path.name}, video {video}: '{step}' from {start_s} to {end_s}; expected a name, start before end")
        found.append((step, Interval(start_s, end_s)))
    return tuple(sorted(found, key=lambda pair: (pair[1], pair[0])))


def duration_of(entry: Mapping[str, Any]) -> float | None:
    """The duration of an entry, where it is a sensible number."""
    seconds = entry.get("duration")
    sensible = isinstance(seconds, int | float) and not isinstance(seconds, bool) and 0 < seconds < 1e6
    return float(seconds) if sensible and seconds is not None else None


def url_of(entry: Mapping[str, Any]) -> str:
    """The address of an entry, whatever the set calls it."""
    return next((entry[key] for key in ("video_url", "url") if isinstance(entry.get(key), str)), "")


def task_id_from(text: str) -> str:
    """A task id without '_', at which file names are split, and without what file names cannot hold.

    >>> task_id_from("make_Tea/now")
    'make-Tea-now'
    """
    return "-".join("".join(c if c.isalnum() or c in ".- " else " " for c in text).split()) or "task"


def find_annotation_file(folder: Path, looks: Iterable[str]) -> Path | None:
    """The only JSON file of a folder, or the one of a known name."""
    files = sorted(folder.glob("*.json"))
    named = [path for path in files if path.name in set(looks)]
    return named[0] if named else files[0] if len(files) == 1 else None
