from dataclasses import replace

import numpy as np
import pytest

from crosstask.evaluation.evaluate import evaluate
from crosstask.learning.hmm.class_means import TEXT_SEPARATION
from crosstask.methods.zero_shot import ZeroShot
from crosstask.model.file import load_model
from crosstask.model.training import train
from crosstask.records import InputError, StepLabel, Task, TextSide
from tiny import tiny_corpus, with_text_side


def test_it_finds_steps_without_any_training_video():
    corpus = with_text_side(tiny_corpus(n_segments=60))
    assert evaluate("zero-shot", corpus).recall > 0.9 > 0.6 > evaluate("uniform", corpus).recall


def test_the_wrong_names_are_not_found():
    """With the vectors of the steps exchanged, the same features give less: the names count."""
    corpus = with_text_side(tiny_corpus())
    names = sorted(corpus.text_side.vectors)
    exchanged = {name: corpus.text_side.vectors[other] for name, other in zip(names, names[1:] + names[:1], strict=True)}
    wrong = replace(corpus, text_side=replace(corpus.text_side, vectors=exchanged))
    assert evaluate("zero-shot", wrong).recall < evaluate("zero-shot", corpus).recall - 0.2


def test_similarities_by_hand():
    side = TextSide("m", 1, 2, {"a": np.array([1.0, 0.0], np.float32), "b": np.array([0.0, 1.0], np.float32)})
    corpus = replace(tiny_corpus(), tasks={"x": Task("x", "X", ("a", "b"))}, text_side=side)
    features = np.array([[9, 1, 5], [8, 3, 5], [7, 5, 5]], np.float32)
    found = ZeroShot().fit(corpus, np.random.default_rng(0)).similarities(corpus.tasks["x"], features)
    assert np.allclose(found[:, 0], TEXT_SEPARATION * np.array([-1, 0, 1]) / np.sqrt(2 / 3))
    assert np.array_equal(found[:, 1], [0, 0, 0]), "a constant column says nothing"


def test_features_without_a_text_side_are_refused():
    with pytest.raises(InputError, match=r"have no text side, .* --features clip=FOLDER"):
        evaluate("zero-shot", tiny_corpus())


def test_features_of_another_width_and_labels_are_refused():
    corpus = with_text_side(tiny_corpus())
    scorer = ZeroShot().fit(corpus, np.random.default_rng(0))
    with pytest.raises(InputError, match="features have 5 columns; the text side"):
        scorer.score(corpus.tasks["1"], np.zeros((9, 5)))
    with pytest.raises(InputError, match="cannot use labels"):
        scorer.posterior(corpus.tasks["1"], np.zeros((9, 6)), [StepLabel(0)])


def test_saved_and_loaded_it_gives_the_same_scores(tmp_path):
    corpus = with_text_side(tiny_corpus())
    model = train(corpus, "zero-shot")
    again = load_model(model.save(tmp_path / "m.safetensors"))
    rows = corpus.features.rows("-v1_1")
    assert np.array_equal(again.score("1", rows), model.score("1", rows)) and again.localize(rows, "1").steps
    with pytest.raises(InputError, match="step 'never seen': its vector"):
        again.localize(rows, steps=["never seen", "pour milk"])
