"""The contents of a run as JSON for the page: its description, the list of videos in pages, one video with all localizations, scores."""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from crosstask.correction.queue import review
from crosstask.records import MACHINE, FoundStep, InputError, StepInterval, Task, VideoKey
from crosstask.runs import Change, RunFolder, RunVideo, inside, scores_path
from crosstask.viewer.backend import ViewerBackend
from crosstask.viewer.files import servable_media
from crosstask.viewer.verdicts import match_steps, verdict

_LARGEST_SCORE = 1e4  # replaces infinite scores, which JSON cannot hold


@dataclass(frozen=True)
class Source:
    """A source of localizations: one method of one run. The id is `RUN:METHOD` with 'this' or 'other' for the run."""

    id: str
    label: str
    run: RunFolder
    method: str


@dataclass(frozen=True)
class Contents:
    """A run, the run it is compared with, and the backend that stores annotations."""

    run: RunFolder
    backend: ViewerBackend
    other: RunFolder | None = None

    def __post_init__(self) -> None:
        """Raise an error for a run with a video of an unknown task, and prepare what every page of the list needs."""
        for video in self.run.run.videos:
            if video.task not in self.run.run.tasks:
                raise InputError(f"{self.run.folder}/run.json: video {video.id} belongs to the unknown task '{video.task}'")
        _ = self.of_task, self.search_text, self.run.n_segments, self.run.counts()

    @cached_property
    def sources(self) -> dict[str, Source]:
        """Sources by id, the main method first."""
        own = [Source(f"this:{m}", m, self.run, m) for m in self.run.run.methods]
        other = self.other
        compared = (
            [] if other is None else [Source(f"other:{m}", f"{m} ({other.folder.name})", other, m) for m in other.run.methods]
        )
        return {source.id: source for source in own + compared}

    @cached_property
    def videos(self) -> dict[VideoKey, RunVideo]:
        """Videos by key, in the order of the run."""
        return {video.key: video for video in self.run.run.videos}

    @cached_property
    def of_task(self) -> dict[str, list[VideoKey]]:
        """The videos of each task that has any, in the order of the run."""
        found: dict[str, list[VideoKey]] = {}
        for key in self.videos:
            found.setdefault(key.task, []).append(key)
        return found

    @cached_property
    def search_text(self) -> dict[VideoKey, str]:
        """The text that is searched: id and task title."""
        return {key: f"{key.video} {self.task(key).title}".casefold() for key in self.videos}

    def task(self, key: VideoKey) -> Task:
        """The task of a video."""
        return self.run.run.tasks[key.task]

    @cached_property
    def identity(self) -> str:
        """A digest of folder, command, tasks and videos: that of the run from which a page was loaded."""
        run = self.run.run
        tasks = [(task.id, task.steps) for task in run.tasks.values()]
        videos = [(video.task, video.id, video.content, video.n_segments) for video in run.videos]
        said = repr((str(self.run.folder.resolve()), run.command, tasks, videos))
        return hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()[:16]

    def describe(self) -> dict[str, Any]:
        """The run in the shape `RunShape`."""
        run = self.run.run
        tasks = [
            {"id": t.id, "title": t.title, "steps": list(t.steps), "primary": t.primary, "n_videos": len(self.of_task[t.id])}
            for t in run.tasks.values()
            if t.id in self.of_task
        ]
        return {
            "identity": self.identity,
            "title": run.title,
            "kind": run.kind,
            "command": run.command,
            "synthetic": run.synthetic,
            "notes": list(run.notes),
            "tasks": tasks,
            "sources": [
                {"id": s.id, "label": s.label, "mean_recall_over_tasks": _mean_recall(s.run.results.get(s.method))}
                for s in self.sources.values()
            ],
            "compared_with": self.other.folder.name if self.other else None,
            "parses_new_steps": self.backend.localizes_new_steps,
            "n_videos": len(self.videos),
            **self.counts(),
            "why_not_learning": self.backend.why_not_learning,
        }

    def counts(self) -> dict[str, int]:
        """How many steps are found, and how many of them a person confirmed or corrected."""
        counts = self.run.counts()
        return {"n_found": counts.found, "n_corrected": counts.corrected}

    def review(self, n: int) -> dict[str, Any]:
        """The next steps to check in the shape `ReviewShape`."""
        found = review(self.run, n)
        items = [
            {
                **item.to_json(),
                "title": self.task(item.key).title,
                "verdict": "unknown",
                "n_segments": self.videos[item.key].n_segments,
                "media": servable_media(self.run, self.videos[item.key]) is not None,
            }
            for item in found.items
        ]
        return {
            **found.to_json(),
            "items": items,
            "accuracy_words": str(found.accuracy),
            "last_change": self.last_change(),
            **self.counts(),
        }

    def last_change(self) -> int:
        """The number of the last change of labels, 0 before the first."""
        changes = self.run.labels.changes()
        return changes[-1].id if changes else 0

    def page(self, task: str, search: str, show: str, page: int, page_size: int) -> dict[str, Any]:
        """One page of the list of videos in the shape `VideoPage`; the last page for a number past the end."""
        relevance, annotated = self.backend.read_relevance(), self.backend.annotated_videos()
        kept = self.of_task.get(task, []) if task else list(self.videos)
        for word in search.casefold().split():
            kept = [key for key in kept if word in self.search_text[key]]
        if show in ("annotated", "not-annotated"):
            kept = [key for key in kept if (key in annotated) == (show == "annotated")]
        elif show != "all":
            wanted = None if show == "unmarked" else show
            kept = [key for key in kept if relevance.get(key) == wanted]
        pages = max(1, math.ceil(len(kept) / page_size))
        page = min(page, pages)
        listed = [
            self._listed(key, relevance.get(key), key in annotated) for key in kept[(page - 1) * page_size : page * page_size]
        ]
        return {"total": len(kept), "page": page, "pages": pages, "videos": listed, **self.counts()}

    def _listed(self, key: VideoKey, relevance: str | None, annotated: bool) -> dict[str, Any]:
        video = self.videos[key]
        marks = []
        if self.sources:
            found = self.found(next(iter(self.sources.values())), video)
            marks = [
                {"moment_s": f["moment_s"], "verdict": f["verdict"], "by": f.get("by", MACHINE)} for f in found if f is not None
            ]
        present = None if video.truth is None else len({annotated.step for annotated in video.truth})
        return {
            "task": key.task,
            "video": key.video,
            "title": self.task(key).title,
            "seconds": video.n_segments,
            "media": servable_media(self.run, video) is not None,
            "annotated": annotated,
            "relevance": relevance,
            "marks": marks,
            "n_right": None if present is None else sum(mark["verdict"] == "right" for mark in marks),
            "n_present": present,
        }

    def video(self, key: VideoKey) -> dict[str, Any] | None:
        """Everything about a video in the shape `VideoShape`, or None when the run has no such video."""
        video = self.videos.get(key)
        if video is None:
            return None
        task = self.task(key)
        of_task = self.of_task[key.task]
        position = of_task.index(key)
        annotation = self.backend.read_annotation(key, task)
        return {
            "task": key.task,
            "video": key.video,
            "title": task.title,
            "steps": list(task.steps),
            "n_segments": video.n_segments,
            "media": servable_media(self.run, video) is not None,
            "truth": intervals_to_json(video.truth),
            "windows": intervals_to_json(video.windows),
            "annotation": intervals_to_json(annotation),
            "relevance": self.backend.read_relevance().get(key),
            "changes": [{"change": c.id, "words": change_words(c)} for c in self.run.labels.history(key)],
            "last_change": self.last_change(),
            "parses": {source.id: self.found(source, video) for source in self.sources.values()},
            "previous": of_task[position - 1]._asdict() if position > 0 else None,
            "next": of_task[position + 1]._asdict() if position + 1 < len(of_task) else None,
        }

    def found(self, source: Source, video: RunVideo) -> list[dict[str, Any] | None]:
        """The steps that a source found in a video, one entry per step of its task, None where the source has none."""
        steps = self.task(video.key).steps
        localization = source.run.localizations.get(source.method, {}).get(video.key)
        if localization is None or self._is_of_other_file(source, video.key):
            return [None] * len(steps)
        return [
            None if found is None else found_step(found, verdict(video.truth, k, found.segment, video.n_segments))
            for k, found in enumerate(match_steps(localization, steps))
        ]

    def _is_of_other_file(self, source: Source, key: VideoKey) -> bool:
        """True where the video of that name in the compared run is known to be another file."""
        contents = {self.run.contents.get(key), source.run.contents.get(key)} - {None}
        return len(contents) > 1

    def scores(self, source: Source, key: VideoKey) -> npt.NDArray[np.floating] | None:
        """Scores (T, K) stored by the source for the steps of the task, or None."""
        video = self.videos[key]
        task = source.run.run.tasks.get(key.task)
        path = scores_path(source.run.folder, source.method, key)
        if task is None or task.steps != self.task(key).steps or not inside(source.run.folder, path):
            return None
        if self._is_of_other_file(source, key):
            return None
        try:
            values = source.run.scores(source.method, key)
        except (ValueError, OSError, EOFError):
            return None
        fits = values is not None and values.shape == (video.n_segments, len(task.steps))
        return values if fits else None


