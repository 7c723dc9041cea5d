import numpy as np
import pytest

from crosstask.records import VideoKey
from crosstask.synthetic.films.actions import ACTIONS
from crosstask.synthetic.films.drawing import THINGS
from crosstask.synthetic.films.scenes import HEIGHT, WIDTH, draw_frame, furnish
from crosstask.synthetic.films.scripts import TASKS, Shot, write_script


def test_every_step_can_be_drawn_and_words_are_shared():
    steps = [step.split() for task in TASKS for step in task.steps]
    assert {verb for verb, _ in steps} == set(ACTIONS) and {noun for _, noun in steps} <= set(THINGS)
    assert len(TASKS) >= 8
    tasks_of = {word: {t.id for t in TASKS for s in t.steps if word in s.split()} for word in {w for s in steps for w in s}}
    assert sum(len(tasks) > 1 for tasks in tasks_of.values()) >= len(tasks_of) / 2


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


def test_a_small_corpus_renders_to_the_same_bytes(tmp_path):
    pytest.importorskip("av", reason="extra video is not installed")
    from crosstask import open_corpus
    from crosstask.extraction.containers import probe
    from crosstask.synthetic.films.corpus import render_corpus

    for name in ("a", "b"):
        tested = render_corpus(tmp_path / name, seed=3, videos_per_task=2, test_videos_per_task=1, tasks=TASKS[:2])
    assert tested == [VideoKey("latte", "latte-01"), VideoKey("omelette", "omelette-01")]
    corpus = open_corpus(tmp_path / "a")
    assert len(corpus.videos) == 4 and set(corpus.annotations) == {v.key for v in corpus.videos}
    for video in corpus.videos:
        path = tmp_path / "a" / video.url
        assert path.read_bytes() == (tmp_path / "b" / video.url).read_bytes()
        end = max(s.interval.end_s for s in corpus.annotations[video.key])
        assert end <= probe(path).seconds + 0.3 and corpus.subtitles[video.id].words
