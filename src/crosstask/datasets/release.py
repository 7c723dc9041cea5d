"""Reader and writer of the published CrossTask layout.

crosstask_release/tasks_primary.txt   blocks of five lines and a blank line: id, title, URL, number of steps, comma-separated steps
crosstask_release/tasks_related.txt   the same
crosstask_release/videos.csv          task,video,url
crosstask_release/videos_val.csv      the same, the validation videos
crosstask_release/video_seconds.csv   video,T (our addition: gives T where features are missing)
crosstask_release/annotations/TASK_VIDEO.csv      step (from 1), start in s, end in s
crosstask_constraints/TASK_VIDEO.csv              the same: narration windows
crosstask_features/VIDEO.npy                      (T, D), one row per second
crosstask_subtitles/VIDEO.vtt, .srt, .json
published.json                                    descriptions and partial order of the steps (`published_texts.py`), where there are any
"""

import logging
from collections import ChainMap
from collections.abc import Iterable, Mapping
from pathlib import Path

from crosstask.datasets.published_texts import with_published_texts, write_published_texts
from crosstask.datasets.step_intervals import StepIntervalFiles, write_step_intervals
from crosstask.datasets.subtitle_folders import SubtitleFolders
from crosstask.datasets.text_files import csv_rows, read_text
from crosstask.datasets.window_files import read_windows
from crosstask.features import NpyFeatures, find_text_side, read_feature_spec
from crosstask.records import (
    Corpus,
    InputError,
    NoFeatures,
    Task,
    Video,
    VideoKey,
    at_line,
    parse_video_key,
    refuse_escaping_id,
    refuse_unfit_key,
)
from crosstask.storage import csv_text, existing_derived_folder, write_text

log = logging.getLogger(__name__)
_MAX_DIGITS = 6  # of T in seconds, eleven days; larger values are refused, as arrays of length T are allocated


def read_release(folder: Path) -> Corpus:
    """The corpus in a folder of the published layout; annotations, windows and features are read lazily."""
    release = folder / "crosstask_release"
    if not (release / "tasks_primary.txt").exists():
        raise InputError(f"{folder}: no crosstask_release/tasks_primary.txt; expected the published layout or a corpus.toml")
    tasks = with_published_texts(_tasks_of(release), folder)
    videos = read_videos(release / "videos.csv", tasks)
    validation = release / "videos_val.csv"
    features = folder / "crosstask_features"
    subtitles = SubtitleFolders((folder / "crosstask_subtitles",))
    return Corpus(
        name=folder.resolve().name,
        tasks=tasks,
        videos=videos,
        validation=frozenset(v.key for v in read_videos(validation, tasks)) if validation.exists() else frozenset(),
        seconds=read_seconds(release / "video_seconds.csv"),
        annotations=StepIntervalFiles(release / "annotations", tasks),
        windows=ChainMap(
            StepIntervalFiles(folder / "crosstask_constraints", tasks),  # type: ignore[arg-type] # a ChainMap asks for mutable mappings; these are only read
            read_windows(existing_derived_folder(folder, "constraints"), tasks, subtitles),  # type: ignore[arg-type]
        ),
        subtitles=subtitles,
        features=NpyFeatures(features) if features.is_dir() else NoFeatures(),
        folder=folder,
        feature_spec=read_feature_spec(features),
        text_side=find_text_side(features),
    )


def _tasks_of(release: Path) -> dict[str, Task]:
    """The tasks of both files by id; an error for an id with two step lists, since annotations and windows number steps."""
    tasks: dict[str, Task] = {}
    for path, primary in ((release / "tasks_primary.txt", True), (release / "tasks_related.txt", False)):
        for task in read_tasks(path, primary) if path.exists() else ():
            if (other := tasks.setdefault(task.id, task)).steps != task.steps:
                raise InputError(
                    f"{path.name}: task {task.id} is '{other.title}' and '{task.title}', with other steps; rename one"
                )
    return tasks


def read_tasks(path: Path, primary: bool) -> list[Task]:
    """The tasks of a task file, in file order."""
    lines = [line.strip() for line in read_text(path).split("\n")]
    tasks: list[Task] = []
    at = 0
    while at < len(lines):
        if not lines[at]:
            at += 1
            continue
        tasks.append(_task_at(path, lines, at, primary))
        at += 5
    return tasks


