"""A user's own corpus: `corpus.toml` lists tasks and steps, `videos/TASK/` holds the videos.

    [tasks.latte]
    title = "Make Latte"
    steps = ["grind coffee", "steam milk", "pour milk"]

The id of a video is NAME, or TASK-NAME where different videos of several tasks have one name, upper and lower case being the same: ids name files.
Optional: subtitles `videos/TASK/NAME.vtt` and annotations `annotations/TASK_NAME.csv`. Derived files are kept in `.crosstask/`.
"""

import json
import logging
import re
import tomllib
from collections import ChainMap
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from crosstask.datasets.published_texts import with_published_texts
from crosstask.datasets.release import read_seconds, read_videos
from crosstask.datasets.step_intervals import StepIntervalFiles
from crosstask.datasets.subtitle_folders import SubtitleFolders
from crosstask.datasets.window_files import read_windows
from crosstask.features import NpyFeatures, find_text_side, read_feature_spec
from crosstask.records import (
    Corpus,
    InputError,
    NoFeatures,
    Task,
    Video,
    VideoKey,
    folded_name,
    refuse_escaping_id,
    refuse_unfit_key,
)
from crosstask.storage import MAX_SMALL_BYTES, existing_derived_folder, open_regular, paths_in, read_text, write_text

log = logging.getLogger(__name__)
VIDEO_EXTENSIONS = (".mp4", ".mkv", ".webm", ".mov", ".avi", ".m4v", ".mpg", ".mpeg", ".ts", ".flv", ".wmv", ".3gp")

_COMPARED_BYTES = 1 << 20  # ours: of each end of two video files with one name
_TASK_KEYS = ("title", "steps", "url", "related")


def read_corpus_toml(folder: Path) -> Corpus:
    """The corpus described by `folder/corpus.toml`."""
    tasks = with_published_texts(_read_tasks(folder / "corpus.toml"), folder)
    media = media_files(folder, tasks)
    renamed = {VideoKey(task, video): f"{task}_{path.stem}" for (task, video), path in media.items() if video != path.stem}
    derived = existing_derived_folder(folder, "features")
    features = own_features(folder) or (derived if derived.is_dir() else None)
    subtitles = SubtitleFolders(
        (existing_derived_folder(folder, "subtitles"), *sorted({path.parent for path in media.values()})),
        {path.with_suffix(""): video for (_, video), path in media.items()},
    )
    return Corpus(
        name=folder.resolve().name,
        tasks=tasks,
        videos=_videos(folder, tasks, media, features),
        seconds=read_seconds(folder / "video_seconds.csv"),
        annotations=StepIntervalFiles(folder / "annotations", tasks, renamed),
        windows=ChainMap(
            StepIntervalFiles(folder / "constraints", tasks, renamed),  # type: ignore[arg-type] # as in `read_release`
            read_windows(existing_derived_folder(folder, "constraints"), tasks, subtitles),  # type: ignore[arg-type]
        ),
        subtitles=subtitles,
        features=NpyFeatures(features) if features else NoFeatures(),
        folder=folder,
        feature_spec=read_feature_spec(features) if features else "unknown",
        text_side=find_text_side(features) if features else None,
    )


def own_features(folder: Path) -> Path | None:
    """The user's own folder of features beside `corpus.toml`, which goes before extracted ones; None where it holds none."""
    own = folder / "features"
    return own if any(path.suffix == ".npy" for path in paths_in(own)) else None


_TEXTS_AND_COMMENTS = re.compile(r'"""(?:\\.|[^\\])*?"""|"(?:\\.|[^"\\\n])*"' + r"|'''.*?'''|'[^'\n]*'|#[^\n]*|[ \t]+", re.DOTALL)
_MOST_KEY_PARTS = 20  # of a key a.b.c; the time that Python takes to read one grows with their square


def _parsed(text: str) -> dict[str, Any]:
    """The contents of a TOML document without keys of very many parts."""
    if any(name.count(".") > _MOST_KEY_PARTS for name in re.findall(r"[\w.-]+", _TEXTS_AND_COMMENTS.sub("", text))):
        raise ValueError(f"a key has more than {_MOST_KEY_PARTS} parts")
    return tomllib.loads(text)


def _read_tasks(path: Path) -> dict[str, Task]:
    try:
        data = _parsed(read_text(path, max_bytes=MAX_SMALL_BYTES))
    except UnicodeDecodeError:
        raise InputError("corpus.toml: not UTF-8 text; save it as UTF-8") from None
    except ValueError as error:  # no TOML, or a number of too many digits
        raise InputError(f"corpus.toml: {error}; expected TOML such as [tasks.latte]") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    except RecursionError:
        raise InputError("corpus.toml: nested too deeply; expected TOML such as [tasks.latte]") from None
    tables = data.get("tasks")
    if not isinstance(tables, dict) or not tables:
        raise InputError('corpus.toml: no tasks; expected [tasks.NAME] with steps = ["pour milk", "stir"]')
    first: dict[str, str] = {}
    for identifier in tables:
        if (other := first.setdefault(folded_name(identifier), identifier)) != identifier:
            raise InputError(
                f"corpus.toml: tasks '{other}' and '{identifier}' would have the same files on many disks; rename one"
            )
    return {identifier: _task(identifier, table) for identifier, table in tables.items()}


