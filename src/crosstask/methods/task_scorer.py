"""A scorer with one linear map per task, for methods that share nothing between tasks."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from crosstask.learning.float16 import linear_scores
from crosstask.methods.protocols import refuse_other_width
from crosstask.records import InputError, Task


@dataclass(frozen=True)
class TaskScorer:
    """A linear map (K, D + 1) for every task it was trained on; other tasks, and other steps of these tasks, are refused."""

    weights: Mapping[str, npt.NDArray[np.float64]]
    steps: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # of the trained tasks
    kind: str = "task-linear"

    def score(self, task: Task, features: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
        """(T, D) -> (T, K)."""
        weights = self.weights.get(task.id)
        if weights is None or self.steps.get(task.id) != task.steps:
            raise InputError(
                f"task '{task.title}': not one of the {len(self.weights)} tasks this model was trained on, or with other steps, and it "
                "shares nothing between tasks; train on it, or use a method that shares, such as hmm"
            )
        refuse_other_width(features, weights.shape[1] - 1)
        return linear_scores(features, weights)

    def unknown_words(self, task: Task) -> tuple[str, ...]:
        """Always empty: this scorer uses no words."""
        return ()

    def unknown_steps(self, task: Task) -> list[str]:
        """All steps of a task that was not trained."""
        return [] if self.steps.get(task.id) == task.steps else list(task.steps)

    def to_arrays(self) -> tuple[dict[str, npt.NDArray[np.generic]], dict[str, object]]:
        """Arrays and plain values for the model file."""
        tasks = sorted(self.weights)
        stacked = np.concatenate([self.weights[task] for task in tasks])
        return {"weights": stacked}, {"tasks": tasks, "n_steps": [len(self.weights[task]) for task in tasks]}


def task_scorer_from(arrays: dict[str, npt.NDArray[np.generic]], values: dict[str, object]) -> TaskScorer:
    """The inverse of `to_arrays`; `values["steps"]` are those of the tasks of the model."""
    tasks, n_steps, weights, steps = values.get("tasks"), values.get("n_steps"), arrays.get("weights"), values.get("steps")
    if not isinstance(tasks, list) or not isinstance(n_steps, list) or weights is None or weights.ndim != 2:
        raise InputError("model file: its tasks or weights are missing; train it again")
    if not isinstance(steps, dict) or [len(steps.get(task, ())) for task in tasks] != n_steps or sum(n_steps) != len(weights):
        raise InputError("model file: its tasks do not fit its weights; train it again")
    parts = np.split(np.asarray(weights, dtype=np.float64), np.cumsum(n_steps)[:-1])
    return TaskScorer({str(task): part for task, part in zip(tasks, parts, strict=True)}, {task: steps[task] for task in tasks})
