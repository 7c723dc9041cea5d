import numpy as np
import pytest

from crosstask.synthetic.films.actions import ACTIONS
from crosstask.synthetic.films.drawing import OBJECTS
from crosstask.synthetic.films.scenes import HEIGHT, WIDTH, draw_frame, random_kitchen
from crosstask.synthetic.films.scripts import TASKS, Shot


def test_every_step_can_be_drawn_and_words_are_shared():
    steps = [step.split() for task in TASKS for step in task.steps]
    assert {verb for verb, _ in steps} == set(ACTIONS) and {noun for _, noun in steps} <= set(OBJECTS)
    assert len(TASKS) >= 8
    tasks_of = {word: {t.id for t in TASKS for s in t.steps if word in s.split()} for word in {w for s in steps for w in s}}
    assert sum(len(tasks) > 1 for tasks in tasks_of.values()) >= len(tasks_of) / 2


@pytest.mark.parametrize("verb", sorted(ACTIONS))
def test_an_action_moves_and_differs_from_the_bare_table(verb):
    kitchen = random_kitchen(np.random.default_rng(0), unusual=False)
    pictures = [
        draw_frame(kitchen, Shot(0, 4, 0, kind, "egg"), t, np.random.default_rng(1))
        for kind, t in ((verb, 0.1), (verb, 0.5), ("table", 0.1))
    ]
    assert pictures[0].shape == (HEIGHT, WIDTH, 3) and pictures[0].dtype == np.uint8
    assert (np.abs(pictures[0].astype(int) - pictures[1]).max(axis=2) > 30).sum() > 40, "it moves"
    assert (np.abs(pictures[0].astype(int) - pictures[2]).max(axis=2) > 30).mean() > 0.03
