"""Statistics of a corpus: the figures of the paper's Tables 1 and S2.

missing: share of (video, step) pairs never shown, pooled. background: share of segments in no step, mean over videos. order consistency:
the share of present steps that the best order-respecting choice of one moment per step can hit, pooled.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from crosstask.inference import ordered_ceiling
from crosstask.metrics.truth import true_segments
from crosstask.records import Corpus, Task

_SECONDS_PER_HOUR = 3600


@dataclass(frozen=True)
class TaskStatistics:
    """One row of Table S2; None where nothing is annotated."""

    title: str
    primary: bool
    videos: int
    steps: int
    missing: float | None
    background: float | None
    order_consistency: float | None
    mean_seconds: float | None
    present: int = 0
    annotated: int = 0


def task_statistics(corpus: Corpus, task: Task) -> TaskStatistics:
    """The statistics of one task over its videos."""
    videos = corpus.videos_of(task.id)
    lengths = [corpus.n_segments(video) for video in videos if corpus.knows_length(video)]
    truths = [true_segments(corpus, video) for video in videos if video.key in corpus.annotations and corpus.knows_length(video)]
    counts = [ordered_ceiling(truth) for truth in truths]
    hits, present = sum(h for h, _ in counts), sum(p for _, p in counts)
    return TaskStatistics(
        title=task.title,
        primary=task.primary,
        videos=len(videos),
        steps=len(task.steps),
        missing=1 - present / (len(truths) * len(task.steps)) if truths else None,
        background=float(np.mean([1 - truth.any(axis=1).mean() for truth in truths])) if truths else None,
        order_consistency=hits / present if present else None,
        mean_seconds=float(np.mean(lengths)) if lengths else None,
        present=present,
        annotated=len(truths),
    )


@dataclass(frozen=True)
class GroupStatistics:
    """Counts over a group of tasks: the primary ones, the related ones, or all."""

    tasks: int
    rows: int
    ids: int
    hours: float
    steps: int
    steps_per_task: float


def group_statistics(corpus: Corpus, tasks: Sequence[Task]) -> GroupStatistics:
    """Counts over some tasks and their videos."""
    ids = {task.id for task in tasks}
    videos = [video for video in corpus.videos if video.task in ids]
    steps = sum(len(task.steps) for task in tasks)
    return GroupStatistics(
        tasks=len(tasks),
        rows=len(videos),
        ids=len({video.id for video in videos}),
        hours=sum(corpus.n_segments(video) for video in videos if corpus.knows_length(video)) / _SECONDS_PER_HOUR,
        steps=steps,
        steps_per_task=steps / len(tasks) if tasks else 0.0,
    )


def shared_ids(corpus: Corpus) -> int:
    """The number of video ids listed under both a primary and a related task."""
    primary = {video.id for video in corpus.videos if corpus.task_of(video).primary}
    return len(primary & {video.id for video in corpus.videos if not corpus.task_of(video).primary})


@dataclass(frozen=True)
class DatasetRow:
    """One row of the comparison of datasets (Table 1)."""

    name: str
    videos: int
    hours: float
    tasks: int
    annotated: bool


def compare_datasets(corpora: Sequence[Corpus]) -> list[DatasetRow]:
    """A row per corpus: number of videos, hours, number of tasks, and whether steps are annotated."""
    rows = []
    for corpus in corpora:
        group = group_statistics(corpus, list(corpus.tasks.values()))
        rows.append(
            DatasetRow(corpus.name, group.rows, group.hours, group.tasks, any(v.key in corpus.annotations for v in corpus.videos))
        )
    return rows


def overall_statistics(rows: Sequence[TaskStatistics]) -> dict[str, float | None]:
    """Missing pooled over (video, step); background and order consistency as means over tasks, as the paper prints them."""
    annotated = [row for row in rows if row.annotated]
    pairs = sum(row.annotated * row.steps for row in annotated)
    present = sum(row.present for row in annotated)
    return {
        "missing": 1 - present / pairs if pairs else None,
        "background": float(np.mean([row.background for row in annotated])) if annotated else None,
        "order_consistency": float(np.mean([row.order_consistency for row in annotated if row.present])) if present else None,
    }


def task_statistics_to_json(row: TaskStatistics) -> dict[str, object]:
    """The documented shape of one task's statistics."""
    return {name: value for name, value in asdict(row).items() if name not in ("present", "annotated")}
