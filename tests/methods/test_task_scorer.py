"""The scorer of methods that train each task on its own, Alayrac'16 and Richard'18."""

from dataclasses import replace

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from crosstask.methods.alayrac16 import Alayrac16
from crosstask.methods.richard18 import Richard18, Richard18Linear
from crosstask.model.file import load_model, save_model
from crosstask.model.model import Model
from crosstask.records import InputError, task_from_steps
from tiny import tiny_corpus


@pytest.mark.parametrize(
    ("module", "function", "method"),
    [
        ("alayrac16", "diffrac", Alayrac16()),
        ("richard18", "train_set_network", Richard18()),
        ("richard18", "learn_from_sets", Richard18Linear()),
    ],
)
def test_training_computes_with_one_thread_whatever_the_machine_has(monkeypatch, module, function, method):
    """Sums of matrix products are rounded differently for other numbers of threads."""
    seen = []

    def train(*arguments):
        numpys = next(
            library for library in threadpool_info() if library["user_api"] == "blas" and "numpy" in library["filepath"]
        )
        seen.append(numpys["num_threads"])
        raise KeyboardInterrupt

    monkeypatch.setattr(f"crosstask.methods.{module}.{function}", train)
    with threadpool_limits(limits=2), pytest.raises(KeyboardInterrupt):
        method.fit(tiny_corpus(), np.random.default_rng(0))
    assert set(seen) == {1}


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


def test_other_steps_under_the_id_of_a_trained_task_are_refused(tmp_path):
    corpus = tiny_corpus()
    model = Model(Alayrac16().fit(corpus, np.random.default_rng(0)), corpus.tasks, "alayrac16")
    again = load_model(save_model(model, tmp_path / "m.safetensors"))
    task = corpus.tasks["1"]
    for other in (task.steps[::-1], tuple(f"paint {step}" for step in task.steps)):
        for scorer in (model, again):
            with pytest.raises(InputError, match="with other steps"):
                scorer.score(replace(task, steps=other), corpus.features.rows("-v1_2"))
