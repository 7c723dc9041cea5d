"""Reading a run folder: the description at once, localizations and scores when they are needed."""

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from crosstask.records import (
    InputError,
    Interval,
    Localization,
    StepInterval,
    Task,
    VideoKey,
    localization_from_json,
    refuse_escaping_id,
)
from crosstask.runs.record import FORMAT, Run, RunVideo
from crosstask.storage import NotAnArray, map_array


@dataclass(frozen=True)
class RunFolder:
    """A finished run on disk."""

    folder: Path
    run: Run

    @cached_property
    def localizations(self) -> dict[str, dict[VideoKey, Localization]]:
        """Method -> video -> its localization."""
        data = _read_json(self.folder / "localizations.json")
        try:
            return {
                method: {VideoKey(item["task"], item["video"]): localization_from_json(item) for item in items}
                for method, items in data["methods"].items()
            }
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise InputError(f"{self.folder}/localizations.json: damaged ({error}); repeat the command that made it") from None

    def scores(self, method: str, key: VideoKey) -> npt.NDArray[np.floating] | None:
        """Scores (T, K) of a video, or None if the run has none."""
        refuse_escaping_id(method, "method")
        refuse_escaping_id(str(key), "video")
        path = self.folder / "scores" / method / f"{key}.npy"
        if not path.is_file():
            return None
        try:
            values = map_array(path)
        except (OSError, NotAnArray) as error:
            raise InputError(f"{path}: {error}; repeat the command that made the run") from None
        if values.dtype.kind != "f" or values.ndim != 2:
            raise InputError(f"{path}: {values.dtype} of shape {values.shape}; expected floating point scores (T, K)")
        return values.astype(np.float32)

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
    data = _read_json(folder / "run.json")
    if data.get("format") != FORMAT:
        raise InputError(f"{folder}/run.json: format {data.get('format')}; this version reads format {FORMAT}")
    try:
        return RunFolder(folder, _from_json(data))
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InputError(f"{folder}/run.json: damaged ({error}); repeat the command that made it") from None


def _read_json(path: Path) -> dict[str, Any]:
    try:
        data = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        raise InputError(f"{path}: missing or not JSON; repeat the command that made the run") from None
    if not isinstance(data, dict):
        raise InputError(f"{path}: not a run description; repeat the command that made the run")
    return data


def _from_json(data: dict[str, Any]) -> Run:
    tasks = {i: Task(i, t["title"], tuple(t["steps"]), t.get("url", ""), bool(t["primary"])) for i, t in data["tasks"].items()}
    return Run(
        title=data["title"],
        kind=data["kind"],
        command=data["command"],
        seed=data["seed"],
        synthetic=bool(data["synthetic"]),
        tasks=tasks,
        videos=tuple(_video_from_json(video) for video in data["videos"]),
        methods=tuple(data["methods"]),
        results=data["results"],
        losses={method: tuple(losses) for method, losses in data["losses"].items()},
        settings=data["settings"],
        notes=tuple(data["notes"]),
        version=data.get("version", ""),
    )


def _video_from_json(data: dict[str, Any]) -> RunVideo:
    refuse_escaping_id(data["video"], "video")
    truth, windows = _intervals_from_json(data["truth"]), _intervals_from_json(data["windows"])
    return RunVideo(data["task"], data["video"], int(data["n_segments"]), data["media"], truth, windows)


def _intervals_from_json(data: list[list[float]] | None) -> tuple[StepInterval, ...] | None:
    return None if data is None else tuple(StepInterval(int(step), Interval(start, end)) for step, start, end in data)
