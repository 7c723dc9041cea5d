import numpy as np
import pytest

from crosstask.records import Task
from crosstask.text import SHARING
from crosstask.text.stems import stems_of_step_parts
from crosstask.text.word_kernel import BACKGROUND, WORDS_OF_CLASS, class_words, word_kernel

EGGS = Task("7", "Eggs", ("Pour egg2plate", "stir_in fruitSalad"))


def test_every_level_of_sharing_has_class_words():
    assert list(WORDS_OF_CLASS) == list(SHARING)


@pytest.mark.parametrize(
    ("sharing", "expected"),
    [
        ("component", [["pour", "egg", "plate"], ["stir", "in", "fruit", "salad"]]),
        ("step", [["pour egg2plate"], ["stir_in fruitsalad"]]),
        ("task-component", [["7: pour", "7: egg", "7: plate"], ["7: stir", "7: in", "7: fruit", "7: salad"]]),
        ("none", [["7: pour egg2plate"], ["7: stir_in fruitsalad"]]),
    ],
)
def test_class_words_at_each_level(sharing, expected):
    assert class_words(EGGS, sharing) == [*expected, [BACKGROUND]]


def test_repeated_words_count_twice_in_the_kernel():
    twice = stems_of_step_parts("cut and cut")
    assert twice == ["cut", "and", "cut"]
    assert np.allclose(word_kernel([twice], [["cut"], ["and"], ["egg"]]), [[2 / 3, 1 / 3, 0]])


def test_kernel_is_symmetric_and_positive_semidefinite():
    words = class_words(EGGS) + class_words(Task("8", "Milk", ("pour milk", "stir", "pour")))
    kernel = word_kernel(words, words)
    assert np.array_equal(kernel, kernel.T) and np.linalg.eigvalsh(kernel).min() > -1e-12
