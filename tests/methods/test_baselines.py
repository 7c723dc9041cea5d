import numpy as np
import pytest

from crosstask.evaluation.evaluate import evaluate_videos
from crosstask.learning.baselines.discriminative_clustering import DiffracSettings
from crosstask.methods.alayrac16 import Alayrac16
from crosstask.methods.order_only import Uniform
from crosstask.methods.richard18 import Richard18
from crosstask.metrics.truth import annotated_videos
from crosstask.model.file import load_model, save_model
from crosstask.model.model import Model
from crosstask.records import InputError, task_from_steps
from tiny import tiny_corpus


def recall(corpus, scorer):
    return evaluate_videos(corpus, scorer, annotated_videos(corpus)).to_json()["recall"]["mean"]


def test_alayrac16_finds_steps_that_stand_out():
    corpus = tiny_corpus(videos_per_task=12)
    gaps = []
    scorer = Alayrac16(DiffracSettings(ridge=0.1), lambda found: gaps.append(found.gaps)).fit(corpus, np.random.default_rng(0))
    assert recall(corpus, scorer) > 0.9 > recall(corpus, Uniform())
    assert len(gaps) == 3 and all(of_task[-1] <= of_task[0] for of_task in gaps)


def test_alayrac16_depends_on_windows_and_on_no_generator():
    corpus = tiny_corpus()
    task, rows = corpus.tasks["1"], corpus.features.rows("-v1_2")
    first, again, free = (
        Alayrac16().fit(c, np.random.default_rng(seed)) for c, seed in ((corpus, 0), (corpus, 1), (corpus.without_windows(), 0))
    )
    assert np.array_equal(first.score(task, rows), again.score(task, rows))
    assert not np.allclose(first.score(task, rows), free.score(task, rows))


def test_richard18_looks_at_neither_order_nor_windows():
    corpus = tiny_corpus()
    task, rows = corpus.tasks["1"], corpus.features.rows("-v1_2")
    first, free = (Richard18().fit(c, np.random.default_rng(0)) for c in (corpus, corpus.without_windows()))
    assert np.array_equal(first.score(task, rows), free.score(task, rows))


@pytest.mark.parametrize("method", [Alayrac16(), Richard18()], ids=["alayrac16", "richard18"])
def test_a_baseline_comes_back_from_its_file(method, tmp_path):
    corpus = tiny_corpus()
    model = Model(method.fit(corpus, np.random.default_rng(0)), corpus.tasks, "m")
    again = load_model(save_model(model, tmp_path / "m.safetensors"))
    rows = corpus.features.rows("-v1_2")
    assert np.array_equal(again.score(corpus.tasks["1"], rows), model.score(corpus.tasks["1"], rows))
    assert again.localize(rows, "2") == model.localize(rows, "2")
    with pytest.raises(InputError, match="columns"):
        again.score(corpus.tasks["1"], np.zeros((9, 2)))


def test_a_task_that_was_not_trained_is_refused():
    scorer = Alayrac16().fit(tiny_corpus(), np.random.default_rng(0))
    with pytest.raises(InputError, match="'Boil Egg': not one of the 3 tasks"):
        scorer.score(task_from_steps("boil water, add egg", "Boil Egg"), np.zeros((9, 6)))
