"""How much two steps have in common by their words: what lets one step borrow its look from another.

Words are stemmed, and words written together are taken apart: `stir_in`, `egg2plate`, `fruitSalad`. A background class has no words but one of its own,
so that the background of one task lends to that of another.
"""

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from crosstask.records import Task
from crosstask.text.stems import stem, words_of_step

BACKGROUND = "<background>"
_JOINTS = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Za-z])2(?=[A-Za-z])|[_\-/]+")


def parts_of_step(step: str) -> list[str]:
    """The stemmed words of a step name, words written together taken apart.

    >>> parts_of_step("put egg2plate"), parts_of_step("stir_in sugar")
    (['put', 'egg', 'plate'], ['stir', 'in', 'sugar'])
    """
    return [stem(word) for word in words_of_step(_JOINTS.sub(" ", step))]


def class_words(task: Task, sharing: str = "component") -> list[list[str]]:
    """The words of each step of a task and, last, of its background, at a level of sharing.

    >>> class_words(Task("7", "Tea", ("pour water",)), "task-component")
    [['7: pour', '7: water'], ['<background>']]
    """
    steps = [parts_of_step(step) if "component" in sharing else [" ".join(words_of_step(step))] for step in task.steps]
    if sharing in ("task-component", "none"):
        steps = [[f"{task.id}: {word}" for word in name] for name in steps]
    return [*steps, [BACKGROUND]]


def word_kernel(left: Sequence[Sequence[str]], right: Sequence[Sequence[str]]) -> npt.NDArray[np.float64]:
    """(n, m): the chance that a word drawn from one name is a word drawn from the other.

    >>> word_kernel([["pour", "milk"]], [["pour", "egg"], ["stir"]])
    array([[0.25, 0.  ]])
    """
    number = {word: i for i, word in enumerate(sorted({word for name in (*left, *right) for word in name}))}

    def shares(names: Sequence[Sequence[str]]) -> npt.NDArray[np.float64]:
        table = np.zeros((len(names), len(number)))
        for row, name in zip(table, names, strict=True):
            for word in name:
                row[number[word]] += 1 / len(name)
        return table

    return shares(left) @ shares(right).T
