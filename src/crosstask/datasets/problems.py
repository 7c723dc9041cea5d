"""All problems of the files of a corpus, collected instead of stopping at the first."""

from collections import ChainMap
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

import numpy as np

from crosstask.datasets.release import read_tasks
from crosstask.datasets.step_intervals import StepIntervalFiles, read_step_intervals
from crosstask.datasets.text_files import csv_rows
from crosstask.datasets.window_files import WindowFiles
from crosstask.features import NpyFeatures, NpzFeatures
from crosstask.records import (
    Corpus,
    InputError,
    Problem,
    Progress,
    Task,
    Video,
    VideoKey,
    no_progress,
    refuse_escaping_id,
    unlike_others,
)
from crosstask.storage import paths_in

T = TypeVar("T")
_ROWS_AT_ONCE = 4096  # bounds the memory of the check of values


def problems_of_files(folder: Path, progress: Progress = no_progress) -> tuple[Corpus | None, list[Problem]]:
    """The corpus, or None if it cannot be opened, and the problems of its files with file and line."""
    problems: list[Problem] = []
    corpus = _read_or_report(lambda: _open(folder), problems, folder.name)
    if corpus is None:
        problems += _problems_of_lists(folder / "crosstask_release")
        return None, problems
    problems += _problems_of_lists(folder / "crosstask_release")
    problems += _tasks_without_videos(corpus)
    problems += _problems_of_intervals(corpus)
    problems += _problems_of_features(corpus, progress)
    return corpus, problems


def _open(folder: Path) -> Corpus:
    from crosstask.datasets import open_corpus

    return open_corpus(folder)


def _read_or_report(read: Callable[[], T], problems: list[Problem], file: str) -> T | None:
    """The value that `read` returns, or None after appending its error to `problems`."""
    try:
        return read()
    except InputError as error:
        problems.append(_problem_from(str(error), file))
    except KeyError as error:
        problems.append(Problem(file, None, f"belongs to no known task or video: {error}"))
    return None


def _problem_from(message: str, file: str) -> Problem:
    """The problem of an error message, with file and line split off if the message starts with them."""
    place, _, rest = message.partition(": ")
    name, comma, line = place.rpartition(", line ")
    if comma and line.isdecimal():
        return Problem(name, int(line), rest)
    return Problem(file, None, rest if Path(place).name == file else message)


def _problems_of_lists(release: Path) -> list[Problem]:
    """Problems of the task and video lists: repeated rows, unknown tasks, ids that are not valid file names."""
    problems: list[Problem] = []
    tasks: dict[str, Task] = {}
    for name, primary in (("tasks_primary.txt", True), ("tasks_related.txt", False)):
        if (release / name).exists():
            found = _read_or_report(lambda name=name, primary=primary: read_tasks(release / name, primary), problems, name)  # type: ignore[misc]
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
        _read_or_report(lambda key=key: refuse_escaping_id(key.video, "video"), problems, path.name)  # type: ignore[misc]
        if key in seen:
            problems.append(Problem(path.name, line, f"{key} is listed twice; first on line {seen[key]}", "warning"))
        seen.setdefault(key, line)
    return problems


def _tasks_without_videos(corpus: Corpus) -> Iterable[Problem]:
    used = {video.task for video in corpus.videos}
    listing = "corpus.toml" if corpus.folder and (corpus.folder / "corpus.toml").is_file() else "videos.csv"
    for task in corpus.tasks.values():
        if task.id not in used:
            yield Problem(listing, None, f"task {task.id} '{task.title}' has no videos", "warning")


