from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import crosstask as ct
from crosstask.features import FeaturesInMemory
from crosstask.learning.zhukov19.component_model import log_softmax, step_scores
from crosstask.methods.deep import DeepClassifier, DeepScorer, deep_scorer_from
from crosstask.records import InputError, Task
from crosstask.text import vocabulary_of
from tiny import tiny_corpus

torch = pytest.importorskip("torch")


def random_scorer(tasks, widths=(6, 5, 4)):
    rng, vocabulary = np.random.default_rng(0), vocabulary_of(tasks)
    sizes = [*widths, len(vocabulary.names)]
    layers = tuple(rng.normal(size=(n, m + 1)).astype(np.float32) for m, n in pairwise(sizes))
    return DeepScorer(vocabulary, layers)


def test_scores_are_those_of_the_same_network_in_torch():
    corpus = tiny_corpus()
    scorer, task = random_scorer(corpus.tasks.values()), corpus.tasks["1"]
    linears = [torch.nn.Linear(layer.shape[1] - 1, len(layer)) for layer in scorer.layers]
    for linear, layer in zip(linears, scorer.layers, strict=True):
        linear.weight.data, linear.bias.data = torch.tensor(layer[:, :-1].copy()), torch.tensor(layer[:, -1].copy())
    network = torch.nn.Sequential(linears[0], torch.nn.ReLU(), linears[1], torch.nn.ReLU(), linears[2])
    rows = corpus.features.rows("-v1_2").astype(np.float32)
    parts = scorer.vocabulary.components_of(task)
    with torch.no_grad():
        g = network(torch.tensor(rows)).numpy()
    assert np.allclose(scorer.score(task, rows), log_softmax(step_scores(g[:, parts.numbers], parts.membership)), atol=1e-4)


@pytest.mark.parametrize("hidden", [(), (8,)])
def test_a_trained_model_is_saved_and_loaded(tmp_path, hidden):
    corpus = tiny_corpus()
    model = ct.train(corpus, "deep", hidden=hidden, initial_epochs=2, epochs=2)
    model.save(tmp_path / "deep.safetensors")
    again = ct.load_model(tmp_path / "deep.safetensors")
    rows = corpus.features.rows("-v1_2")
    assert np.array_equal(again.score("1", rows), model.score("1", rows)) and len(again.scorer.layers) == len(hidden) + 1
    assert again.scorer.unknown_steps(Task("9", "New", ("pour milk", "sing"))) == ["sing"]


def test_layers_that_do_not_fit_are_refused():
    arrays, values = random_scorer(tiny_corpus().tasks.values()).to_arrays()
    for broken in ({**arrays, "layer1": arrays["layer1"][:, :-1]}, {"layer0": arrays["layer0"]}, {}):
        with pytest.raises((InputError, KeyError)):
            deep_scorer_from(broken, values)


def test_features_of_another_width_are_refused():
    scorer, task = random_scorer(tiny_corpus().tasks.values()), tiny_corpus().tasks["1"]
    with pytest.raises(InputError, match="trained on 6 columns"):
        scorer.score(task, np.zeros((5, 3)))


def test_a_diverged_training_is_an_error():
    corpus = tiny_corpus()
    rows = {video.id: corpus.features.rows(video.id).astype(np.float32) * np.float32(6e37) for video in corpus.videos}
    corpus = replace(corpus, features=FeaturesInMemory(rows))
    with pytest.raises(InputError, match="diverged"):
        ct.train(corpus, DeepClassifier(), initial_epochs=2, epochs=2)
