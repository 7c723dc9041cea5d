"""From videos whose annotated intervals carry step names to a corpus with step lists.

Most data sets publish no step list per task. Here it is derived: the names that occur in enough of the task's videos, sorted by their mean
relative position in the video.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from unicodedata import category

import numpy as np

from crosstask.datasets.subtitle_folders import SubtitleFolders
from crosstask.datasets.window_files import read_windows
from crosstask.features import NpyFeatures, find_text_side, read_feature_spec
from crosstask.records import Corpus, InputError, Interval, NoFeatures, StepInterval, Task, Video, VideoKey, refuse_escaping_id
from crosstask.storage import existing_derived_folder

MAX_VIDEO_S = 1e6  # eleven days; larger times in an annotation are errors


@dataclass(frozen=True)
class AnnotatedVideo:
    """A video of a task with its (step name, interval) pairs; `duration_s` is None where it is not published."""

    task: str
    id: str
    steps: tuple[tuple[str, Interval], ...]
    duration_s: float | None = None
    url: str = ""
    validation: bool = False

    @property
    def length_s(self) -> float:
        """The duration of the video, or else the end of its last step."""
        return self.duration_s or max((interval.end_s for _, interval in self.steps), default=1.0)


def corpus_from_annotated_videos(
    name: str, folder: Path, videos: Sequence[AnnotatedVideo], titles: Mapping[str, str] | None = None, min_share: float = 0.0
) -> Corpus:
    """The corpus of annotated videos; a step in less than `min_share` of a task's videos is left out of its step list.

    Features (`features/VIDEO.npy`, one row per second) and subtitles (`subtitles/VIDEO.vtt`) of the folder are used.
    """
    videos_of_task: dict[str, list[AnnotatedVideo]] = {}
    for video in videos:
        videos_of_task.setdefault(video.task, []).append(video)
    if twice := [key for key, n in Counter((video.task, video.id) for video in videos).items() if n > 1]:
        raise InputError(
            f"{folder}: two annotations of video {twice[0][1]} of task {twice[0][0]}; expected one, so rename or remove one"
        )
    tasks = {}
    for task_id, members in sorted(videos_of_task.items()):
        steps = steps_by_mean_position(members, min_share)
        if steps:
            tasks[task_id] = Task(refuse_escaping_id(task_id, "task"), (titles or {}).get(task_id, task_id), steps)
    if not tasks:
        raise InputError(f"{folder}: no video with named steps in it; expected the annotation of {name}")
    kept = [video for video in videos if video.task in tasks]
    features, subtitles = folder / "features", SubtitleFolders((folder / "subtitles",))
    return Corpus(
        name=name,
        tasks=tasks,
        videos=tuple(Video(v.task, v.id, v.url) for v in kept),
        validation=frozenset(VideoKey(v.task, v.id) for v in kept if v.validation),
        seconds={v.id: max(1, math.ceil(v.length_s)) for v in kept},
        annotations={VideoKey(v.task, v.id): _intervals(v, tasks[v.task]) for v in kept},
        windows=read_windows(existing_derived_folder(folder, "constraints"), tasks, subtitles),
        subtitles=subtitles,
        features=NpyFeatures(features) if features.is_dir() else NoFeatures(),
        folder=folder,
        feature_spec=read_feature_spec(features),
        text_side=find_text_side(features),
    )


def steps_by_mean_position(videos: Sequence[AnnotatedVideo], min_share: float = 0.0) -> tuple[str, ...]:
    """The step names of a task's videos, sorted by mean relative position (each video counts once).

    >>> a = AnnotatedVideo("t", "a", (("pour", Interval(0, 2)), ("stir", Interval(5, 6))))
    >>> steps_by_mean_position([a])
    ('pour', 'stir')
    """
    positions: dict[str, dict[str, list[float]]] = {}  # step -> video -> relative positions
    for video in videos:
        for step, interval in video.steps:
            middle = (interval.start_s + interval.end_s) / 2 / video.length_s
            positions.setdefault(step, {}).setdefault(video.id, []).append(middle)
    kept = {step: by_video for step, by_video in positions.items() if len(by_video) >= min_share * len(videos)}
    mean = {step: float(np.mean([np.mean(middles) for middles in by_video.values()])) for step, by_video in kept.items()}
    return tuple(sorted(mean, key=lambda step: (mean[step], step)))


def _intervals(video: AnnotatedVideo, task: Task) -> tuple[StepInterval, ...]:
    number = {step: k for k, step in enumerate(task.steps)}
    return tuple(StepInterval(number[step], interval) for step, interval in video.steps if step in number)


class TaskNames(dict[str, str]):
    """The names of tasks by their ids; an error for two names that would get one id."""

    def id_of(self, name: str) -> str:
        """The id of a task, which is noted with its name."""
        task = task_id_from(name)
        if (other := self.setdefault(task, name)) != name:
            raise InputError(f"'{other}' and '{name}' would both be task {task}; rename one of them")
        return task


def task_id_from(text: str) -> str:
    """A valid task id made from a name: without '_', which separates task and video in file names, and without special characters.

    Signs that belong to letters, such as the vowels of Hindi, stay.

    >>> task_id_from("make_Tea/now")
    'make-Tea-now'
    """
    kept = (c if c.isalnum() or category(c)[0] == "M" or c in ".- " else " " for c in text)
    return "-".join("".join(kept).split()) or "task"
