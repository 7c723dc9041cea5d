import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crosstask.records import InputError, Task
from crosstask.text import SHARING, count_words, stems_of_step, steps_with_component, vocabulary_of

LATTE = Task("1", "Latte", ("pour milk", "stir", "pour milk"))
TEA = Task("2", "Tea", ("pour water", "stir"))


def test_each_level_shares_what_it_says():
    sizes = {sharing: len(vocabulary_of([LATTE, TEA], sharing).names) for sharing in SHARING}
    assert sizes == {"component": 4, "step": 3, "task-component": 6, "none": 4}


def test_a_step_named_twice_is_two_places_and_one_classifier():
    parts = vocabulary_of([LATTE], "none").components_of(LATTE)
    assert parts.membership.shape == (3, 2)
    assert np.array_equal(parts.membership[0], parts.membership[2])


def test_rows_average_to_one():
    parts = vocabulary_of([LATTE, TEA]).components_of(TEA)
    assert np.allclose(parts.averaging.sum(axis=1), 1)


def test_unseen_words_are_named_and_steps_of_them_alone_too():
    parts = vocabulary_of([LATTE]).components_of(Task("9", "new", ("pour whisky", "garnish")))
    assert parts.unknown == ("garnish", "whiski")
    assert parts.untrained_steps == [1]


@given(st.permutations([LATTE, TEA, Task("3", "Soup", ("cut onion", "stir soup"))]))
def test_nothing_depends_on_the_order_of_tasks(tasks):
    for sharing in SHARING:
        assert vocabulary_of(tasks, sharing) == vocabulary_of(sorted(tasks, key=lambda t: t.id), sharing)


def test_an_unknown_level_lists_the_known_ones():
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
