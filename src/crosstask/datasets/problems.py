"""Everything wrong with the files of a corpus, gathered instead of stopping at the first."""

from collections import ChainMap
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

import numpy as np

from crosstask.datasets.release import StepIntervalFiles, csv_rows, read_step_intervals, read_tasks
from crosstask.features import NpyFeatures, read_rows
from crosstask.records import Corpus, InputError, Problem, Task, Video, VideoKey, refuse_escaping_id

T = TypeVar("T")
_ROWS_AT_ONCE = 4096


def problems_of_files(folder: Path) -> tuple[Corpus | None, list[Problem]]:
    """The corpus as far as it can be opened, and the problems of its files, each with its place."""
    problems: list[Problem] = []
    corpus = _tried(lambda: _open(folder), problems, folder.name)
    if corpus is None:
        problems += _problems_of_lists(folder / "crosstask_release")
        return None, problems
    problems += _problems_of_lists(folder / "crosstask_release")
    problems += _tasks_without_videos(corpus)
    problems += _problems_of_intervals(corpus)
    problems += _problems_of_features(corpus)
    return corpus, problems


def _open(folder: Path) -> Corpus:
    from crosstask.datasets import open_corpus

    return open_corpus(folder)


def _tried(read: Callable[[], T], problems: list[Problem], file: str) -> T | None:
    """What was read, or None with its problem noted."""
    try:
        return read()
    except InputError as error:
        problems.append(_problem_from(str(error), file))
    except KeyError as error:
        problems.append(Problem(file, None, f"belongs to no known task or video: {error}"))
    return None


def _problem_from(message: str, file: str) -> Problem:
    """A problem with its file and line taken apart again, where the message begins with them."""
    place, _, rest = message.partition(": ")
    name, comma, line = place.rpartition(", line ")
    if comma and line.isdecimal():
        return Problem(name, int(line), rest)
    return Problem(file, None, message)


def _problems_of_lists(release: Path) -> list[Problem]:
    """Video rows that repeat, name an unknown task, or could not name a file."""
    problems: list[Problem] = []
    tasks: dict[str, Task] = {}
    for name, primary in (("tasks_primary.txt", True), ("tasks_related.txt", False)):
        if (release / name).exists():
            found = _tried(lambda name=name, primary=primary: read_tasks(release / name, primary), problems, name)  # type: ignore[misc]
            tasks |= {task.id: task for task in found or []}
    for name in ("videos.csv", "videos_val.csv"):
        if (release / name).exists():
            problems += _problems_of_rows(release / name, set(tasks))
    return problems


def _problems_of_rows(path: Path, tasks: set[str]) -> list[Problem]:
    problems: list[Problem] = []
    seen: dict[VideoKey, int] = {}
    for line, row in csv_rows(path):
        if len(row) < 2:
            problems.append(Problem(path.name, line, f"found {','.join(row)!r}; expected task,video,url"))
            continue
        key = VideoKey(row[0].strip(), row[1].strip())
        if key.task not in tasks:
            problems.append(Problem(path.name, line, f"task {key.task} is not in the task files"))
        _tried(lambda key=key: refuse_escaping_id(key.video, "video"), problems, path.name)  # type: ignore[misc]
        if key in seen:
            problems.append(Problem(path.name, line, f"{key} is listed twice; first on line {seen[key]}", "warning"))
        seen.setdefault(key, line)
    return problems


def _tasks_without_videos(corpus: Corpus) -> Iterable[Problem]:
    used = {video.task for video in corpus.videos}
    for task in corpus.tasks.values():
        if task.id not in used:
            yield Problem("videos.csv", None, f"task {task.id} '{task.title}' has no videos", "warning")


def _problems_of_intervals(corpus: Corpus) -> list[Problem]:
    """Annotation and window files that cannot be read, or belong to no listed video."""
    problems: list[Problem] = []
    listed = {video.key for video in corpus.videos}
    windows = corpus.windows.maps if isinstance(corpus.windows, ChainMap) else [corpus.windows]
    for files in (corpus.annotations, *windows):
        if not isinstance(files, StepIntervalFiles) or not files.folder.is_dir():
            continue
        for path in sorted(files.folder.glob("*.csv")):
            task, _, video = path.stem.partition("_")
            name = f"{path.parent.name}/{path.name}"
            if VideoKey(task, video) not in listed:
                problems.append(Problem(name, None, "belongs to no listed video", "warning"))
            elif task in corpus.tasks:
                read = lambda path=path, task=task: read_step_intervals(path, corpus.tasks[task])  # noqa: E731
                _tried(read, problems, name)
    return problems


def _problems_of_features(corpus: Corpus) -> list[Problem]:
    """Feature files that are damaged, of another width, transposed, or hold numbers that are none."""
    features = corpus.features
    if not isinstance(features, NpyFeatures):
        return []
    problems: list[Problem] = []
    shapes: dict[str, tuple[int, int]] = {}
    for video in sorted({video.id for video in corpus.videos if video.id in features}):
        file = f"{features.folder.name}/{video}.npy"
        rows = _tried(lambda video=video: read_rows(features.path(video)), problems, file)  # type: ignore[misc]
        if rows is not None:
            shapes[video] = rows.shape
            problems += _bad_numbers(rows, file)
    problems += _odd_widths(shapes, features.folder.name)
    missing = [video for video in corpus.videos if video.id not in features]
    problems += [_missing(video, features.folder.name) for video in missing]
    return problems


def _missing(video: Video, folder: str) -> Problem:
    return Problem(f"{folder}/{video.id}.npy", None, f"missing: {video.key} can neither train nor be judged", "warning")


def _bad_numbers(rows: np.ndarray, file: str) -> Iterable[Problem]:
    for first in range(0, len(rows), _ROWS_AT_ONCE):
        bad = np.argwhere(~np.isfinite(rows[first : first + _ROWS_AT_ONCE]))
        if bad.size:
            yield Problem(file, None, f"row {first + bad[0][0]}, column {bad[0][1]} is NaN or infinite; extract this video again")
            return


def _odd_widths(shapes: dict[str, tuple[int, int]], folder: str) -> Iterable[Problem]:
    """Files whose D is not the commonest one; the ones whose T is look transposed."""
    if not shapes:
        return
    widths = [width for _, width in shapes.values()]
    usual = max(sorted(set(widths)), key=widths.count)
    for video, (length, width) in sorted(shapes.items()):
        if width == usual:
            continue
        if length == usual:
            message = f"shape ({length}, {width}) looks transposed, (D, T); expected (T, {usual}): save its transpose"
        else:
            message = f"{width} columns; the other videos have {usual}"
        yield Problem(f"{folder}/{video}.npy", None, message)
