"""Reading a run folder: the description at once, localizations and scores when they are needed."""

import json
import logging
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from crosstask.records import (
    MAX_VIDEO_S,
    InputError,
    Interval,
    Localization,
    StepInterval,
    Task,
    VideoKey,
    localization_from_json,
)
from crosstask.runs.corrected import StepCounts, count_steps, with_labels
from crosstask.runs.label_changes import RunLabel
from crosstask.runs.labels import LabelStore
from crosstask.runs.record import FORMAT, Run, RunVideo, refuse_outside, scores_path, transcript_path
from crosstask.runs.relevance import note_contents
from crosstask.storage import NotAnArray, file_signature, load_array, read_text

log = logging.getLogger(__name__)
T = TypeVar("T")
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


@dataclass(frozen=True)
class RunFolder:
    """A finished run on disk. Labels of people are read again when they change."""

    folder: Path
    run: Run
    _cache: dict[str, Any] = field(default_factory=dict, init=False, compare=False, repr=False)

    @cached_property
    def labels(self) -> LabelStore:
        """What people said about the steps of the videos."""
        return LabelStore(self.folder, self.run.tasks, {video.key: video.content for video in self.run.videos})

    @cached_property
    def contents(self) -> dict[VideoKey, str]:
        """The digest of the file of each video of the run, where it is known."""
        return {video.key: video.content for video in self.run.videos if video.content is not None}

    def remember(self, name: str, signature: object, compute: Callable[[], T]) -> T:
        """A computed value, which is computed again when its signature, a value that changes with what it depends on, is another."""
        if name not in self._cache or self._cache[name][0] != signature:
            self._cache[name] = (signature, compute())
        return cast(T, self._cache[name][1])

    @cached_property
    def n_segments(self) -> dict[VideoKey, int]:
        """The number of segments of each video of the run."""
        return {video.key: video.n_segments for video in self.run.videos}

    @property
    def results(self) -> Mapping[str, Any]:
        """The results as they are on disk: learning from labels changes them."""
        return self._on_disk.results

    @property
    def _on_disk(self) -> Run:
        """The run as `run.json` describes it now."""
        return self.remember("run", file_signature(self.folder / "run.json"), lambda: open_run(self.folder).run)

    def raise_if_remade(self) -> None:
        """An error if the run on disk has other tasks or videos, or is of another command: it was made again after it was opened here."""
        now, opened = self._on_disk, self.run
        if (now.tasks, now.videos, now.command) != (opened.tasks, opened.videos, opened.command):
            raise InputError(f"{self.folder}: the run was made again after it was opened here; start `crosstask view` again")

    @property
    def machine_signature(self) -> object:
        """A value that changes with the localizations that the machine found."""
        return file_signature(self.folder / "localizations.json")

    @property
    def localizations(self) -> dict[str, dict[VideoKey, Localization]]:
        """Method -> video -> its localization; a step that a person labelled is as the person said, whatever the method found."""
        signature = (self.machine_signature, self.labels.signature())
        return dict(self.remember("corrected", signature, lambda: self._with_labels(self.machine_localizations)))

    def _with_labels(self, machine: dict[str, dict[VideoKey, Localization]]) -> dict[str, dict[VideoKey, Localization]]:
        labels = self.labels.labels()
        if not labels:
            return machine
        return {method: videos | self._labelled(videos, labels) for method, videos in machine.items()}

    def _labelled(
        self, videos: Mapping[VideoKey, Localization], labels: Mapping[VideoKey, Mapping[int, RunLabel]]
    ) -> dict[VideoKey, Localization]:
        """The localizations of the videos with a label, with their labels."""
        found = {key: of_video for key, of_video in labels.items() if key in videos}
        return {key: with_labels(videos[key], of_video, self.n_segments.get(key, 0)) for key, of_video in found.items()}

    @property
    def machine_localizations(self) -> dict[str, dict[VideoKey, Localization]]:
        """Method -> video -> its localization as the machine found it."""
        return dict(self.remember("machine", self.machine_signature, self._read_localizations))

    def counts(self) -> StepCounts:
        """How many steps the main method and people found, and how many a person confirmed or corrected."""
        return self.remember("counts", (self.machine_signature, self.labels.signature()), self._count)

    def _count(self) -> StepCounts:
        """The counts of the machine's answers, which seldom change, and what the labelled videos add to them."""
        videos = self.machine_localizations.get(next(iter(self.run.methods), ""), {})
        of_machine = self.remember("machine counts", self.machine_signature, lambda: count_steps(videos.values()))
        labelled = self._labelled(videos, self.labels.labels())
        return of_machine - count_steps(videos[key] for key in labelled) + count_steps(labelled.values())

    def _read_localizations(self) -> dict[str, dict[VideoKey, Localization]]:
        data = _read_json(self.folder / "localizations.json")
        try:
            found = {
                method: {VideoKey(item["task"], item["video"]): _possible(localization_from_json(item)) for item in items}
                for method, items in data["methods"].items()
            }
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise InputError(f"{self.folder}/localizations.json: damaged ({error}); repeat the command that made it") from None
        self._refuse_other_steps(found)
        return found

    def _refuse_other_steps(self, found: dict[str, dict[VideoKey, Localization]]) -> None:
        """An error for steps that are not those of `run.json`: labels, which are numbered, would go to other steps."""
        for key, localization in ((key, one) for videos in found.values() for key, one in videos.items()):
            task = self.run.tasks.get(key.task)
            if task is not None and tuple(step.name for step in localization.steps) != task.steps:
                raise InputError(
                    f"{self.folder}/localizations.json: task '{key.task}' has other steps than in run.json: the run is being made "
                    "again, or that was interrupted; wait, or repeat the command that makes it, then open it again"
                )

    def scores(self, method: str, key: VideoKey) -> npt.NDArray[np.floating] | None:
        """Scores (T, K) of a video, or None if the run has none."""
        path = scores_path(self.folder, method, key)
        if not path.is_file():
            return None
        try:
            values = load_array(path)
        except (OSError, NotAnArray) as error:
            raise InputError(f"{path}: {error}; repeat the command that made the run") from None
        if values.dtype.kind != "f" or values.ndim != 2:
            raise InputError(f"{path}: {values.dtype} of shape {values.shape}; expected floating point scores (T, K)")
        return values.astype(np.float32)

    def transcript(self, key: VideoKey) -> list[tuple[float, float, str]]:
        """What is said in a video: (start_s, end_s, text) of each line; empty if the run has no transcript of it."""
        path = transcript_path(self.folder, key)
        if not path.is_file():
            return []
        refuse_outside(self.folder, path)
        try:
            lines = [(float(start), float(end), _text(text, "a line")) for start, end, text in _read_json(path)["lines"]]
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"{path}: damaged ({error}); repeat the command that made the run") from None
        if not all(math.isfinite(start) and math.isfinite(end) for start, end, _ in lines):
            raise InputError(f"{path}: damaged (a time is not finite); repeat the command that made the run")
        return lines

    def media(self, video: RunVideo) -> Path | None:
        """The path of the video file, or None if it does not exist."""
        if video.media is None:
            return None
        path = self.folder / video.media
        return path if path.is_file() else None