def _problems_of_intervals(corpus: Corpus) -> list[Problem]:
    """Annotation and window files that cannot be read or belong to no listed video."""
    problems: list[Problem] = []
    windows = corpus.windows.maps if isinstance(corpus.windows, ChainMap) else [corpus.windows]
    for files in (corpus.annotations, *windows):
        if not isinstance(files, StepIntervalFiles):
            continue
        if isinstance(files, WindowFiles):
            _read_or_report(files.refuse_unfinished, problems, files.folder.name)
        listed = {files.path(video.key): video.task for video in corpus.videos}
        for path in paths_in(files.folder):
            if path.suffix != ".csv":
                continue
            name, task = f"{path.parent.name}/{path.name}", listed.get(path)
            if task is None:
                problems.append(Problem(name, None, "belongs to no listed video", "warning"))
            elif task in files.tasks:  # windows of other steps than the task has now are not used
                read = lambda path=path, task=task: read_step_intervals(path, corpus.tasks[task])  # noqa: E731
                _read_or_report(read, problems, name)
    return problems


def _problems_of_features(corpus: Corpus, progress: Progress) -> list[Problem]:
    """Feature files that are unreadable, transposed, of a different number of columns or size of values, or not finite; videos without features."""
    features = corpus.features
    if not isinstance(features, NpyFeatures | NpzFeatures):
        return []
    problems: list[Problem] = []
    shapes: dict[str, tuple[int, int]] = {}
    largest: dict[str, float] = {}
    videos = sorted({video.id for video in corpus.videos if video.id in features})
    with progress("checking features", len(videos)) as advance:
        for video in videos:
            file = f"{features.path(video).parent.name}/{features.path(video).name}"
            rows = _read_or_report(lambda video=video: features.rows(video), problems, file)  # type: ignore[misc]
            if rows is not None:
                shapes[file] = rows.shape
                largest[file], impossible = _largest_value(rows, file)
                problems += impossible
            advance()
    problems += _inconsistent_widths(shapes)
    problems += _inconsistent_sizes(largest)
    place = f"{features.folder.name}/{{}}.npy" if isinstance(features, NpyFeatures) else "{}"
    problems += [_missing(video, place.format(video.id)) for video in corpus.videos if video.id not in features]
    return problems


def _missing(video: Video, file: str) -> Problem:
    return Problem(
        file, None, f"missing: features of {video.key}, which is used neither for training nor for evaluation", "warning"
    )


def _largest_value(rows: np.ndarray, file: str) -> tuple[float, list[Problem]]:
    """The largest absolute value, and the first value that training refuses: NaN, infinite, or beyond float32."""
    largest = 0.0
    for first in range(0, len(rows), _ROWS_AT_ONCE):
        some = rows[first : first + _ROWS_AT_ONCE]
        with np.errstate(over="ignore"):
            sizes = np.abs(some.astype(np.float32))
        bad = np.argwhere(~np.isfinite(sizes))
        if bad.size:
            value = some[tuple(bad[0])]
            what = f"{value:.3g}, too large for float32: scale the features, or" if np.isfinite(value) else "NaN or infinite;"
            return 0.0, [Problem(file, None, f"row {first + bad[0][0]}, column {bad[0][1]} is {what} extract this video again")]
        largest = max(largest, float(sizes.max()))
    return largest, []


def _inconsistent_sizes(largest: dict[str, float]) -> Iterable[Problem]:
    """Files whose values are far larger than those of the other videos, or too large to be squared."""
    for file, reason in unlike_others(largest).items():
        yield Problem(file, None, f"{reason}: scale the features, or extract this video again", "warning")


def _inconsistent_widths(shapes: dict[str, tuple[int, int]]) -> Iterable[Problem]:
    """Files whose D differs from the most frequent one; a file whose T equals it is probably transposed."""
    if not shapes:
        return
    widths = [width for _, width in shapes.values()]
    common_width = max(sorted(set(widths)), key=widths.count)
    for file, (length, width) in sorted(shapes.items()):
        if width == common_width:
            continue
        if length == common_width:
            message = f"shape ({length}, {width}) looks transposed, (D, T); expected (T, {common_width}): save its transpose"
        else:
            message = f"{width} columns; the other videos have {common_width}"
        yield Problem(file, None, message)
