import errno
import json
import os

import numpy as np
import pytest

from cli.running import crosstask, json_of, refused
from crosstask.corpus_building.purity import PurityCurve, draw_purity, purity_curve, read_marks, rerank
from crosstask.corpus_building.relevance import (
    DEFAULT,
    RelevanceSettings,
    content_stems,
    rank_by_narration,
    relevance,
    spoken_stems,
    stem_weights,
)
from crosstask.records import InputError, Narration, Task, Word
from tiny import TASKS, write_tiny

WORDS = stem_weights(TASKS.values())
CLOSE = RelevanceSettings(window_words=2, title_weight=0)


def narration(text):
    return Narration(tuple(Word(word, float(i), i + 1.0) for i, word in enumerate(text.split())))


def spoken(text, task=TASKS["1"], settings=CLOSE):
    return relevance(spoken_stems(narration(text)), task, WORDS, settings)


def test_all_steps_spoken_in_order_give_one_and_none_give_zero():
    assert spoken("pour milk and now stir coffee and then pour coffee") == pytest.approx(1)
    assert spoken("welcome to my channel") == 0 == spoken("")


def test_the_order_counts():
    assert spoken("pour coffee um um stir coffee um um pour milk") < spoken("pour milk um um stir coffee um um pour coffee")


def test_a_step_left_out_costs_its_weight_only():
    whole, part = spoken("pour milk um um stir coffee um um pour coffee"), spoken("pour milk um um pour coffee")
    assert 0.5 < part < whole


def test_the_best_ordered_sum_agrees_with_enumeration():
    """The programme against every choice of ordered moments."""
    from itertools import combinations

    from crosstask.corpus_building.relevance import _best_ordered_sum

    rng = np.random.default_rng(0)
    for _ in range(20):
        scores = rng.random((6, 3)) * (rng.random((6, 3)) < 0.6)
        best = max(
            sum(scores[moment, step] for moment, step in zip(moments, steps, strict=True))
            for n in range(4)
            for steps in combinations(range(3), n)
            for moments in combinations(range(6), n)
        )
        assert _best_ordered_sum(scores) == pytest.approx(best)


def test_plurals_and_everyday_words():
    assert content_stems("put the loaves in the oven") == ["put", "loaf", "oven"]
    assert spoken("cut the shelf", Task("9", "x", ("cut shelves",))) == pytest.approx(1)


def test_rare_words_have_larger_weights():
    assert WORDS.weight("pour") < WORDS.weight("cocoa") < WORDS.weight("rotor")


def test_the_ranking_is_by_descending_relevance():
    narrations = {"b": narration("nothing"), "a": narration("nothing"), "c": narration("pour milk for a latte")}
    assert [row.video for row in rank_by_narration(narrations, TASKS["1"], WORDS)] == ["c", "a", "b"]


@pytest.mark.slow
def test_real_transcripts_are_relevant_for_their_task(real_data, real_release):
    """Every transcript against all 83 step lists, with the settings of the command."""
    from sklearn.metrics import roc_auc_score

    words, tasks = stem_weights(real_release.tasks.values()), list(real_release.tasks.values())
    for task_id in ("76400", "59684"):
        videos = [video for video in real_release.videos_of(task_id) if video.id in real_release.subtitles]
        spoken_words = [spoken_stems(real_release.subtitles[video.id]) for video in videos]
        scores = [relevance(stems, task, words, DEFAULT) for stems in spoken_words for task in tasks]
        right = [task.id == task_id for _ in videos for task in tasks]
        assert roc_auc_score(right, scores) >= 0.95


def test_purity_and_its_cut():
    curve = purity_curve({"a": [("x", True), ("y", False), ("z", True)], "b": [("u", True)]})
    assert curve.purity == pytest.approx((1, 2 / 3, 3 / 4)) and curve.videos == (2, 3, 4)
    assert curve.suggested_cut(0.7) == 3 and curve.suggested_cut(0.99) == 1
    assert PurityCurve((0.0,), (1,)).suggested_cut() == 0
    low, high = curve.interval(3)
    assert low < 0.75 < high and low >= 0 and high <= 1


def test_marks_are_reordered_by_score():
    assert rerank([("x", False), ("y", True), ("z", True)], {"x": 0.1, "y": 0.9}) == [("y", True), ("x", False), ("z", True)]


@pytest.mark.parametrize(
    ("text", "message"),
    [("a,maybe\n", "line 1: found"), ("a,1\na,0\n", "line 2: video a is marked twice"), ("\n", "no marks"), ("a\n", "expected")],
)
def test_bad_marks_are_refused_in_words(tmp_path, text, message):
    (tmp_path / "m.csv").write_text(text)
    with pytest.raises(InputError, match=message):
        read_marks(tmp_path / "m.csv")