def open_run(folder: Path) -> RunFolder:
    """The run in a folder."""
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; expected a run folder (the --out of demo, run or experiment cross-task)")
    if not (folder / "run.json").is_file():
        raise InputError(
            f"{folder}: no run.json; expected a run folder (the --out of demo, run or experiment cross-task), finished"
        )
    signature = file_signature(folder / "run.json")  # before it is read, so that a later change is noticed
    data = _read_json(folder / "run.json")
    if data.get("format") != FORMAT:
        raise InputError(f"{folder}/run.json: format {data.get('format')}; this version reads format {FORMAT}")
    try:
        opened = RunFolder(folder, _from_json(data))
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InputError(f"{folder}/run.json: damaged ({error}); repeat the command that made it") from None
    opened.remember("run", signature, lambda: opened.run)
    return opened


def note_replaced_videos(folder: Path, store: LabelStore) -> None:
    """Before a run is written: what people said in its folder is of the files of the run that is there; say where a file is another now."""
    try:
        there = open_run(folder)
    except InputError:  # no run yet, or a damaged one
        there = None
    if there is not None:
        there.labels.note_contents()
        note_contents(folder, there.contents)
    for key, n_labels in store.note_replaced().items():
        log.warning(
            "%s: its file was replaced, so its %d labels are not used; if it shows the same, undo that in `view`, under History",
            key,
            n_labels,
        )


