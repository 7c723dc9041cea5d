"""Files in the videos folder of a corpus that belong to no video: reported, so that a misplaced file is noticed."""

from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path

from crosstask.datasets.corpus_toml import VIDEO_EXTENSIONS, task_folders
from crosstask.datasets.subtitle_folders import EXTENSIONS, video_names
from crosstask.records import Task, folded_name

_BESIDE = {
    *EXTENSIONS,
    ".txt",
    ".md",
    ".jpg",
    ".jpeg",
    ".png",
    ".webp",
    ".description",
    ".ini",
    ".db",
}  # what downloaders and systems leave
_SUBTITLES = {*EXTENSIONS} - {".json"}


def unmatched_files(folder: Path, tasks: Mapping[str, Task]) -> list[str]:
    """A line for everything under `folder/videos` that belongs to no task, and for tasks without videos."""
    videos = folder / "videos"
    found = [path for path in sorted(videos.glob("*")) if not path.name.startswith(".")]
    known = ", ".join(sorted(tasks)[:8]) + (" ..." if len(tasks) > 8 else "")
    lines = []
    loose = [path.name for path in found if not path.is_dir() and _is_video(path)]
    if loose:
        lines.append(f"videos/{_some(loose)}: in no task's folder, so not used; move into videos/TASK/ (tasks: {known})")
    folders = task_folders(folder, tasks)
    used = set(folders.values())
    for path in found:
        if path.is_dir() and path not in used and any(map(_is_video, path.glob("*"))):
            lines.append(f"videos/{path.name}: its videos are not used; corpus.toml has no task '{path.name}' (tasks: {known})")
    for task in sorted(tasks):
        lines += _of_task(task, sorted(folders[task].glob("*")))
    return lines


def _of_task(task: str, paths: list[Path]) -> Iterator[str]:
    seen = [path for path in paths if not path.name.startswith(".")]
    films = [path for path in seen if _is_video(path)]
    strange = [path.name for path in seen if not _is_video(path) and not path.is_dir() and path.suffix.lower() not in _BESIDE]
    if strange:
        yield f"videos/{task}/{_some(strange)}: no known video ending, so not used; expected {' '.join(VIDEO_EXTENSIONS)}"
    if unread := _unread_subtitles(seen, {_name(path) for path in films}):
        yield f"videos/{task}/{_some(unread)}: subtitles without a video there, so not used; expected NAME.vtt or NAME.de.vtt beside NAME.mp4"
    for _, same in groupby(sorted(films, key=_name), key=_name):
        chosen, *others = same
        if others:
            unused = _some([path.name for path in others])
            yield f"videos/{task}/{unused}: not used, as {chosen.name} has the same name; rename it if it is another video than '{chosen.stem}'"
    if not films:
        yield f"task '{task}': no videos in videos/{task}/"


def _unread_subtitles(paths: list[Path], videos: set[str]) -> list[str]:
    """The subtitle files that belong to no video; JSON may be anything, and `localize` writes chapters."""
    subtitles = [path for path in paths if path.suffix.lower() in _SUBTITLES and not path.stem.endswith(".chapters")]
    return [path.name for path in subtitles if videos.isdisjoint(map(folded_name, video_names(path.name)))]


def _name(path: Path) -> str:
    return folded_name(path.stem)


def _is_video(path: Path) -> bool:
    return path.suffix.lower() in VIDEO_EXTENSIONS


def _some(names: list[str]) -> str:
    """Some of the names.

    >>> _some(["a", "b", "c", "d"])
    'a (and 3 more)'
    """
    return names[0] if len(names) == 1 else f"{names[0]} (and {len(names) - 1} more)"
