"""Narration windows compared with annotation.

What is compared: the segments inside a step's windows with those inside its true intervals, both rounded outwards (start down, end up).
Precision = |window and truth| / |window|, recall = / |truth|, IoU = / |window or truth|, segments pooled over the steps and videos of
a task. Windows of steps that a video does not show lower precision; steps without a window lower recall.
Hit rate: present steps whose window has its midpoint in a true interval. Outside: present steps no second of which lies in the window
(the paper: 61 %). Each is computed per task, then averaged over tasks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields

import numpy as np
import numpy.typing as npt

from crosstask.metrics.truth import true_segments
from crosstask.records import Corpus, StepInterval, Video, VideoKey, segment_at


@dataclass
class WindowCounts:
    """Counts of one task, summed video by video."""

    common: int = 0
    in_window: int = 0
    in_truth: int = 0
    hits: int = 0
    outside: int = 0
    present: int = 0
    window_s: list[float] = field(default_factory=list)

    def add(self, windows: Sequence[StepInterval], truth: npt.NDArray[np.bool_]) -> None:
        """Count the windows of one video against its truth (T, K)."""
        n_segments = len(truth)
        inside = np.zeros_like(truth)
        hit = np.zeros(truth.shape[1], dtype=np.bool_)
        for window in windows:
            segments = window.interval.segments(n_segments)
            inside[segments.start : segments.stop, window.step] = True
            middle = segment_at((window.interval.start_s + window.interval.end_s) / 2, n_segments)
            hit[window.step] |= truth[middle, window.step]
            self.window_s.append(window.interval.length_s)
        common = inside & truth
        present = truth.any(axis=0)
        self.common += int(common.sum())
        self.in_window += int(inside.sum())
        self.in_truth += int(truth.sum())
        self.hits += int(hit.sum())
        self.present += int(present.sum())
        self.outside += int((present & ~common.any(axis=0)).sum())

    def figures(self) -> dict[str, float]:
        """The six figures of a task, as fractions (and seconds)."""
        return {
            "precision": _share(self.common, self.in_window),
            "recall": _share(self.common, self.in_truth),
            "iou": _share(self.common, self.in_window + self.in_truth - self.common),
            "hit_rate": _share(self.hits, self.present),
            "outside": _share(self.outside, self.present),
            "mean_window_s": float(np.mean(self.window_s)) if self.window_s else 0.0,
        }


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


@dataclass(frozen=True)
class WindowScores:
    """Means over tasks, and the figures of each task."""

    precision: float
    recall: float
    iou: float
    hit_rate: float
    outside: float
    mean_window_s: float
    tasks: Mapping[str, Mapping[str, float]]

    def to_json(self) -> dict[str, object]:
        """The JSON of `narrate --score`."""
        return {f.name: getattr(self, f.name) for f in fields(self)}


def score_windows(corpus: Corpus, videos: Sequence[Video], windows: Mapping[VideoKey, Sequence[StepInterval]]) -> WindowScores:
    """Windows compared with the annotation of videos; the steps of a video without windows count as missed."""
    counts: dict[str, WindowCounts] = {}
    for video in videos:
        counts.setdefault(video.task, WindowCounts()).add(windows.get(video.key, ()), true_segments(corpus, video))
    tasks = {task: counts[task].figures() for task in sorted(counts)}
    names = [f.name for f in fields(WindowScores) if f.name != "tasks"]
    means = {name: float(np.mean([figures[name] for figures in tasks.values()])) if tasks else 0.0 for name in names}
    return WindowScores(**means, tasks=tasks)
