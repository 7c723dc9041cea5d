import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crosstask.records import InputError, Task
from crosstask.text import SHARING, count_words, stems_of_step, steps_with_component, vocabulary_of

LATTE = Task("1", "Latte", ("pour milk", "stir", "pour milk"))
TEA = Task("2", "Tea", ("pour water", "stir"))


def test_vocabulary_sizes_by_level_of_sharing():
    sizes = {sharing: len(vocabulary_of([LATTE, TEA], sharing).names) for sharing in SHARING}
    assert sizes == {"component": 4, "step": 3, "task-component": 6, "none": 4}


def test_repeated_step_has_one_classifier():
    components = vocabulary_of([LATTE], "none").components_of(LATTE)
    assert components.membership.shape == (3, 2)
    assert np.array_equal(components.membership[0], components.membership[2])


def test_averaging_rows_sum_to_one():
    components = vocabulary_of([LATTE, TEA]).components_of(TEA)
    assert np.allclose(components.averaging.sum(axis=1), 1)


def test_unknown_words_and_untrained_steps_are_listed():
    components = vocabulary_of([LATTE]).components_of(Task("9", "new", ("pour whisky", "garnish")))
    assert components.unknown == ("garnish", "whiski")
    assert components.untrained_steps == [1]


@given(st.permutations([LATTE, TEA, Task("3", "Soup", ("cut onion", "stir soup"))]))
def test_vocabulary_is_independent_of_task_order(tasks):
    for sharing in SHARING:
        assert vocabulary_of(tasks, sharing) == vocabulary_of(sorted(tasks, key=lambda t: t.id), sharing)


def test_unknown_level_of_sharing_lists_the_known_ones():
    with pytest.raises(InputError, match="component, step, task-component, none"):
        vocabulary_of([LATTE], "words")


def test_golden_numbers_of_the_release(real_release):
    tasks = list(real_release.tasks.values())
    assert len(vocabulary_of(tasks).names) == 381
    assert count_words(tasks) == 406
    assert steps_with_component(tasks, "stir") == 30
    primary = {w for t in tasks if t.primary for s in t.steps for w in s.split()}
    related = {w for t in tasks if not t.primary for s in t.steps for w in s.split()}
    assert len(primary - related) == 34
    assert stems_of_step("attach shelve") == ["attach", "shelv"]


@pytest.mark.parametrize("name", ["", "\ud800", 3])
def test_what_a_sharing_function_returns_can_be_stored(name):
    with pytest.raises(InputError, match="expected at least one name, each a string"):
        vocabulary_of([LATTE], lambda task, step: [name])
