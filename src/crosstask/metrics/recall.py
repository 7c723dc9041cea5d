"""Step recall, the paper's measure.

What is compared: one moment per step and video. A hit: the moment's segment lies in any true interval of that step. Steps that a video
does not show are not counted. Hits and present steps are pooled within a task; the mean is over tasks.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt


@dataclass
class StepRecall:
    """Hits and present steps, counted video by video."""

    hits: dict[str, npt.NDArray[np.int64]] = field(default_factory=dict)
    present: dict[str, npt.NDArray[np.int64]] = field(default_factory=dict)

    def add(self, task: str, moments: npt.NDArray[np.int64], truth: npt.NDArray[np.bool_]) -> list[bool | None]:
        """Count one video: moments (K,), -1 where a step was not found; truth (T, K). For each step, whether it is hit; None if not shown."""
        n_steps = truth.shape[1]
        steps = np.arange(n_steps)
        hit = truth[np.maximum(moments, 0), steps] & (moments >= 0)
        self.hits.setdefault(task, np.zeros(n_steps, dtype=np.int64))
        self.present.setdefault(task, np.zeros(n_steps, dtype=np.int64))
        self.hits[task] += hit
        shown: npt.NDArray[np.bool_] = np.asarray(truth.any(axis=0))
        self.present[task] += shown
        return [bool(h) if s else None for h, s in zip(hit, shown, strict=True)]

    def by_task(self) -> dict[str, float]:
        """Recall of each task with at least one present step, as a fraction."""
        return {task: float(self.hits[task].sum() / n) for task in sorted(self.hits) if (n := self.present[task].sum()) > 0}

    def by_step(self) -> dict[str, list[float | None]]:
        """Recall of each step of each task; None where no video shows it."""
        return {
            task: [float(h / p) if p else None for h, p in zip(self.hits[task], self.present[task], strict=True)]
            for task in sorted(self.hits)
        }


def mean_over_tasks(by_task: Mapping[str, float]) -> float:
    """The mean of a measure over tasks; 0 without tasks.

    >>> mean_over_tasks({"a": 0.25, "b": 0.75})
    0.5
    """
    return float(np.mean(list(by_task.values()))) if by_task else 0.0
