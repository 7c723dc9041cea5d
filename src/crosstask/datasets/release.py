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

import json
import logging
import math
from collections import ChainMap
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from crosstask.datasets.published_texts import with_published_texts, write_published_texts
from crosstask.datasets.subtitle_folders import SubtitleFolders
from crosstask.datasets.text_files import csv_rows, read_text
from crosstask.features import NpyFeatures, find_text_side, read_feature_spec
from crosstask.records import (
    Corpus,
    InputError,
    Interval,
    Narration,
    NoFeatures,
    StepInterval,
    Task,
    Video,
    VideoKey,
    at_line,
    parse_video_key,
    refuse_escaping_id,
    refuse_unfit_key,
)
from crosstask.storage import csv_text, existing_derived_folder, paths_in, raise_if_disk_failed, write_json, write_text
from crosstask.storage import read_text as storage_text

log = logging.getLogger(__name__)
STEPS_FILE = "steps.json"  # beside windows that we made: the steps of each task, which they number, and digests of the subtitles
NO_SUBTITLES = SubtitleFolders(())
_SHORTEST_S = 0.001  # ours: times are written to the millisecond, unless they would be 0
_NAMED = 5  # tasks that a warning lists
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
            raise at_line(path, line, f"task {task} is not in the task files")
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


def read_step_intervals(path: Path, task: Task) -> tuple[StepInterval, ...]:
    """The step intervals of an annotation or constraint file; steps are numbered from 1 on disk, from 0 in memory."""
    return tuple(_step_interval(path, line, row, task) for line, row in csv_rows(path))


def _step_interval(path: Path, line: int, row: list[str], task: Task) -> StepInterval:
    try:
        step, start_s, end_s = int(row[0]), float(row[1]), float(row[2])
    except (ValueError, IndexError):
        raise at_line(path, line, f"found {','.join(row)!r}; expected step,start,end, e.g. 2,10.5,14") from None
    if not 1 <= step <= len(task.steps):
        raise at_line(path, line, f"step {step} does not exist; '{task.title}' has {len(task.steps)}, numbered from 1")
    if not (math.isfinite(start_s) and math.isfinite(end_s) and start_s <= end_s and end_s > 0):
        raise at_line(path, line, f"runs from {row[1]} to {row[2]}; expected start before end, in seconds")
    return StepInterval(step - 1, Interval(max(0.0, start_s), end_s))


@dataclass(frozen=True)
class StepIntervalFiles(Mapping[VideoKey, tuple[StepInterval, ...]]):
    """Step intervals by video from the files `TASK_VIDEO.csv` of a folder, read lazily."""

    folder: Path
    tasks: Mapping[str, Task]
    renamed: Mapping[VideoKey, str] = field(default_factory=dict)  # key -> name of its file without .csv, where it is not the key

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(self._usable_names())

    def _usable_names(self) -> set[str]:
        return {path.name for path in paths_in(self.folder) if path.suffix == ".csv"}

    def path(self, key: VideoKey) -> Path:
        """Path of a video's file."""
        own = self.folder / f"{key}.csv"
        return self.folder / f"{self.renamed[key]}.csv" if key in self.renamed and own.name not in self._names else own

    def __contains__(self, key: object) -> bool:
        """True if the video has a file, and its task is known."""
        return isinstance(key, VideoKey) and key.task in self.tasks and self.path(key).name in self._names

    def __getitem__(self, key: VideoKey) -> tuple[StepInterval, ...]:
        """The step intervals of a video."""
        if key not in self:
            raise KeyError(key)
        return read_step_intervals(self.path(key), self.tasks[key.task])

    def __iter__(self) -> Iterator[VideoKey]:
        """The keys of the files that belong to a known task, sorted."""
        keys = {name: key for key, name in self.renamed.items()}
        for name in sorted(self._names):
            stem = name.removesuffix(".csv")
            if (key := _key_of(stem, self.tasks)) is not None:
                yield keys.get(stem, key)

    def __len__(self) -> int:
        """Number of files that belong to a known task."""
        return sum(1 for _ in self)


@dataclass(frozen=True)
class WindowFiles(StepIntervalFiles):
    """Windows that we made, without those of subtitles that are gone or changed since."""

    subtitles: Mapping[str, Narration] = field(default_factory=dict)
    made_from: Mapping[str, str] = field(default_factory=dict)  # TASK_VIDEO -> digest of its subtitles then, where it is known

    def _usable_names(self) -> set[str]:
        return {name for name in super()._usable_names() if self._is_current(name.removesuffix(".csv"))}

    def _is_current(self, stem: str) -> bool:
        """True unless the subtitles that a file was made from are known, and gone or changed."""
        key, made_from = _key_of(stem, self.tasks), self.made_from.get(stem)
        return key is None or made_from is None or made_from == _digest(self.subtitles, key)


