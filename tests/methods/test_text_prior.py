from dataclasses import replace

import numpy as np
import pytest

from crosstask.evaluation.evaluate import evaluate_videos
from crosstask.learning.hmm.class_means import TEXT_SEPARATION, lda_weights
from crosstask.learning.hmm.whitening import Whitening, fit_whitening
from crosstask.methods.hmm import HiddenMarkovModel
from crosstask.methods.text_prior import text_directions
from crosstask.methods.text_prior import with_text_side as scorer_with
from crosstask.metrics.truth import annotated_videos
from crosstask.model.file import load_model
from crosstask.model.training import train
from crosstask.records import InputError, Task, TextSide
from tiny import tiny_corpus, with_text_side

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("n_dimensions", [6, 700])
def test_directions_give_the_products_of_centred_features(n_dimensions):
    """Whitened rows times directions are the centred features times text vectors, also where features are projected."""
    corpus = with_text_side(tiny_corpus(n_dimensions=n_dimensions))
    rows = [corpus.features.rows(video.id) for video in corpus.videos]
    whitening, task = fit_whitening(rows), corpus.tasks["1"]
    directions = text_directions(corpus.text_side, [task], whitening)
    assert np.array_equal(directions[-1], np.zeros(whitening.width)), "background has no name"
    vectors = np.stack([corpus.text_side.vectors[step] for step in task.steps])
    expected = (rows[0] - rows[0].mean(axis=0)) @ vectors.T
    assert np.allclose(whitening.transform(rows[0]) @ directions[:-1].T, expected, atol=0.02)


def test_constant_columns_do_no_harm():
    side = TextSide("m", 0, 2, {"a": np.array([0.6, 0.8], np.float32)})
    found = text_directions(side, [Task("1", "T", ("a",))], Whitening(np.array([np.inf, 2.0], np.float32)))
    assert np.allclose(found, [[0, 1.6], [0, 0]])


def test_a_text_side_wider_than_the_features_is_refused():
    corpus = with_text_side(tiny_corpus())
    with pytest.raises(InputError, match="extract features and text side again"):
        HiddenMarkovModel().fit(replace(corpus, text_side=replace(corpus.text_side, first=1)), RNG)


def test_few_videos_and_new_tasks_gain_from_the_text_side():
    corpus = with_text_side(tiny_corpus(videos_per_task=6, n_segments=60)).without_windows()
    few = [corpus.videos_of(task)[0] for task in ("2", "30")]
    seen = corpus.only_tasks(["2", "30"]).only(few)
    test = [video for video in annotated_videos(corpus) if video.task == "1"]
    with_text, without = (
        evaluate_videos(corpus, HiddenMarkovModel().fit(c, RNG), test).recall for c in (seen, replace(seen, text_side=None))
    )
    assert with_text > 0.9 and with_text > without + 0.2


def test_prior_weights_of_a_new_task_are_the_text_vectors():
    """Without trained coefficients, the LDA weights of a new task are its text directions, TEXT_SEPARATION deviations apart."""
    corpus = with_text_side(tiny_corpus())
    scorer = HiddenMarkovModel(members=1).fit(corpus, RNG).members[0]
    task = Task("new", "New", ("pour water", "pour milk"))
    covariance = scorer.parameters.covariance
    weights = lda_weights(scorer._prior_means(task), covariance).weights
    directions = text_directions(scorer.text_side, [task], scorer.whitening)
    cosines = (
        (weights * directions).sum(axis=1)[:2] / np.linalg.norm(weights, axis=1)[:2] / np.linalg.norm(directions, axis=1)[:2]
    )
    assert np.allclose(cosines, 1, atol=1e-4)
    assert np.allclose(np.einsum("kd,de,ke->k", weights, covariance, weights)[:2], TEXT_SEPARATION**2, rtol=1e-3)


def test_a_model_file_keeps_the_text_side_and_no_folder(tmp_path):
    corpus = with_text_side(tiny_corpus())
    corpus = replace(corpus, text_side=replace(corpus.text_side, folder="/some/folder"))
    model = train(corpus)
    path = model.save(tmp_path / "m.safetensors")
    assert b"/some/folder" not in path.read_bytes()
    again, rows = load_model(path), corpus.features.rows("-v1_1")
    assert np.allclose(again.score("1", rows), model.score("1", rows), atol=1e-3)
    new = Task("new", "New", ("never seen", "pour milk"))
    with pytest.raises(InputError, match="step 'never seen'"):
        again.localize(rows, new)
    more = {"never seen": corpus.text_side.vectors["boil water"]}
    told = scorer_with(again, replace(corpus.text_side, vectors=more))
    assert len(told.localize(rows, new).steps) == 2
