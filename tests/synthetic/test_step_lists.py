from collections import Counter

import numpy as np
import pytest

from crosstask.records import InputError
from crosstask.synthetic.step_lists import PREPOSITIONS, all_tasks, first_tasks, permute_names
from crosstask.text import stems_of_step, vocabulary_of


def test_the_step_lists_have_the_size_of_the_release():
    tasks = first_tasks(18, 65)
    primary = [len(task.steps) for task in tasks if task.primary]
    related = [len(task.steps) for task in tasks if not task.primary]
    assert (len(primary), len(related)) == (18, 65)
    assert abs(np.mean(primary) - 7.39) < 0.2 and abs(np.mean(related) - 8.78) < 0.3
    assert all(3 <= n <= 11 for n in primary + related)
    assert 330 <= len(vocabulary_of(tasks).names) <= 400


def test_titles_and_ids_differ_and_no_task_repeats_a_step():
    tasks = all_tasks()
    assert len({task.id for task in tasks}) == len({task.title for task in tasks}) == len(tasks) == 89
    assert all(len(set(task.steps)) == len(task.steps) for task in tasks)
    assert not any("," in step or "  " in step or step != step.strip() for task in tasks for step in task.steps)


def test_every_word_has_one_role_and_its_own_stem():
    steps = [step.split() for task in all_tasks() for step in task.steps]
    verbs, others = {step[0] for step in steps}, {word for step in steps for word in step[1:]}
    assert not verbs & others and not verbs & PREPOSITIONS
    assert all(step[-1] not in PREPOSITIONS for step in steps)
    assert len(vocabulary_of(all_tasks()).names) == len(verbs | others)


def test_words_and_whole_steps_are_shared_as_in_the_release():
    tasks = first_tasks(18, 65)
    n_tasks = Counter(word for task in tasks for word in {w for step in task.steps for w in stems_of_step(step)})
    names = Counter(step for task in tasks for step in set(task.steps))
    primary_words = [w for task in tasks if task.primary for step in task.steps for w in set(stems_of_step(step))]
    release = 17.3  # other tasks with a word of a primary step
    assert sum(n_tasks[w] - 1 for w in primary_words) / len(primary_words) == pytest.approx(release, abs=1)
    for primary, share in ((True, 0.53), (False, 0.33)):
        steps = [step for task in tasks if task.primary == primary for step in task.steps]
        assert sum(names[step] > 1 for step in steps) / len(steps) == pytest.approx(share, abs=0.02)


def test_permuting_keeps_names_and_sizes_and_moves_nearly_all():
    tasks = first_tasks(18, 65)
    permuted = permute_names(tasks, np.random.default_rng(3))
    assert sorted(s for t in permuted for s in t.steps) == sorted(s for t in tasks for s in t.steps)
    assert [len(t.steps) for t in permuted] == [len(t.steps) for t in tasks]
    assert all(len(set(t.steps)) == len(t.steps) for t in permuted)
    kept = np.mean([a == b for t, p in zip(tasks, permuted, strict=True) for a, b in zip(t.steps, p.steps, strict=True)])
    assert kept < 0.05


@pytest.mark.parametrize(("n_primary", "n_related"), [(0, 1), (19, 0), (2, 72)])
def test_more_tasks_than_there_are_cannot_be_had(n_primary, n_related):
    with pytest.raises(InputError, match="expected 1 to 18 primary and at most 71 related ones"):
        first_tasks(n_primary, n_related)