def _task_at(path: Path, lines: list[str], at: int, primary: bool) -> Task:
    """The task whose block starts at line `at` (from 0)."""
    block = lines[at : at + 5]
    if len(block) < 5 or not block[4]:
        raise at_line(path, at + 1, f"task {block[0]} is cut short; expected five lines: id, title, url, number of steps, steps")
    identifier, title, url, count, names = block
    refuse_escaping_id(identifier, "task")
    steps = tuple(name.strip() for name in names.split(","))
    if count.lstrip("0") != str(len(steps)):
        raise at_line(path, at + 4, f"'{title}' announces {count!r} steps but lists {len(steps)}")
    if not all(steps):
        raise at_line(path, at + 5, f"'{title}' has an empty step; expected names separated by single commas")
    return Task(id=identifier, title=title, steps=steps, url=url, primary=primary)


def read_videos(path: Path, tasks: Mapping[str, Task]) -> tuple[Video, ...]:
    """The videos of a list; a row of an unknown task is an error, repeated rows count once."""
    videos: dict[str, Video] = {}  # by the name of their files
    for line, row in csv_rows(path):
        if len(row) < 2:
            raise at_line(path, line, f"found {','.join(row)!r}; expected task,video,url")
        task, video = row[0].strip(), row[1].strip()
        if task not in tasks:
            raise at_line(
                path, line, f"task {task} is not in the lists of tasks; expected rows task,video,address, without a head"
            )
        name = str(refuse_unfit_key(VideoKey(task, video)))
        if (other := parse_video_key(name, tasks)).task != task:  # ids of tasks may hold underscores
            raise at_line(
                path,
                line,
                f"the files {name} of video {video} of task {task} would be those of {other.video} of {other.task}: rename one",
            )
        videos.setdefault(name, Video(task, video, row[2].strip() if len(row) > 2 else ""))
    return tuple(videos.values())


def read_seconds(path: Path) -> dict[str, int]:
    """T of each video listed in the file; empty if there is no such file."""
    if not path.exists():
        return {}
    seconds = {}
    for line, row in csv_rows(path):
        length = row[1].strip() if len(row) == 2 else ""
        if not length.isdecimal() or len(length) > _MAX_DIGITS:
            raise at_line(path, line, f"found {','.join(row)[:80]!r}; expected video,T with T in seconds")
        seconds[row[0].strip()] = int(length)  # `length` is stripped: int() ignores fewer kinds of white space than strip()
    return seconds


def write_release(corpus: Corpus, folder: Path) -> None:
    """Write tasks, videos, lengths, annotations and windows in the published layout; `write_rows` writes the features."""
    release = folder / "crosstask_release"
    primary = [task for task in corpus.tasks.values() if task.primary]
    related = [task for task in corpus.tasks.values() if not task.primary]
    write_text(release / "tasks_primary.txt", _tasks_text(primary))
    write_text(release / "tasks_related.txt", _tasks_text(related))
    write_published_texts(corpus.tasks.values(), folder)
    write_text(release / "videos.csv", videos_text(corpus.videos))
    write_text(release / "videos_val.csv", videos_text(v for v in corpus.videos if v.key in corpus.validation))
    known = sorted({video.id: corpus.n_segments(video) for video in corpus.videos if corpus.knows_length(video)}.items())
    write_text(release / "video_seconds.csv", csv_text(known))
    for video in corpus.videos:
        if video.key in corpus.annotations:
            write_step_intervals(release / "annotations" / f"{video.key}.csv", corpus.annotations[video.key])
        if video.key in corpus.windows:
            write_step_intervals(folder / "crosstask_constraints" / f"{video.key}.csv", corpus.windows[video.key])


def _tasks_text(tasks: Iterable[Task]) -> str:
    for task in (tasks := list(tasks)):
        if any("," in step for step in task.steps):
            raise InputError(
                f"task '{task.title}': a step name holds a comma, which separates steps in the published layout; rename the step"
            )
    return "".join(
        f"{t.id}\n{one_line(t.title)}\n{one_line(t.url)}\n{len(t.steps)}\n{','.join(map(one_line, t.steps))}\n\n" for t in tasks
    )


def one_line(text: str) -> str:
    """A text without line breaks, which separate entries in the published layout."""
    return " ".join(text.split())


def videos_text(videos: Iterable[Video]) -> str:
    """The text of a video list: lines `task,video,url`."""
    return csv_text((video.task, video.id, one_line(video.url)) for video in videos)