def _key_of(stem: str, tasks: Container[str]) -> VideoKey | None:
    """The video of one of the tasks whose file has this name; None for other files."""
    try:
        key = parse_video_key(stem, tasks)
    except InputError:
        return None
    return key if key.task in tasks else None


def _digest(subtitles: Mapping[str, Narration], key: VideoKey) -> str | None:
    return subtitles.digest(key.video) if isinstance(subtitles, SubtitleFolders) else None


def read_windows(folder: Path, tasks: Mapping[str, Task], subtitles: Mapping[str, Narration] = NO_SUBTITLES) -> WindowFiles:
    """The windows that `write_windows` wrote; those of other steps, which they number, are left out with a warning, and of other subtitles."""
    steps, made_from = _origin_of_windows(folder)
    outdated = sorted(name for name, task in tasks.items() if steps.get(name, task.steps) != task.steps)
    if outdated:
        log.warning(
            "the windows of %s were made for other steps and are not used: `crosstask narrate` or `crosstask run` makes new ones",
            ", ".join(outdated[:_NAMED]) + (f" and {len(outdated) - _NAMED} more tasks" if len(outdated) > _NAMED else ""),
        )
    known = {name: task for name, task in tasks.items() if name not in outdated}
    return WindowFiles(folder, known, subtitles=subtitles, made_from=made_from)


def write_windows(
    folder: Path,
    tasks: Mapping[str, Task],
    windows: Mapping[VideoKey, Iterable[StepInterval]],
    subtitles: Mapping[str, Narration] = NO_SUBTITLES,
    kept: Container[VideoKey] = frozenset(),
) -> None:
    """Write windows, the steps they are for and the digests of the subtitles they are of.

    Others in the folder are removed, except those of `kept` videos whose tasks have the same steps.
    """
    steps, before = _origin_of_windows(folder)
    there = sorted(folder.glob("*.csv"))
    if there and not (folder / STEPS_FILE).is_file():
        raise InputError(
            f"{folder}: {there[0].name} would be removed, and no {STEPS_FILE} shows that `narrate` wrote it; move these files away"
        )
    written = {str(key): digest for key in windows if (digest := _digest(subtitles, key)) is not None}
    names = {f"{key}.csv" for key in windows}
    for path in there:
        key = _key_of(path.stem, tasks)
        same = key is not None and steps.get(key.task, tasks[key.task].steps) == tasks[key.task].steps
        rewritten = path.name in names and before.get(path.stem) == written.get(path.stem)
        if not same or not (rewritten or key in kept):  # windows of other steps and subtitles go before the new ones are recorded
            path.unlink(missing_ok=True)
    still = {name: digest for name, digest in before.items() if (folder / f"{name}.csv").is_file()} | written
    numbered = {name: list(task.steps) for name, task in sorted(tasks.items())}
    write_json(folder / STEPS_FILE, {"format": 1, "tasks": numbered, "subtitles": dict(sorted(still.items()))})
    for key, intervals in sorted(windows.items()):
        write_step_intervals(folder / f"{key}.csv", intervals)


def _origin_of_windows(folder: Path) -> tuple[dict[str, tuple[str, ...]], dict[str, str]]:
    """Task -> the steps that the windows in a folder number, and TASK_VIDEO -> the digest of its subtitles then; empty where not recorded."""
    try:
        data = json.loads(storage_text(folder / STEPS_FILE, "utf-8"))
        steps = {name: tuple(map(str, steps)) for name, steps in data["tasks"].items()}
        return steps, {str(name): str(digest) for name, digest in data.get("subtitles", {}).items()}
    except OSError as error:
        raise_if_disk_failed(error)
        return {}, {}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise InputError(f"{folder / STEPS_FILE}: damaged; delete {folder}, and `crosstask narrate` makes it again") from None


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


def write_step_intervals(path: Path, intervals: Iterable[StepInterval]) -> Path:
    """`path`, now holding the annotation or the windows of a video in the published format."""
    lines = (f"{s.step + 1},{_format_seconds(s.interval.start_s)},{_format_seconds(s.interval.end_s)}\n" for s in intervals)
    return write_text(path, "".join(lines))


def _format_seconds(value: float) -> str:
    digits = 3 if value == 0 or value >= _SHORTEST_S else 12  # an interval must not end at 0
    return f"{value:.{digits}f}".rstrip("0").rstrip(".")
