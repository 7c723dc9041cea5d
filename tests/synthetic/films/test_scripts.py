import numpy as np

from crosstask.synthetic.films.actions import ACTIONS
from crosstask.synthetic.films.drawing import THINGS
from crosstask.synthetic.films.scripts import TASKS, write_script


def test_every_step_can_be_drawn_and_words_are_shared():
    steps = [step.split() for task in TASKS for step in task.steps]
    assert {verb for verb, _ in steps} == set(ACTIONS) and {noun for _, noun in steps} <= set(THINGS)
    assert len(TASKS) >= 8
    tasks_of = {word: {t.id for t in TASKS for s in t.steps if word in s.split()} for word in {w for s in steps for w in s}}
    assert sum(len(tasks) > 1 for tasks in tasks_of.values()) >= len(tasks_of) / 2


def test_scripts_leave_steps_out_swap_some_and_pause_longer_than_they_act():
    scripts = [write_script(task, np.random.default_rng([0, i, j])) for i, task in enumerate(TASKS) for j in range(30)]
    shown = [[s.step for s in script.truth] for script in scripts]
    missing = 1 - sum(map(len, shown)) / (5 * len(shown))
    swapped = sum(steps != sorted(steps) for steps in shown) / len(shown)
    acting = sum(s.interval.length_s for script in scripts for s in script.truth) / sum(script.seconds for script in scripts)
    assert 0.08 < missing < 0.22 and 0.1 < swapped < 0.3 and 0.2 < acting < 0.5
    assert 35 < np.mean([script.seconds for script in scripts]) < 50
    for script in scripts:
        assert all(a.end_s == b.start_s for a, b in zip(script.shots, script.shots[1:], strict=False))
        assert all(a.end_s <= b.start_s for a, b in zip(script.lines, script.lines[1:], strict=False))
