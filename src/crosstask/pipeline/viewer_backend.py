"""What `view` hands to the viewer: parsing edited steps with the model at hand, and keeping what a person marks in the run folder."""

import json
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from crosstask.records import FeatureRows, InputError, NoFeatures, StepInterval, Task, VideoKey, parse_video_key, task_from_steps
from crosstask.runs import RunFolder, RunVideo
from crosstask.viewer.backend import RELEVANCES, Reparsed, ViewerBackend
from crosstask.viewer.files import refuse_outside

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from crosstask.model.model import Model

FORMAT = 1
STALE_S = 10.0  # a lock file this old was left behind by a process that died


def hand_in(run: RunFolder, model: Path | None, features: FeatureRows) -> ViewerBackend:
    """Everything the viewer of this run may do."""
    parser, marks = StepParser(model, features), Marks(run)
    return ViewerBackend(
        reparse=parser.reparse,
        annotated=marks.annotated,
        read_annotation=marks.read_annotation,
        save_annotation=marks.save_annotation,
        read_relevance=marks.read_relevance,
        save_relevance=marks.save_relevance,
        parses_new_steps=model is not None and any(video.id in features for video in run.run.videos),
    )


def features_at_hand(run: RunFolder, corpus: Path | None) -> FeatureRows:
    """Features of the run's videos: of the corpus named by the user, else in the run folder itself, else none."""
    from crosstask.features import NpyFeatures

    if corpus is not None:
        from crosstask.datasets import open_corpus

        return open_corpus(corpus).features
    beside = run.folder / "features"
    return NpyFeatures(beside) if beside.is_dir() else NoFeatures()


@dataclass(frozen=True)
class StepParser:
    """Parses edited step lists: by the model where features are at hand, else over the scores the run kept."""

    model_file: Path | None
    features: FeatureRows

    @cached_property
    def model(self) -> "Model | None":
        """Loaded when first needed."""
        from crosstask.model.file import load_model

        return None if self.model_file is None else load_model(self.model_file)

    def reparse(self, run: RunFolder, method: str, video: RunVideo, steps: tuple[str, ...]) -> Reparsed:
        """The parse of a video for these steps."""
        task = task_from_steps(steps)
        if len(task.steps) > video.n_segments:
            raise InputError(f"{video.n_segments} seconds cannot hold {len(task.steps)} steps in order; write fewer steps")
        if self.model is not None and video.id in self.features:
            return self._by_model(self.model, task, video)
        return self._by_kept_scores(task, run, method, video)

    def _by_model(self, model: "Model", task: Task, video: RunVideo) -> Reparsed:
        import numpy as np

        from crosstask.model.localization import localization_of

        rows = np.asarray(self.features.rows(video.id))
        scores = model.score(task, rows)
        notes = []
        if unknown := _as_written(model.unknown_words(task), task):
            notes.append(f"Words the model never met: {', '.join(unknown)}.")
        if lost := model.unknown_steps(task):
            notes.append(f"Placed by order alone, as none of their words is known: {', '.join(lost)}.")
        return Reparsed(localization_of(task, scores, video.id), scores, "model", tuple(notes))

    def _by_kept_scores(self, task: Task, run: RunFolder, method: str, video: RunVideo) -> Reparsed:
        """Steps the run has scores for, in the new order; the others are named and left out."""
        from crosstask.model.localization import localization_of

        values = _kept_scores(run, method, video)
        columns = columns_of(task.steps, run.run.tasks[video.task].steps)
        missing = [step for step, column in zip(task.steps, columns, strict=True) if column is None]
        chosen = [step for step, column in zip(task.steps, columns, strict=True) if column is not None]
        if not chosen:
            raise InputError(f"no scores for {', '.join(missing)[:200]}: {_WAY_OUT}")
        picked = [column for column in columns if column is not None]
        scores = values[:, picked]
        notes = ["Only steps of this task can be placed here, in any order or selection, as the features are not at hand."]
        if missing:
            notes.append(f"Left out: {', '.join(missing)}. {_WAY_OUT[0].upper()}{_WAY_OUT[1:]}")
        return Reparsed(localization_of(task_from_steps(chosen), scores, video.id), scores, "kept scores", tuple(notes))


def _as_written(stems: Sequence[str], task: Task) -> list[str]:
    """Stems as the words they came from, where those begin like them."""
    words = sorted({word for step in task.steps for word in step.lower().split()})
    return [next((word for word in words if word.startswith(stem)), stem) for stem in stems]


