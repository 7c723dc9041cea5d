import numpy as np
import pytest

from crosstask.records import Task
from crosstask.text import SHARING
from crosstask.text.stems import stems_of_step_parts
from crosstask.text.word_kernel import (
    BACKGROUND,
    WORDS_OF_CLASS,
    ClassNames,
    class_kernel,
    class_words,
    step_vectors,
    word_kernel,
)

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


def test_meaning_keeps_the_variance_of_every_class_and_a_positive_kernel():
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(7, 5)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors[3] = vectors[6] = 0  # background
    words = class_words(Task("7", "Eggs", ("pour egg", "stir egg", "fry"))) + class_words(
        Task("8", "Milk", ("pour milk", "stir"))
    )
    names = ClassNames(words, vectors)
    by_words, kernel = word_kernel(words, words), class_kernel(names, names)
    assert np.allclose(np.diag(kernel), np.diag(by_words), atol=1e-6)
    assert np.linalg.eigvalsh(kernel).min() > -1e-9
    assert (kernel[3] == by_words[3]).all() and (kernel[:, 6] == by_words[:, 6]).all()
    one, two = words[0], words[1]
    both = np.sqrt(word_kernel([one], [one])[0, 0] * word_kernel([two], [two])[0, 0])
    by_hand = 0.7 * by_words[0, 1] + 0.3 * both * np.exp((vectors[0] @ vectors[1] - 1) / 0.3)
    assert kernel[0, 1] == pytest.approx(by_hand, rel=1e-5)


def test_without_vectors_on_either_side_words_decide():
    names = ClassNames([["pour"]], np.ones((1, 1), np.float32))
    assert class_kernel(names, ClassNames([["pour", "milk"]])).tolist() == [[0.5]]


def test_vectors_of_steps_are_those_of_their_words_and_zero_for_background():
    class Lengths:
        identity = "lengths"

        def encode(self, sentences):
            return np.array([[len(sentence), 1.0] for sentence in sentences], np.float32)

    found = step_vectors([Task("1", "", ("put egg2plate",)), Task("2", "", ("stir", "pour"))], Lengths())
    assert found.tolist() == [[13, 1], [0, 0], [4, 1], [4, 1], [0, 0]]