def _read_json(path: Path) -> dict[str, Any]:
    try:
        text = read_text(path, "utf-8")
        data = json.loads(text, parse_constant=_refuse_constant)
        if _ESCAPED_SURROGATE.search(text):
            json.dumps(data, ensure_ascii=False).encode("utf-8")  # raises a ValueError for half of a character
    except (OSError, ValueError, RecursionError):
        raise InputError(f"{path}: missing or not JSON; repeat the command that made the run") from None
    if not isinstance(data, dict):
        raise InputError(f"{path}: not a run description; repeat the command that made the run")
    return data


def _refuse_constant(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number")


def _possible(localization: Localization) -> Localization:
    """The localization itself; ValueError for a time, score or probability that cannot be."""
    for step in localization.steps:
        times = (step.moment_s, step.start_s, step.end_s, *(s for i in step.intervals for s in (i.start_s, i.end_s)))
        probabilities = (p for p in (step.confidence, step.p_shown) if p is not None)
        in_range = all(0 <= time <= MAX_VIDEO_S for time in times) and all(0 <= p <= 1 for p in probabilities)
        if not (in_range and math.isfinite(step.score) and step.start_s <= step.end_s):
            raise ValueError(f"video {localization.video}: step '{step.name}' has an impossible time, score or probability")
    return localization


def _from_json(data: dict[str, Any]) -> Run:
    tasks = {i: _task_from_json(i, task) for i, task in data["tasks"].items()}
    return Run(
        title=_text(data["title"], "title"),
        kind=_text(data["kind"], "kind"),
        command=_text(data["command"], "command"),
        seed=int(data["seed"]),
        synthetic=bool(data["synthetic"]),
        tasks=tasks,
        videos=tuple(_video_from_json(video, tasks) for video in data["videos"]),
        methods=tuple(_text(method, "method") for method in data["methods"]),
        results=dict(data["results"]),
        losses={method: tuple(map(float, losses)) for method, losses in data["losses"].items()},
        settings=dict(data["settings"]),
        notes=tuple(_text(note, "note") for note in data["notes"]),
        version=_text(data.get("version", ""), "version"),
    )


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{name} is {value!r:.60}, not text")
    return value


def _task_from_json(identifier: str, data: dict[str, Any]) -> Task:
    steps = tuple(_text(step, "step") for step in data["steps"])
    return Task(identifier, _text(data["title"], "title"), steps, _text(data.get("url", ""), "url"), bool(data["primary"]))


def _video_from_json(data: dict[str, Any], tasks: Mapping[str, Task]) -> RunVideo:
    n_segments = int(data["n_segments"])
    if not 0 <= n_segments <= MAX_VIDEO_S:
        raise ValueError(f"video {data['video']!r:.60} has {n_segments} segments; expected 0 to {MAX_VIDEO_S}")
    media = None if data["media"] is None else _text(data["media"], "media")
    if data["task"] not in tasks:
        raise ValueError(f"video {data['video']!r:.60} belongs to the unknown task {data['task']!r:.60}")
    n_steps = len(tasks[data["task"]].steps)
    truth, windows = (_intervals_from_json(data[name], n_steps) for name in ("truth", "windows"))
    content = None if data.get("content") is None else _text(data["content"], "content")
    return RunVideo(data["task"], data["video"], n_segments, media, truth, windows, content)


def _intervals_from_json(data: list[list[float]] | None, n_steps: int) -> tuple[StepInterval, ...] | None:
    if data is None:
        return None
    intervals = tuple(StepInterval(int(step), Interval(float(start), float(end))) for step, start, end in data)
    for interval in intervals:
        if not (0 <= interval.step < n_steps and math.isfinite(interval.interval.start_s + interval.interval.end_s)):
            raise ValueError(f"an interval of step {interval.step + 1} of {n_steps} is not valid")
    return intervals
