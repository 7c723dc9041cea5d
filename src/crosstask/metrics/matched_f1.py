"""F1 of Alayrac et al. (2016).

What is compared: predicted steps with true steps of a task, which need not correspond by number: one one-to-one matching per task, the
one with most hits. Precision = hits / (predicted steps x videos), recall = hits / present (video, step); F1 per task, then the mean over tasks.
"""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt


@dataclass
class MatchedF1:
    """Hits of every predicted step in every true step, counted video by video."""

    hits: dict[str, npt.NDArray[np.int64]] = field(default_factory=dict)
    predicted: dict[str, int] = field(default_factory=dict)
    present: dict[str, int] = field(default_factory=dict)

    def add(self, task: str, moments: npt.NDArray[np.int64], truth: npt.NDArray[np.bool_]) -> None:
        """Count one video: moments (K,) of the predicted steps, -1 where not found; truth (T, J) of the true steps."""
        hits = truth[np.maximum(moments, 0)] & (moments >= 0)[:, None]  # (K, J)
        self.hits[task] = self.hits.get(task, np.zeros(hits.shape, dtype=np.int64)) + hits
        self.predicted[task] = self.predicted.get(task, 0) + len(moments)
        self.present[task] = self.present.get(task, 0) + int(truth.any(axis=0).sum())

    def by_task(self) -> dict[str, float]:
        """F1 of each task with a present step."""
        from scipy.optimize import linear_sum_assignment

        result = {}
        for task in sorted(self.hits):
            if not self.present[task]:
                continue
            rows, columns = linear_sum_assignment(self.hits[task], maximize=True)
            hits = int(self.hits[task][rows, columns].sum())
            result[task] = 2 * hits / (self.predicted[task] + self.present[task])
        return result
