"""Five tasks of narrated instruction videos (Alayrac et al. 2016).

    tasks.json                        {title: [step names]}
    annotations/TASK_NUMBER.csv       step name, start in s, end in s
    features/TASK_NUMBER.npy          optional: (T, D), one row per second
    windows/K/TASK_NUMBER.csv         optional, for K discovered steps: step (from 1), start in s, end in s

Video lengths are not published: without features, T is the end of the last annotated step.
"""

import math
from collections.abc import Mapping
from pathlib import Path

from crosstask.datasets.step_intervals import read_step_intervals
from crosstask.datasets.text_files import csv_rows, read_json
from crosstask.features.npy_files import NpyFeatures
from crosstask.records import MAX_VIDEO_S, Corpus, InputError, Interval, StepInterval, Task, Video, VideoKey, at_line


def is_niv(folder: Path) -> bool:
    """True if a folder has this layout."""
    return (folder / "tasks.json").is_file() and (folder / "annotations").is_dir()


def read_niv(folder: Path) -> Corpus:
    """The corpus in a folder; the file name is the video id, its part before the last '_' the task id."""
    steps_of = _read_step_lists(folder / "tasks.json")
    files = sorted((folder / "annotations").glob("*.csv"))
    if not files:
        raise InputError(f"{folder}/annotations: no TASK_NUMBER.csv in it; expected one file per video")
    named = {path: _read_rows(path) for path in files}
    names_of: dict[str, set[str]] = {}
    for path, rows in named.items():
        names_of.setdefault(_task_of(path), set()).update(name for name, _ in rows)
    tasks = {task: _task(task, names, steps_of) for task, names in sorted(names_of.items())}
    annotations, seconds, videos = {}, {}, []
    for path, rows in named.items():
        task = tasks[_task_of(path)]
        key = VideoKey(task.id, path.stem)
        videos.append(Video(task.id, path.stem))
        annotations[key] = tuple(StepInterval(task.steps.index(name), interval) for name, interval in rows)
        seconds[path.stem] = math.ceil(max((interval.end_s for _, interval in rows), default=1))
    features = NpyFeatures(folder / "features") if (folder / "features").is_dir() else None
    corpus = Corpus("five tasks", tasks, tuple(videos), frozenset(), seconds, annotations, folder=folder)
    return corpus if features is None else _with_features(corpus, features)


def windows_for(corpus: Corpus, n_steps: int) -> Mapping[VideoKey, tuple[StepInterval, ...]]:
    """The narration windows of K discovered steps, by video; empty if the folder has none."""
    folder = (corpus.folder or Path()) / "windows" / str(n_steps)
    discovered = Task("discovered", f"{n_steps} discovered steps", tuple(f"step {k + 1}" for k in range(n_steps)))
    found = {}
    for video in corpus.videos:
        path = folder / f"{video.id}.csv"
        if path.is_file():
            found[video.key] = read_step_intervals(path, discovered)
    return found


def _with_features(corpus: Corpus, features: NpyFeatures) -> Corpus:
    from dataclasses import replace

    return replace(corpus, features=features, feature_spec="five tasks, the authors'")


def _read_step_lists(path: Path) -> dict[str, list[str]]:
    lists = read_json(path, "expected task titles with their step names")
    if not isinstance(lists, dict) or not lists or not all(isinstance(steps, list) for steps in lists.values()):
        raise InputError(f"{path.name}: expected an object of task titles, each with a list of step names")
    return {str(title): [str(step).lower() for step in steps] for title, steps in lists.items()}


def _read_rows(path: Path) -> list[tuple[str, Interval]]:
    rows = []
    for number, row in csv_rows(path):
        try:
            name, start, end = row
            if not 0 <= float(start) <= float(end) <= MAX_VIDEO_S:
                raise ValueError
            rows.append((name.strip().lower(), Interval(float(start), float(end))))
        except ValueError:
            raise at_line(path, number, f"found {','.join(row)!r}; expected STEP NAME,start_s,end_s") from None
    return rows


def _task_of(path: Path) -> str:
    return path.stem.rpartition("_")[0]


def _task(task: str, names: set[str], steps_of: Mapping[str, list[str]]) -> Task:
    """The task with the step list that holds all annotated step names."""
    for title, steps in steps_of.items():
        if names <= set(steps):
            return Task(task, title, tuple(steps))
    best = max(steps_of, key=lambda title: len(names & set(steps_of[title])))
    unknown = sorted(names - set(steps_of[best]))
    raise InputError(
        f"annotations/{task}_*.csv: step '{unknown[0]}' is in no list of tasks.json that holds the others; add it to '{best}'"
    )
