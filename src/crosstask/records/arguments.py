"""Checks of what a caller of the Python API passes: an argument of the wrong type or out of range is an InputError that names it."""

import math
import operator
import os
from collections.abc import Hashable, Iterable
from pathlib import Path
from typing import Any, cast

import numpy as np

from crosstask.records.corpus import Corpus
from crosstask.records.problem import InputError
from crosstask.records.video import Video, VideoKey, parse_video_key, refuse_escaping_id

_LONGEST_NAME = 255  # bytes of a file's name, on all usual disks


def path_argument(value: Any, what: str) -> Path:
    """The path that an argument names; `what` says what is expected there.

    >>> path_argument("kitchen", "the folder of a corpus").name
    'kitchen'
    >>> path_argument(7, "the folder of a corpus")
    Traceback (most recent call last):
    crosstask.records.problem.InputError: 7: a int is not a path; expected the folder of a corpus, as text or a Path
    """
    if not isinstance(value, str | os.PathLike) or isinstance(os.fspath(value), bytes):
        raise InputError(f"{value!r:.60}: a {type(value).__name__} is not a path; expected {what}, as text or a Path")
    path = Path(value)
    try:
        unfit = b"\0" in os.fsencode(path) or not os.fspath(value)
    except UnicodeEncodeError:
        unfit = True
    if unfit:
        raise InputError(f"{str(value)!r:.60} cannot be a path; expected {what}")
    if any(len(os.fsencode(part)) > _LONGEST_NAME for part in path.parts):
        raise InputError(f"{value!s:.60}...: a name that is too long for a file; expected {what}")
    return path


def corpus_argument(value: Any) -> Corpus:
    """The corpus itself; InputError for anything else, and for ids that a model file or a run folder could not hold."""
    if not isinstance(value, Corpus):
        raise InputError(f"a {type(value).__name__} is not a corpus; expected what open_corpus(FOLDER) returns")
    for name, task in value.tasks.items():
        if refuse_escaping_id(task.id, "task") != name:
            raise InputError(f"task id {task.id!r:.60} under {name!r:.60}; expected a mapping from ids to their tasks")
    for video in value.videos:
        refuse_escaping_id(video.id, "video")
        if video.task not in value.tasks:
            raise InputError(f"video {video.id}: its task {video.task!r:.60} is not in corpus '{value.name}'")
    return value


def whole_argument(value: Any, name: str, least: int = 0, most: int | None = None) -> int:
    """The whole number of an argument, NumPy's integers too.

    >>> whole_argument(-1, "seed")
    Traceback (most recent call last):
    crosstask.records.problem.InputError: seed is -1; expected a whole number of at least 0
    """
    wanted = f"a whole number of at least {least}" if most is None else f"a whole number from {least} to {most}"
    try:
        number = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = None
    if number is None or number < least or (most is not None and number > most):
        raise InputError(f"{name} is {value!r:.60}; expected {wanted}")
    return number


def choice_argument(value: Any, name: str, choices: Iterable[str]) -> str | None:
    """The chosen name, or None where nothing is chosen.

    >>> choice_argument("nosuch", "decoder", ["once", "free"])
    Traceback (most recent call last):
    crosstask.records.problem.InputError: decoder 'nosuch' is unknown; expected one of once, free
    """
    listed = list(choices)
    if value is None or (isinstance(value, str) and value in listed):
        return value
    raise InputError(f"{name} {value!r:.60} is unknown; expected one of {', '.join(listed)}")


def text_argument(value: Any, name: str, expected: str) -> str:
    """The text of an argument; `expected` says what it is for.

    >>> text_argument(7, "title", "the title of a task")
    Traceback (most recent call last):
    crosstask.records.problem.InputError: title is 7; expected the title of a task, as text
    """
    if not isinstance(value, str):
        raise InputError(f"{name} is {value!r:.60}; expected {expected}, as text")
    return value


def flag_argument(value: Any, name: str) -> bool:
    """The truth value of an argument; a text such as "no", which would count as true, is refused.

    >>> flag_argument("no", "narration")
    Traceback (most recent call last):
    crosstask.records.problem.InputError: narration is 'no'; expected True or False
    """
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"{name} is {value!r:.60}; expected True or False")
    return bool(value)


def number_argument(value: Any, name: str) -> float:
    """The finite number of an argument."""
    try:
        number = math.nan if isinstance(value, bool | str | bytes) else float(cast(float, value))
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise InputError(f"{name} is {value!r:.60}; expected a finite number")
    return number


def list_argument(value: Any, name: str) -> list[Any]:
    """The elements of an argument that lists videos; a text alone, whose letters would be taken for videos, is refused.

    >>> list_argument("1_abc", "videos")
    Traceback (most recent call last):
    crosstask.records.problem.InputError: videos is '1_abc'; expected a list of videos, each TASK_VIDEO
    """
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise InputError(f"{name} is {value!r:.60}; expected a list of videos, each TASK_VIDEO")
    listed = list(value)
    if (unfit := next((one for one in listed if not isinstance(one, Hashable)), None)) is not None:
        raise InputError(f"{name} lists {unfit!r:.60}; expected videos, each TASK_VIDEO")
    return listed


def videos_argument(value: Any, corpus: Corpus) -> list[Video]:
    """The videos of a corpus that `videos` lists by their keys, in the order of the corpus."""
    listed = list_argument(value, "videos")
    if corpus.videos and not listed:
        raise InputError("videos is an empty list; expected at least one TASK_VIDEO, or None for the default")
    keys = [one.key if isinstance(one, Video) else one for one in listed]
    wanted = {key if isinstance(key, VideoKey) else parse_video_key(key, corpus.tasks) for key in keys}
    found = [video for video in corpus.videos if video.key in wanted]
    if missing := sorted(map(str, wanted - {video.key for video in found})):
        raise InputError(f"video {missing[0]} is not in corpus '{corpus.name}'; expected TASK_VIDEO of its list")
    return found