def _task(identifier: str, table: Any) -> Task:
    refuse_escaping_id(identifier, "task")
    if "_" in identifier:
        raise InputError(f"corpus.toml: task '{identifier}': an underscore would make file names ambiguous; use '-' instead")
    steps = table.get("steps") if isinstance(table, dict) else None
    if not isinstance(steps, list) or not all(isinstance(step, str) for step in steps):
        raise InputError(f'corpus.toml: task \'{identifier}\': steps are missing; expected steps = ["pour milk", "stir"]')
    unknown = next((key for key in table if key not in _TASK_KEYS), None)
    if unknown is not None:
        raise InputError(f"corpus.toml: task '{identifier}': '{unknown}' is unknown; expected {', '.join(_TASK_KEYS)}")
    if not isinstance(related := table.get("related", False), bool):
        raise InputError(
            f"corpus.toml: task '{identifier}': related = {related!r:.40}; expected related = true or false, without quotes"
        )
    return Task(
        id=identifier,
        title=str(table.get("title", identifier)),
        steps=tuple(step.strip() for step in steps),
        url=str(table.get("url", "")),
        primary=not related,
    )


def media_files(folder: Path, tasks: Mapping[str, Task]) -> dict[tuple[str, str], Path]:
    """(task, video id) -> file, for every video under `videos/TASK/`; different videos of one name get ids with their task."""
    found: dict[tuple[str, str], Path] = {}  # by task and folded name
    for task, of_task in task_folders(folder, tasks).items():
        for path in paths_in(of_task):
            if path.suffix.lower() in VIDEO_EXTENSIONS and not path.name.startswith(".") and _fits(task, path.stem):
                found.setdefault((task, folded_name(path.stem)), path)
    return {(task, video): path for (task, video), path in _with_distinct_ids(found).items() if _fits(task, video)}


def task_folders(folder: Path, tasks: Iterable[str]) -> dict[str, Path]:
    """The folder `videos/TASK` of each task; where there is none, one whose name differs in case or the spelling of accented letters alone."""
    spelt = {folded_name(path.name): path for path in paths_in(folder / "videos")}
    named = {task: folder / "videos" / task for task in tasks}
    return {task: path if path.exists() else spelt.get(folded_name(task), path) for task, path in named.items()}


def _fits(task: str, video: str) -> bool:
    """True if a name can be an id; otherwise a warning says why the file is left out."""
    try:
        refuse_unfit_key(VideoKey(task, video))
    except InputError as error:
        log.warning("videos/%s: %s; this file is left out", task, error)
        return False
    return True


def _with_distinct_ids(media: Mapping[tuple[str, str], Path]) -> dict[tuple[str, str], Path]:
    """(task, id) -> file; a name that different videos of several tasks have becomes TASK-NAME, as features are kept by id."""
    first: dict[str, Path] = {}
    shared = {name for (_, name), path in media.items() if not _same_video(first.setdefault(name, path), path)}
    taken = {name for _, name in media}
    return {
        (task, new if name in shared and folded_name(new := f"{task}-{path.stem}") not in taken else path.stem): path
        for (task, name), path in media.items()
    }


def _same_video(one: Path, other: Path) -> bool:
    """True if two files have one name, one size and agree at both ends; a video may be listed under several tasks."""
    if one == other:
        return True
    try:
        return one.stem == other.stem and one.stat().st_size == other.stat().st_size and _ends(one) == _ends(other)
    except OSError:
        return False


def _ends(path: Path) -> tuple[bytes, bytes]:
    with open_regular(path) as file:
        start = file.read(_COMPARED_BYTES)
        file.seek(max(0, path.stat().st_size - _COMPARED_BYTES))
        return start, file.read(_COMPARED_BYTES)


def _videos(
    folder: Path, tasks: Mapping[str, Task], media: Mapping[tuple[str, str], Path], features: Path | None
) -> tuple[Video, ...]:
    """Videos found as files, then those listed only in `videos.csv`."""
    listed = [Video(task, video, str(path.relative_to(folder))) for (task, video), path in media.items()]
    table = folder / "videos.csv"
    if table.exists():
        known = {video.key for video in listed}
        listed += [video for video in read_videos(table, tasks) if video.key not in known]
    return tuple(listed)


def write_corpus_toml(path: Path, tasks: Mapping[str, Task]) -> Path:
    """`path`, now holding the tasks."""
    return write_text(path, corpus_toml_text(tasks))


def corpus_toml_text(tasks: Mapping[str, Task]) -> str:
    """The text of `corpus.toml`; strings are quoted as JSON strings, which are also valid TOML."""
    blocks = []
    for identifier, task in tasks.items():
        steps = ", ".join(json.dumps(step, ensure_ascii=False) for step in task.steps)
        related = "" if task.primary else "related = true\n"
        related += f"url = {json.dumps(task.url, ensure_ascii=False)}\n" if task.url else ""
        blocks.append(
            f"[tasks.{json.dumps(identifier, ensure_ascii=False)}]\ntitle = {json.dumps(task.title, ensure_ascii=False)}\n"
            f"{related}steps = [{steps}]\n"
        )
    return "\n".join(blocks)
