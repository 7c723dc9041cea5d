import numpy as np

from crosstask.synthetic.films.scripts import TASKS, random_script


def test_scripts_leave_steps_out_swap_some_and_show_no_step_most_of_the_time():
    scripts = [random_script(task, np.random.default_rng([0, i, j])) for i, task in enumerate(TASKS) for j in range(30)]
    shown = [[s.step for s in script.truth] for script in scripts]
    missing = 1 - sum(map(len, shown)) / (5 * len(shown))
    swapped = sum(steps != sorted(steps) for steps in shown) / len(shown)
    acting = sum(s.interval.length_s for script in scripts for s in script.truth) / sum(script.seconds for script in scripts)
    assert 0.08 < missing < 0.22 and 0.1 < swapped < 0.3 and 0.2 < acting < 0.5
    assert 33 < np.mean([script.seconds for script in scripts]) < 43
    for script in scripts:
        assert all(a.end_s == b.start_s for a, b in zip(script.shots, script.shots[1:], strict=False))
        assert all(a.end_s <= b.start_s for a, b in zip(script.lines, script.lines[1:], strict=False))