def test_a_header_is_no_mark(tmp_path):
    for header in ("video,relevant", "task,video,mark"):
        (tmp_path / "m.csv").write_text(f"{header}\n{'t,' * header.startswith('task')}a,1\n")
        assert list(read_marks(tmp_path / "m.csv").values()) == [[("a", True)]]


def test_the_figure_is_the_same_bytes_twice(tmp_path):
    curves = {"as searched": purity_curve({"a": [("x", True), ("y", False)]})}
    assert draw_purity(tmp_path / "a.png", curves).read_bytes() == draw_purity(tmp_path / "b.png", curves).read_bytes()


def test_a_figure_appears_whole_or_not_at_all(tmp_path, monkeypatch):
    curves = {"as searched": purity_curve({"a": [("x", True), ("y", False)]})}
    before = draw_purity(tmp_path / "a.png", curves).read_bytes()

    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        draw_purity(tmp_path / "a.png", curves, 0.9)
    assert (tmp_path / "a.png").read_bytes() == before


def test_a_figure_of_another_kind_is_refused(tmp_path):
    write_tiny(tmp_path / "c")
    (tmp_path / "m.csv").write_text("wrong,0\nright,1\n")
    said = "cannot be written as '.txt'; expected a name with .png or .svg"
    assert said in refused("corpus", "relevance", "--marks", tmp_path / "m.csv", "--out", tmp_path / "p.txt")
    assert said in refused("corpus", "map", tmp_path / "c", "--out", tmp_path / "p.txt")


def test_the_verb(tmp_path):
    write_tiny(tmp_path / "c")
    found = tmp_path / "found"
    found.mkdir()
    for name, text in (("right", "pour milk then stir coffee then pour coffee"), ("wrong", "change the tire")):
        (found / f"{name}.vtt").write_text(f"WEBVTT\n\n00:01.000 --> 00:04.000\n{text}\n")
    (found / "broken.json").write_text("{")
    (tmp_path / "m.csv").write_text("wrong,0\nright,1\n")
    arguments = [
        "corpus",
        "relevance",
        tmp_path / "c",
        "--task",
        "make latte",
        "--subtitles",
        found,
        "--marks",
        tmp_path / "m.csv",
    ]
    answer = json_of(*arguments, "--out", tmp_path / "p.svg")
    assert [row["video"] for row in answer["videos"]] == ["right", "wrong"]
    assert answer["purity"]["as searched"]["cut"] == 0 and answer["purity"]["by narration"]["cut"] == 1
    assert (tmp_path / "p.svg").exists()
    assert "take the first 1 of each task" in crosstask(*arguments).stdout
    assert json.dumps(json_of("corpus", "relevance", "--marks", tmp_path / "m.csv")["purity"])


def test_the_verb_refuses_in_one_line(tmp_path):
    write_tiny(tmp_path / "c")
    assert "nothing to judge" in refused("corpus", "relevance")
    assert "which task" in refused("corpus", "relevance", tmp_path / "c")
    assert "not in corpus" in refused("corpus", "relevance", tmp_path / "c", "--task", "latt")
    assert "no subtitles" in refused("corpus", "relevance", tmp_path / "c", "--task", "1")
    assert "cannot be read" in refused("corpus", "relevance", "--marks", tmp_path / "gone.csv")
    assert "no such folder" in refused("corpus", "relevance", tmp_path / "c", "--task", "1", "--subtitles", tmp_path / "gone")


def test_the_purity_of_tens_of_thousands_of_marks(tmp_path):
    rng = np.random.default_rng(0)
    relevant = rng.random((2, 40_000)) < 0.6
    lines = [f"{task},v{i},{int(mark)}" for task, row in zip("ab", relevant[:, ::1], strict=True) for i, mark in enumerate(row)]
    (tmp_path / "marks.csv").write_text("\n".join(lines[:-10_000]))  # the second list is shorter
    curve = purity_curve(read_marks(tmp_path / "marks.csv"))
    for n in (1, 7, 30_000, 30_001, 40_000):
        taken = [*relevant[0, :n], *relevant[1, : min(n, 30_000)]]
        assert curve.purity[n - 1] == pytest.approx(np.mean(taken)) and curve.videos[n - 1] == len(taken)


@pytest.mark.parametrize("name", ["notes", "pic.png", "pic.svg"])
def test_a_figure_overwrites_no_file_that_is_none(tmp_path, name):
    write_tiny(tmp_path / "c")
    (tmp_path / name).write_text("mine")
    said = refused("corpus", "map", tmp_path / "c", "--out", tmp_path / name)
    assert "would be overwritten" in said or "expected a name with .png or .svg" in said
    assert (tmp_path / name).read_text() == "mine"
