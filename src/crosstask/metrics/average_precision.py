"""Frame mAP.

What is compared: the score of every segment. Average precision per step over the pooled segments of all test videos of its task; then
the mean over the steps of a task that have a positive segment; then the mean over tasks.
"""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt


def average_precision(positive: npt.NDArray[np.bool_], scores: npt.NDArray[np.floating]) -> float:
    """The area under the precision-recall step function; tied scores count as one threshold.

    >>> average_precision(np.array([True, False, True]), np.array([3.0, 2.0, 1.0]))
    0.8333333333333333
    """
    order = np.argsort(-scores, kind="stable")
    last_of_tie = np.append(np.diff(scores[order]) != 0, True)
    true_positives = np.cumsum(positive[order])[last_of_tie]
    n_retrieved = (np.flatnonzero(last_of_tie) + 1).astype(np.float64)
    gained = np.diff(true_positives, prepend=0)
    return float((gained * true_positives / n_retrieved).sum() / true_positives[-1])


@dataclass
class FrameAveragePrecision:
    """Scores and truth of all videos of a task, collected video by video."""

    scores: dict[str, list[npt.NDArray[np.float32]]] = field(default_factory=dict)
    truths: dict[str, list[npt.NDArray[np.bool_]]] = field(default_factory=dict)

    def add(self, task: str, scores: npt.NDArray[np.floating], truth: npt.NDArray[np.bool_]) -> None:
        """Add one video: scores (T, K), truth (T, K)."""
        self.scores.setdefault(task, []).append(np.asarray(scores, dtype=np.float32))
        self.truths.setdefault(task, []).append(truth)

    def by_task(self) -> dict[str, float]:
        """mAP of each task over its steps with a positive segment; tasks without any are left out."""
        result = {}
        for task in sorted(self.scores):
            scores, truth = np.concatenate(self.scores[task]), np.concatenate(self.truths[task])
            with_positives = [k for k in range(truth.shape[1]) if truth[:, k].any()]
            if with_positives:
                result[task] = float(np.mean([average_precision(truth[:, k], scores[:, k]) for k in with_positives]))
        return result

    def steps_without_positives(self) -> int:
        """The number of steps without a positive segment in any video."""
        return sum(int((~np.concatenate(truth).any(axis=0)).sum()) for truth in self.truths.values())
