import numpy as np

from crosstask.synthetic.step_lists import PREPOSITIONS, catalogue, permute_names, tasks_of_shape
from crosstask.text import vocabulary_of


def words(tasks):
    return {word for task in tasks for step in task.steps for word in step.split()}


def test_the_catalogue_has_the_release_shape():
    tasks = tasks_of_shape(18, 65, catalogue())
    primary = [len(task.steps) for task in tasks if task.primary]
    related = [len(task.steps) for task in tasks if not task.primary]
    assert (len(primary), len(related)) == (18, 65)
    assert abs(np.mean(primary) - 7.39) < 0.2 and abs(np.mean(related) - 8.78) < 0.3
    assert all(3 <= n <= 11 for n in primary + related)
    assert 360 <= len(vocabulary_of(tasks).names) <= 400


def test_titles_and_ids_differ_and_no_task_repeats_a_step():
    tasks = catalogue()
    assert len({task.id for task in tasks}) == len({task.title for task in tasks}) == len(tasks)
    assert all(len(set(task.steps)) == len(task.steps) for task in tasks)
    assert not any("," in step for task in tasks for step in task.steps)


def test_every_word_has_one_role_and_its_own_stem():
    tasks = catalogue()
    verbs = {step.split()[0] for task in tasks for step in task.steps}
    others = {word for task in tasks for step in task.steps for word in step.split()[1:]}
    assert not verbs & others
    assert others >= PREPOSITIONS
    assert len(vocabulary_of(tasks).names) == len(words(tasks))


def test_primary_steps_are_named_elsewhere_as_often_as_in_the_release():
    tasks = tasks_of_shape(18, 65, catalogue())
    places = [(task, step) for task in tasks if task.primary for step in task.steps]
    elsewhere = np.mean([any(step in other.steps for other in tasks if other is not task) for task, step in places])
    assert abs(elsewhere - 0.53) < 0.05


def test_permuting_keeps_names_and_sizes_and_moves_nearly_all():
    tasks = tasks_of_shape(18, 65, catalogue())
    dealt = permute_names(tasks, np.random.default_rng(3))
    assert sorted(s for t in dealt for s in t.steps) == sorted(s for t in tasks for s in t.steps)
    assert [len(t.steps) for t in dealt] == [len(t.steps) for t in tasks]
    assert all(len(set(t.steps)) == len(t.steps) for t in dealt)
    kept = np.mean([a == b for t, d in zip(tasks, dealt, strict=True) for a, b in zip(t.steps, d.steps, strict=True)])
    assert kept < 0.05
