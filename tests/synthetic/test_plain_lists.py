from collections import Counter

import pytest

from crosstask.synthetic.plain_lists import plain_catalogue, plain_name
from crosstask.synthetic.step_lists import PREPOSITIONS, catalogue, tasks_of_shape
from crosstask.text import stems_of_step


def test_tasks_keep_their_order_ids_and_titles_and_no_name_stands_twice_in_one():
    plain = plain_catalogue()
    assert [(t.id, t.title, t.primary) for t in plain] == [(t.id, t.title, t.primary) for t in catalogue()]
    assert all(len(set(task.steps)) == len(task.steps) for task in plain)
    assert all(3 <= len(task.steps) <= 11 for task in plain)


def test_a_word_is_what_is_done_or_a_thing_or_a_preposition():
    steps = [step.split() for task in plain_catalogue() for step in task.steps]
    verbs, others = {step[0] for step in steps}, {word for step in steps for word in step[1:]}
    assert not verbs & others and not verbs & PREPOSITIONS
    assert all(step[-1] not in PREPOSITIONS for step in steps)


def test_words_and_whole_steps_are_shared_as_in_the_release():
    tasks = tasks_of_shape(18, 65, plain_catalogue())
    in_tasks = Counter(word for task in tasks for word in {w for step in task.steps for w in stems_of_step(step)})
    names = Counter(step for task in tasks for step in set(task.steps))
    primary_words = [w for task in tasks if task.primary for step in task.steps for w in set(stems_of_step(step))]
    assert sum(in_tasks[w] - 1 for w in primary_words) / len(primary_words) == pytest.approx(
        17.3, abs=1
    )  # counted on the release
    for primary, share in ((True, 0.53), (False, 0.33)):
        steps = [step for task in tasks if task.primary == primary for step in task.steps]
        assert sum(names[step] > 1 for step in steps) / len(steps) == pytest.approx(share, abs=0.02)


@pytest.mark.parametrize(
    ("step", "plain"),
    [
        ("mix yeast with water", "add yeast to water"),
        ("mix sauce", "stir sauce"),
        ("bake cake", "put cake in oven"),
        ("pull_out tube", "remove tube"),
        ("remove wheel", "remove wheel"),
    ],
)
def test_a_step_gets_its_plain_name(step, plain):
    assert plain_name(step) == plain
