"""The best recipe: finds what is planted, keeps its model whole, and is steered by nothing but data."""

import ast
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from crosstask.evaluation.evaluate import evaluate
from crosstask.features import FeaturesInMemory
from crosstask.methods.hmm import HiddenMarkovModel, hmm_scorer_from, window_mask
from crosstask.metrics.truth import annotated_videos
from crosstask.model.file import load_model, save_model
from crosstask.model.localization import absence_thresholds_of
from crosstask.model.model import Model
from crosstask.records import InputError, Interval, StepInterval, task_from_steps
from crosstask.text.word_kernel import class_words, word_kernel
from tiny import tiny_corpus


def recall(corpus, scorer):
    return evaluate(corpus, scorer, annotated_videos(corpus)).to_json()["recall"]["mean"]


@pytest.mark.parametrize("windows", [True, False])
def test_plain_steps_are_found_with_and_without_windows(windows):
    corpus = tiny_corpus(videos_per_task=8)
    seen = corpus if windows else corpus.without_windows()
    assert recall(corpus, HiddenMarkovModel().fit(seen, np.random.default_rng(0))) > 0.9


def test_nothing_is_random_and_the_order_of_tasks_and_videos_changes_nothing():
    corpus = tiny_corpus()
    turned = corpus.only(reversed(corpus.videos))
    object.__setattr__(turned, "tasks", dict(reversed(corpus.tasks.items())))
    rows = corpus.features.rows("-v1_2")
    first, second = (HiddenMarkovModel().fit(c, np.random.default_rng(i)) for i, c in enumerate((corpus, turned)))
    assert np.array_equal(first.score(corpus.tasks["1"], rows), second.score(corpus.tasks["1"], rows))


def test_scale_and_offset_of_the_features_change_no_label():
    corpus = tiny_corpus()
    bent = {
        v: corpus.features.rows(v) * np.array([1, 1000, 0.01, 5, 1, 1]) + np.array([0, 7, 100, 0, 0, 0]) for v in corpus.features
    }
    other = replace(corpus, features=FeaturesInMemory(bent))
    for task in corpus.tasks.values():
        video = next(v for v in corpus.videos if v.task == task.id)
        one = HiddenMarkovModel().fit(corpus, np.random.default_rng(0)).score(task, corpus.features.rows(video.id))
        two = HiddenMarkovModel().fit(other, np.random.default_rng(0)).score(task, bent[video.id])
        assert np.allclose(one, two, atol=1e-2)


def test_a_model_comes_back_whole_and_scores_new_tasks(tmp_path):
    corpus = tiny_corpus()
    scorer = HiddenMarkovModel().fit(corpus, np.random.default_rng(0))
    again = load_model(save_model(Model(scorer, corpus.tasks, "best"), tmp_path / "m"))
    rows = corpus.features.rows("-v1_1")
    for task in (corpus.tasks["1"], task_from_steps("boil milk, pour milk, flambé"), corpus.tasks["30"]):
        assert np.allclose(again.score(task, rows), scorer.score(task, rows), atol=1e-3)
    assert again.scorer.unknown_words(task_from_steps("boil milk, flambé")) == ("flambé",)
    assert again.scorer.unknown_steps(task_from_steps("boil milk, flambé")) == ["flambé"]


def test_wide_features_are_turned_onto_their_main_directions():
    corpus = tiny_corpus(n_dimensions=700, videos_per_task=3)
    scorer = HiddenMarkovModel().fit(corpus, np.random.default_rng(0))
    assert scorer.whitening.directions is not None and scorer.whitening.width <= 512
    assert recall(corpus, scorer) > 0.8


def test_sharing_lets_an_untrained_task_be_found():
    corpus = tiny_corpus(videos_per_task=10)
    without = corpus.only_tasks(["1", "30"])
    scorer = HiddenMarkovModel().fit(without, np.random.default_rng(0))
    result = evaluate(corpus, scorer, [v for v in corpus.videos if v.task == "2"])
    assert result.to_json()["recall"]["mean"] > 0.7  # 'boil' and 'pour' were seen elsewhere, 'water' never


def test_windows_over_most_of_the_video_say_nothing():
    corpus = tiny_corpus()
    key = corpus.videos[1].key
    wide = replace(corpus, windows={key: (StepInterval(0, Interval(0, 15)), StepInterval(1, Interval(3, 6)))})
    mask = window_mask(wide, corpus.videos[1])
    assert not mask[:, 0].any() and mask[:, 1].sum() == 3 and not mask[:, 2].any()


