"""Components of steps at four levels of sharing.

    A (K, M),  A[k, m] = 1 if step k contains component m                          Eq. (1)

Components are sorted before they are numbered, so the numbers depend neither on the order of tasks nor on hashing.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from crosstask.records import Task
from crosstask.text.sharing import Sharing, SharingFunction, sharing_function
from crosstask.text.stems import stems_of_step, words_of_step


def _by_component(task: Task, step: str) -> list[str]:
    return stems_of_step(step)


def _by_step(task: Task, step: str) -> list[str]:
    return [" ".join(words_of_step(step))]


def _by_task_component(task: Task, step: str) -> list[str]:
    return [f"{task.id}: {word}" for word in stems_of_step(step)]


def _by_task_step(task: Task, step: str) -> list[str]:
    return [f"{task.id}: {' '.join(words_of_step(step))}"]


# Level of sharing -> (task, step) -> names of the step's components.
SHARING: dict[str, SharingFunction] = {
    "component": _by_component,
    "step": _by_step,
    "task-component": _by_task_component,
    "none": _by_task_step,
}


@dataclass(frozen=True)
class Vocabulary:
    """The numbered components of a set of tasks at one level of sharing, or by a sharing function."""

    sharing: Sharing
    names: tuple[str, ...]

    @cached_property
    def number(self) -> dict[str, int]:
        """Component name -> number."""
        return {name: m for m, name in enumerate(self.names)}

    def components_of(self, task: Task) -> "StepComponents":
        """The components of a task's steps; those outside the vocabulary are listed in `unknown`."""
        components = sharing_function(self.sharing, SHARING)
        per_step = [components(task, step) for step in task.steps]
        known = sorted({self.number[name] for names in per_step for name in names if name in self.number})
        column = {m: j for j, m in enumerate(known)}
        membership = np.zeros((len(per_step), len(known)), dtype=np.float64)
        for k, names in enumerate(per_step):
            for name in names:
                if name in self.number:
                    membership[k, column[self.number[name]]] = 1
        unknown = sorted({name for names in per_step for name in names if name not in self.number})
        return StepComponents(np.array(known, dtype=np.int64), membership, tuple(unknown))


@dataclass(frozen=True)
class StepComponents:
    """The components of one task's steps: numbers (m,), membership (K, m), and names outside the vocabulary."""

    numbers: npt.NDArray[np.int64]
    membership: npt.NDArray[np.float64]
    unknown: tuple[str, ...] = ()

    @property
    def untrained_steps(self) -> list[int]:
        """Indices of the steps without any known component."""
        return [k for k, row in enumerate(self.membership) if not row.any()]

    @property
    def averaging(self) -> npt.NDArray[np.float64]:
        """(K, m) membership with rows divided by their sums, for the average of Eq. (1); rows of untrained steps are zero."""
        return self.membership / np.maximum(self.membership.sum(axis=1, keepdims=True), 1)


def vocabulary_of(tasks: Iterable[Task], sharing: Sharing = "component") -> Vocabulary:
    """The vocabulary of all steps of some tasks, sorted.

    >>> from crosstask.records import task_from_steps
    >>> vocabulary_of([task_from_steps("pour milk, pour eggs")]).names
    ('egg', 'milk', 'pour')
    """
    components = sharing_function(sharing, SHARING)
    return Vocabulary(sharing, tuple(sorted({name for task in tasks for step in task.steps for name in components(task, step)})))


def count_words(tasks: Sequence[Task]) -> int:
    """Number of distinct words in the step names, before stemming."""
    return len({word for task in tasks for step in task.steps for word in words_of_step(step)})


def steps_with_component(tasks: Sequence[Task], component: str) -> int:
    """Number of steps that contain a component, as a word or joined to another by '_' ('stir' in 'stir_in sugar')."""
    steps = [step for task in tasks for step in task.steps]
    return sum(component in {*stems_of_step(step), *stems_of_step(step.replace("_", " "))} for step in steps)