def score_lists(values: npt.NDArray[np.floating]) -> list[list[float]]:
    """One list over the segments for each step, finite, rounded to four digits; (T, K) -> K lists.

    >>> score_lists(np.array([[0.5, -np.inf], [1.0, 2.00004]]))
    [[0.5, 1.0], [-10000.0, 2.0]]
    """
    finite = np.nan_to_num(values.astype(np.float64), nan=0.0, posinf=_LARGEST_SCORE, neginf=-_LARGEST_SCORE)
    return np.round(finite.T, 4).tolist()


def found_step(found: FoundStep, word: str) -> dict[str, Any]:
    """A found step in the shape `FoundShape`."""
    score = found.score if math.isfinite(found.score) else None
    return {**found.to_json(), "score": score, "verdict": word}


def change_words(change: Change) -> str:
    """A change in words.

    >>> from crosstask.records import StepLabel
    >>> from crosstask.runs import RunLabel
    >>> change_words(Change(1, VideoKey("1", "v"), (RunLabel(0, "pour", StepLabel(0, moment_s=3.0)), RunLabel(1, "stir", StepLabel(1)))))
    'pour: moment; stir: not shown'
    """
    return "; ".join(f"{label.name}: {'label removed' if label.label is None else label.label.kind}" for label in change.labels)


def intervals_to_json(intervals: Sequence[StepInterval] | None) -> list[dict[str, Any]] | None:
    """Intervals with steps counted from 1, as in the published files; None where nothing is known."""
    if intervals is None:
        return None
    return [{"step": s.step + 1, "start_s": max(0.0, s.interval.start_s), "end_s": s.interval.end_s} for s in intervals]


def _mean_recall(results: Any) -> float | None:
    """The mean recall over tasks from a method's results, or None."""
    recall = results.get("recall") if isinstance(results, dict) else None
    mean = recall.get("mean") if isinstance(recall, dict) else None
    return float(mean) if isinstance(mean, int | float) and 0 <= mean <= 1 else None