def warm_up() -> None:
    """Load the ordered programme before somebody waits for it."""
    import numpy as np

    from crosstask.model.localization import localization_of

    localization_of(task_from_steps("warm up"), np.zeros((2, 1)))


_WAY_OUT = "new steps need the model and the features: start view with --corpus FOLDER."


def columns_of(wanted: Sequence[str], kept: Sequence[str]) -> list[int | None]:
    """For each wanted step the column of its scores, or None; a name that stands twice takes its columns in order, then the last again.

    >>> columns_of(["stir", "Pour", "stir", "serve"], ["pour", "stir"])
    [1, 0, 1, None]
    """
    left: dict[str, list[int]] = {}
    for column, name in enumerate(kept):
        left.setdefault(name.casefold(), []).append(column)
    found = (left.get(name.casefold()) for name in wanted)
    return [None if columns is None else columns.pop(0) if len(columns) > 1 else columns[0] for columns in found]


def _kept_scores(run: RunFolder, method: str, video: RunVideo) -> "npt.NDArray[np.floating]":
    """(T, K) as the run kept them for the steps of its own task."""
    task = run.run.tasks.get(video.task)
    refuse_outside(run.folder, run.folder / "scores" / method / f"{video.key}.npy")
    values = run.scores(method, video.key)
    if task is None or values is None or values.ndim != 2 or values.shape[1] != len(task.steps):
        raise InputError(f"the run kept no scores of this video: {_WAY_OUT}")
    return values


@dataclass(frozen=True)
class Marks:
    """What people mark in a run: `annotations/TASK_VIDEO.csv` in the published format, and `relevance.json`."""

    run: RunFolder
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def _folder(self) -> Path:
        return refuse_outside(self.run.folder, self.run.folder / "annotations")

    def annotated(self) -> frozenset[VideoKey]:
        """The videos of the run with a saved annotation."""
        try:
            names = {entry.name for entry in os.scandir(self._folder)}
        except FileNotFoundError:
            return frozenset()
        return frozenset(video.key for video in self.run.run.videos if f"{video.key}.csv" in names)

    def read_annotation(self, key: VideoKey, task: Task) -> tuple[StepInterval, ...] | None:
        """The saved spans of a video, or None."""
        from crosstask.datasets import read_step_intervals

        path = self._file(key)
        return read_step_intervals(path, task) if path.is_file() else None

    def save_annotation(self, key: VideoKey, spans: tuple[StepInterval, ...]) -> str:
        """Write the spans; the last writer wins, whole."""
        from crosstask.datasets import write_step_intervals

        path = self._file(key)
        with self._alone():
            write_step_intervals(path, spans)
        return f"annotations/{path.name}"

    def _file(self, key: VideoKey) -> Path:
        from crosstask.records import refuse_escaping_id

        name = refuse_escaping_id(f"{key}.csv", "video")
        return refuse_outside(self.run.folder, self._folder / name)

    def read_relevance(self) -> Mapping[VideoKey, str]:
        """Judgements by video."""
        path = refuse_outside(self.run.folder, self.run.folder / "relevance.json")
        if not path.is_file():
            return {}
        try:
            videos = json.loads(path.read_text("utf-8"))["videos"]
            return {parse_video_key(key): word for key, word in videos.items() if word in RELEVANCES}
        except (ValueError, KeyError, TypeError, AttributeError):
            raise InputError("relevance.json: damaged; mend it or delete it, and mark the videos again") from None

    def save_relevance(self, key: VideoKey, word: str | None) -> None:
        """Keep one judgement, or take it back; those of other writers stay."""
        from crosstask.storage import write_json

        with self._alone():
            judged = {str(video): kept for video, kept in self.read_relevance().items() if video != key}
            if word is not None:
                judged[str(key)] = word
            write_json(self.run.folder / "relevance.json", {"format": FORMAT, "videos": judged})

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """One writer at a time: threads by a lock, other processes by a file that only one can create."""
        path = self.run.folder / ".marking"
        with self.lock:
            _acquire(path)
            try:
                yield
            finally:
                path.unlink(missing_ok=True)


def _acquire(path: Path, now: Callable[[], float] = time.time) -> None:
    while True:
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            return
        except FileExistsError:
            with suppress(FileNotFoundError):
                if now() - path.stat().st_mtime > STALE_S:
                    path.unlink(missing_ok=True)
            time.sleep(0.01)
