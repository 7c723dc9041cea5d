import numpy as np
import pytest

from crosstask.synthetic.films.actions import ACTIONS
from crosstask.synthetic.films.scenes import HEIGHT, WIDTH, draw_frame, furnish
from crosstask.synthetic.films.scripts import TASKS, Shot


@pytest.mark.parametrize("verb", sorted(ACTIONS))
def test_an_action_moves_and_differs_from_the_bare_table(verb):
    kitchen = furnish(np.random.default_rng(0), unusual=False)
    pictures = [
        draw_frame(kitchen, Shot(0, 4, 0, kind, "egg"), t, np.random.default_rng(1))
        for kind, t in ((verb, 0.1), (verb, 0.5), ("table", 0.1))
    ]
    assert pictures[0].shape == (HEIGHT, WIDTH, 3) and pictures[0].dtype == np.uint8
    assert (np.abs(pictures[0].astype(int) - pictures[1]).max(axis=2) > 30).sum() > 40, "it moves"
    assert (np.abs(pictures[0].astype(int) - pictures[2]).max(axis=2) > 30).mean() > 0.03


def test_unusual_kitchens_have_layouts_of_their_own():
    usual = [furnish(np.random.default_rng(i), False) for i in range(50)]
    unusual = [furnish(np.random.default_rng(i), True) for i in range(50)]
    assert max(abs(k.place[0] - 0.45) for k in usual) < min(abs(k.place[0] - 0.45) for k in unusual)
    assert not any(0.9 <= k.zoom <= 1.15 for k in unusual)


def test_no_colour_tells_a_step(tmp_path):
    """The mean colour of frames says little: a nearest-mean guess over kitchens stays near chance."""
    rng = np.random.default_rng(0)
    steps = TASKS[0].steps
    rows, labels = [], []
    for _ in range(40):
        kitchen = furnish(rng, False)
        for k, step in enumerate(steps):
            verb, noun = step.split()
            rows.append(draw_frame(kitchen, Shot(0, 4, k, verb, noun), 1.0, rng).mean((0, 1)))
            labels.append(k)
    rows, labels = np.array(rows), np.array(labels)
    means = np.stack([rows[:100][labels[:100] == k].mean(0) for k in range(5)])
    guessed = np.linalg.norm(rows[100:, None] - means, axis=2).argmin(1)
    assert (guessed == labels[100:]).mean() < 0.45