def test_five_videos_of_one_task_and_single_rows_are_enough():
    corpus = tiny_corpus().only_tasks(["2"])
    assert recall(tiny_corpus(), HiddenMarkovModel().fit(corpus, np.random.default_rng(0))) >= 0
    flat = replace(corpus, features=FeaturesInMemory({v: np.zeros((20, 6), np.float32) for v in corpus.features}))
    scores = HiddenMarkovModel().fit(flat, np.random.default_rng(0)).score(corpus.tasks["2"], np.zeros((20, 6)))
    assert np.isfinite(scores).all()


def test_other_widths_and_unknown_sharing_are_refused():
    corpus = tiny_corpus()
    with pytest.raises(InputError, match="trained on 6 columns"):
        HiddenMarkovModel().fit(corpus, np.random.default_rng(0)).score(corpus.tasks["1"], np.zeros((9, 5)))
    with pytest.raises(InputError, match="component, step, task-component, none"):
        HiddenMarkovModel("words").fit(corpus, np.random.default_rng(0))


def test_no_data_set_name_width_or_task_steers_the_method():
    """The code of the method holds no name of a data set, and compares nothing with a particular width."""
    source = Path(__file__).parent.parent.parent / "src" / "crosstask"
    for path in [source / "methods" / "hmm.py", *(source / "learning" / "hmm").glob("*.py")]:
        tree = ast.parse(path.read_text("utf-8"))
        documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
        docstrings = {ast.get_docstring(node, clean=False) for node in ast.walk(tree) if isinstance(node, documented)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value not in docstrings:
                assert not [n for n in ("crosstask_release", "breakfast", "synthetic", "3200") if n in node.value.lower()], path
            if isinstance(node, ast.Attribute):
                assert ast.unparse(node) != "corpus.name", path
            if isinstance(node, ast.Compare):
                constants = [c.value for c in ast.walk(node) if isinstance(c, ast.Constant)]
                assert not any(isinstance(c, int) and not isinstance(c, bool) and c > 3 for c in constants), ast.unparse(node)


def test_rows_on_disk_train_the_same_model_as_rows_in_memory(monkeypatch):
    corpus = tiny_corpus()
    in_memory = HiddenMarkovModel().fit(corpus, np.random.default_rng(0))
    monkeypatch.setattr("crosstask.storage.scratch.IN_MEMORY_BYTES", 0)
    on_disk = HiddenMarkovModel().fit(corpus, np.random.default_rng(0))
    assert np.array_equal(in_memory.parameters.coefficients, on_disk.parameters.coefficients)


def test_steps_that_score_low_beside_the_collection_are_called_absent(tmp_path):
    corpus = tiny_corpus(videos_per_task=20)
    task = corpus.tasks["1"]
    rows = {video.id: corpus.features.rows(video.id).copy() for video in corpus.videos}
    without = list(corpus.videos_of("1")[:5])
    for video in without:  # they do not show "stir coffee"
        segments = corpus.annotations[video.key][1].interval.segments(20)
        rows[video.id][segments.start : segments.stop] = 0
    changed = replace(corpus, features=FeaturesInMemory(rows))
    scorer = HiddenMarkovModel().fit(changed, np.random.default_rng(0))
    model = Model(scorer, corpus.tasks)
    said = {v.id: not model.localize(rows[v.id], task).steps[1].shown for v in corpus.videos_of("1")}
    assert all(said[video.id] for video in without) and sum(said.values()) == 6  # three tenths of twenty
    kept = load_model(save_model(model, tmp_path / "m.safetensors"))
    assert (absence_thresholds_of(kept, task) == absence_thresholds_of(scorer, task)).all()
    assert absence_thresholds_of(kept, replace(task, steps=("stir", "pour milk"))) is None  # no collection to compare with


@pytest.mark.parametrize("length", [float("nan"), float("inf"), 0.0, -1.0])
def test_a_background_without_a_length_is_refused(length):
    arrays, values = HiddenMarkovModel().fit(tiny_corpus(), np.random.default_rng(0)).to_arrays()
    lengths = [length, *values["background_lengths"][1:]]
    with pytest.raises(InputError, match="background"):
        hmm_scorer_from(arrays, {**values, "background_lengths": lengths})


def test_kernel_of_a_trained_task_is_that_of_its_words():
    scorer = HiddenMarkovModel().fit(tiny_corpus(), np.random.default_rng(0))
    for number, task in enumerate(scorer.tasks):
        shares = scorer._class_shares
        kernel = shares[scorer._classes.of(number)] @ shares.T
        assert kernel.tobytes() == word_kernel(class_words(task, scorer.sharing), scorer._class_names).tobytes()
