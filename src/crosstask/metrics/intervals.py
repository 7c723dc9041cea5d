"""Predicted intervals compared with annotation.

*Starts*: the share of present steps whose predicted start lies within 5 s of the start of one of its true intervals. *IoU*: for every
step that a video shows, intersection over union of its one predicted interval with the best-fitting true interval (a step may be shown
several times); an interval that overlaps none counts 0. Both are pooled within a task, then averaged over tasks.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from crosstask.records import Interval, StepInterval

Flags = npt.NDArray[np.bool_]
Seconds = npt.NDArray[np.float64]
START_TOLERANCE_S = 5.0  # within which a chapter mark is useful to a viewer


@dataclass
class IntervalMetrics:
    """Counts of present steps, of starts found within the tolerance, and summed IoU, by task."""

    present: dict[str, int] = field(default_factory=dict)
    starts: dict[str, int] = field(default_factory=dict)
    overlap: dict[str, float] = field(default_factory=dict)

    def add(
        self, task: str, found: tuple[Seconds, Seconds], placed: Flags, truth: Sequence[StepInterval], n_segments: int
    ) -> None:
        """Add one video: starts (K,) and ends (K,) in seconds, placed (K,) False for dropped steps, and its annotation."""
        for k in sorted({annotated.step for annotated in truth}):
            intervals = [a.interval for a in truth if a.step == k and a.interval.segments(n_segments)]
            if not intervals:
                continue
            self.present[task] = self.present.get(task, 0) + 1
            near = any(abs(found[0][k] - interval.start_s) <= START_TOLERANCE_S for interval in intervals)
            self.starts[task] = self.starts.get(task, 0) + int(placed[k] and near)
            iou = best_iou(Interval(float(found[0][k]), float(found[1][k])), intervals) if placed[k] else 0.0
            self.overlap[task] = self.overlap.get(task, 0.0) + iou

    def start_5s(self) -> dict[str, float]:
        """Share of present steps whose start was found, by task."""
        return {task: self.starts[task] / n for task, n in sorted(self.present.items())}

    def iou(self) -> dict[str, float]:
        """Mean IoU over present steps, by task."""
        return {task: self.overlap[task] / n for task, n in sorted(self.present.items())}


def best_iou(predicted: Interval, truths: Sequence[Interval]) -> float:
    """The largest intersection over union of an interval with one of the true intervals.

    >>> best_iou(Interval(2, 6), [Interval(0, 1), Interval(4, 8)])
    0.3333333333333333
    """
    intersections = [predicted.overlap_s(truth) for truth in truths]
    unions = [predicted.length_s + truth.length_s - both for truth, both in zip(truths, intersections, strict=True)]
    return max((both / union for both, union in zip(intersections, unions, strict=True) if union > 0), default=0.0)
