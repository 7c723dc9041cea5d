"""Kernel between classes from the words of their names: the covariance of the Gaussian-process prior on class means.

    k(a, b) = sum_w p_a(w) p_b(w),    p_a(w) = share of word w among the words of class a

Where a sentence encoder is installed, steps also share through what their names mean ("whisk egg", "beat egg"). With unit vectors v,

    k(a, b) = (1 - s) sum_w p_a(w) p_b(w) + s sqrt(w_a w_b) exp((v_a . v_b - 1) / temperature),    w_a = sum_w p_a(w)^2,

so that the variance k(a, a) = w_a of a class is the same as without vectors.

Words are stemmed and compounds split: `stir_in`, `egg2plate`, `fruitSalad`. All background classes have one word in common, so that the
background of one task informs that of another.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from crosstask.records import Task
from crosstask.text.components import SHARING
from crosstask.text.encoders import Encoder
from crosstask.text.sharing import Sharing, SharingFunction, sharing_function
from crosstask.text.stems import stems_of_step_parts, words_of_step_parts

BACKGROUND = "<background>"
MEANING_SHARE = 0.3  # s; 0.3 and 0.5 score alike on development people and tasks of captaincook and Breakfast
_TEMPERATURE = 0.3  # in cosines; 0.15 scored lower on the same


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


def sparse_word_shares(names: Sequence[Sequence[str]]) -> Any:
    """`word_shares` as a scipy.sparse matrix, for collections of very many steps.

    >>> sparse_word_shares([["pour", "milk"], ["pour"]]).toarray().tolist()
    [[0.5, 0.5], [0.0, 1.0]]
    """
    from scipy.sparse import csr_matrix

    number = {word: i for i, word in enumerate(sorted({word for name in names for word in name}))}
    rows = [row for row, name in enumerate(names) for _ in name]
    columns = [number[word] for name in names for word in name]
    shares = [1 / len(name) for name in names for _ in name]
    return csr_matrix((shares, (rows, columns)), shape=(len(names), len(number)))


class ClassNames:
    """The names of some classes: words of each, and unit vectors (n, e) of step names where there is an encoder (zero for background)."""

    def __init__(self, words: Sequence[Sequence[str]], vectors: npt.NDArray[np.float32] | None = None) -> None:
        self.words = words
        self.vectors = vectors

    @cached_property
    def variance(self) -> npt.NDArray[np.float64]:
        """(n,) kernel of each class with itself."""
        return np.array([(np.array(list(Counter(name).values())) ** 2).sum() / len(name) ** 2 for name in self.words])


def class_kernel(left: ClassNames, right: ClassNames) -> npt.NDArray[np.float64]:
    """(n, m) kernel between classes by their words, and by their vectors where both have some.

    >>> pour, stir = ClassNames([["pour"]], np.array([[1.0, 0.0]])), ClassNames([["stir"]], np.array([[0.6, 0.8]]))
    >>> class_kernel(pour, pour), class_kernel(pour, stir).round(3)
    (array([[1.]]), array([[0.079]]))
    """
    return with_meaning(word_kernel(left.words, right.words), left, right)


def with_meaning(by_words: npt.NDArray[np.float64], left: ClassNames, right: ClassNames) -> npt.NDArray[np.float64]:
    """(n, m) kernel of words with the part of the vectors added; background keeps its kernel."""
    if left.vectors is None or right.vectors is None:
        return by_words
    a, b = (names.vectors.astype(np.float64) for names in (left, right) if names.vectors is not None)
    by_meaning = np.sqrt(np.outer(left.variance, right.variance)) * np.exp((a @ b.T - 1) / _TEMPERATURE)
    of_steps = np.outer(a.any(axis=1), b.any(axis=1))
    return np.where(of_steps, (1 - MEANING_SHARE) * by_words + MEANING_SHARE * by_meaning, by_words)


def step_vectors(tasks: Sequence[Task], encoder: Encoder) -> npt.NDArray[np.float32]:
    """(C, e) unit vectors of the names of all steps, task after task, with a zero row for the background of each; half precision."""
    names = [step for task in tasks for step in task.steps]
    rows = iter(encoder.encode([" ".join(words_of_step_parts(name)) for name in names]).astype(np.float16).astype(np.float32))
    found: list[npt.NDArray[np.float32]] = []
    for task in tasks:
        found.extend(next(rows) for _ in task.steps)
        found.append(np.zeros_like(found[-1]))
    return np.stack(found)
