"""Kernel between classes from the words of their names: the covariance of the Gaussian-process prior on class means.

    k(a, b) = sum_w p_a(w) p_b(w),    p_a(w) = share of word w among the words of class a

Words are stemmed and compounds split: `stir_in`, `egg2plate`, `fruitSalad`. All background classes have one word in common, so that the
background of one task informs that of another.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from crosstask.records import Task
from crosstask.text.components import SHARING
from crosstask.text.sharing import Sharing, SharingFunction, sharing_function
from crosstask.text.stems import stems_of_step_parts

BACKGROUND = "<background>"


def _parts(task: Task, step: str) -> list[str]:
    return stems_of_step_parts(step)


def _task_parts(task: Task, step: str) -> list[str]:
    return [f"{task.id}: {word}" for word in stems_of_step_parts(step)]


# Level of sharing -> (task, step) -> words of the class. Unlike the components of Eq. (1), words have their compounds split.
WORDS_OF_CLASS: Mapping[str, SharingFunction] = {
    "component": _parts,
    "step": SHARING["step"],
    "task-component": _task_parts,
    "none": SHARING["none"],
}


def class_words(task: Task, sharing: Sharing = "component") -> list[list[str]]:
    """The words of each of the K steps of a task and, last, of its background, at a level of sharing.

    >>> class_words(Task("7", "Tea", ("pour water",)), "task-component")
    [['7: pour', '7: water'], ['<background>']]
    """
    words = sharing_function(sharing, WORDS_OF_CLASS)
    return [*(list(words(task, step)) for step in task.steps), [BACKGROUND]]


def word_kernel(left: Sequence[Sequence[str]], right: Sequence[Sequence[str]]) -> npt.NDArray[np.float64]:
    """(n, m): the probability that a word drawn from one class equals a word drawn from the other.

    >>> word_kernel([["pour", "milk"]], [["pour", "egg"], ["stir"]])
    array([[0.25, 0.  ]])
    """
    shares = word_shares([*left, *right])
    return shares[: len(left)].copy() @ shares[len(left) :].copy().T


def word_shares(names: Sequence[Sequence[str]]) -> npt.NDArray[np.float64]:
    """(n, V): the share of each word in each class, words in alphabetic order; the product of two rows is their kernel.

    >>> word_shares([["pour", "milk"], ["pour"]]).tolist()
    [[0.5, 0.5], [0.0, 1.0]]
    """
    number = {word: i for i, word in enumerate(sorted({word for name in names for word in name}))}
    shares = np.zeros((len(names), len(number)))
    for row, name in zip(shares, names, strict=True):
        for word in name:
            row[number[word]] += 1 / len(name)
    return shares
