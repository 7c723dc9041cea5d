"""Training through the public function: labels by a person, models to start from, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest

import crosstask as ct
from crosstask.features import FeaturesInMemory, write_rows
from crosstask.records import InputError, Interval, StepInterval, StepLabel, VideoKey
from crosstask.synthetic import write_synthetic
from tiny import tiny_corpus, write_tiny


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("synthetic") / "corpus"
    return ct.open_corpus(write_synthetic(folder, "small", "easy", 3, 32))


@pytest.fixture(scope="module")
def keys(corpus):
    by_task = {}
    for video in corpus.videos:
        if video.key in corpus.annotations:
            by_task.setdefault(video.task, []).append(str(video.key))
    return {
        "train": [key for of_task in by_task.values() for key in of_task[::2]],
        "test": [key for of_task in by_task.values() for key in of_task[1::2]],
    }


@pytest.fixture(scope="module")
def weak(corpus, keys):
    return ct.train(corpus, videos=keys["train"], narration=False, pack=False)


def recall(model, corpus, keys):
    return ct.evaluate(model, corpus, keys["test"]).recall


def test_annotations_help_and_all_of_them_help_most(corpus, keys, weak):
    one_a_task = list({key.split("_")[0]: key for key in keys["train"]}.values())
    some = ct.train(corpus, videos=keys["train"], narration=False, use_annotations=one_a_task, pack=False)
    whole = ct.train(corpus, videos=keys["train"], narration=False, use_annotations="all", pack=False)
    assert recall(weak, corpus, keys) + 0.02 < recall(some, corpus, keys) < recall(whole, corpus, keys)
    assert whole.settings["labelled_videos"] == len(keys["train"]) and "labelled_videos" not in weak.settings


def test_all_annotations_are_not_below_supervised(corpus, keys):
    whole = ct.train(corpus, videos=keys["train"], use_annotations="all", pack=False)
    supervised = ct.train(corpus, "supervised", videos=keys["train"], learning_rate=1e-3, dropout=0.3, pack=False)
    assert recall(whole, corpus, keys) >= recall(supervised, corpus, keys)


def test_labels_of_the_corpus_count_without_being_asked_for(corpus, keys, weak):
    """As corrections of a run do."""
    labels = {v.key: (StepLabel(0, moment_s=2.0),) for v in corpus.videos if str(v.key) in keys["train"]}
    told = ct.train(replace(corpus, labels=labels), videos=keys["train"], narration=False, pack=False)
    one, other = told.scorer.members[0].parameters, weak.scorer.members[0].parameters
    assert not np.allclose(one.coefficients, other.coefficients)


def test_supervised_learns_from_the_listed_annotations_alone(corpus, keys):
    settings = {"learning_rate": 1e-3, "dropout": 0.3, "epochs": 2, "pack": False}
    listed = ct.train(corpus, "supervised", videos=keys["train"], use_annotations=keys["train"][:3], **settings)
    those = ct.train(corpus, "supervised", videos=keys["train"][:3], **settings)
    whole = ct.train(corpus, "supervised", videos=keys["train"], **settings)
    task = corpus.tasks[keys["train"][0].split("_")[0]]
    rows = corpus.features.rows(corpus.videos_of(task.id)[0].id)
    assert np.allclose(listed.score(task, rows)[:, 0], those.score(task, rows)[:, 0], atol=0.2)
    assert not np.allclose(listed.score(task, rows), whole.score(task, rows), atol=1e-3)


def test_a_model_to_start_from_saves_iterations(corpus, keys, weak):
    epochs = []
    again = ct.train(
        corpus, videos=keys["train"], narration=False, start=weak, after_epoch=lambda state: epochs.append(1), pack=False
    )
    assert 1 <= len(epochs) < ct.METHODS["hmm"]().n_epochs / 2
    assert recall(again, corpus, keys) > recall(weak, corpus, keys) - 0.05


def test_labels_fix_their_steps_when_localizing(corpus, keys, weak):
    key = keys["test"][0]
    task, video = corpus.tasks[key.split("_")[0]], key.split("_", 1)[1]
    rows = corpus.features.rows(video)
    labels = [StepLabel(0, moment_s=1.0), StepLabel(1, intervals=(Interval(3, 5),))]
    found = weak.localize(rows, task, labels=labels)
    assert found.steps[0].moment_s == 1.0 and 3 <= found.steps[1].moment_s < 5
    assert found.steps[0].confidence == 1.0 and found.steps[2].confidence < 1
    assert not weak.localize(rows, task, labels=[StepLabel(1)]).steps[1].shown


@pytest.mark.parametrize(
    ("method", "listed", "says"),
    [
        ("zhukov19", "all", "method 'zhukov19' cannot learn from labels.*hmm, supervised"),
        ("hmm", ["nowhere_video"], "video nowhere_video is not a training video"),
        ("hmm", "all", "no training video is annotated"),
    ],
)
def test_annotations_that_cannot_be_used_are_refused(corpus, keys, method, listed, says):
    corpus = replace(corpus, annotations={}) if "no training video" in says else corpus
    with pytest.raises(InputError, match=says):
        ct.train(corpus, method, videos=keys["train"], use_annotations=listed, pack=False)


def test_a_label_of_a_step_that_does_not_exist_is_refused(corpus, keys):
    key = next(v.key for v in corpus.videos if str(v.key) in keys["train"])
    with pytest.raises(InputError, match="a label names step 100"):
        ct.train(replace(corpus, labels={key: (StepLabel(99),)}), videos=keys["train"], pack=False)


@pytest.mark.parametrize("method", ["hmm", "zhukov19", "supervised"])
@pytest.mark.parametrize("step", [-1, 9])
def test_intervals_of_steps_that_do_not_exist_are_refused(method, step):
    """A corpus made in Python may number steps from 1, or background as -1, which NumPy would take for the last step."""
    corpus = tiny_corpus()
    video = next(video for video in corpus.videos if video.key not in corpus.validation)
    wrong = {video.key: (StepInterval(step, Interval(1, 2)),)}
    says = rf"of video {video.key}: step {step} does not exist; expected 0 to \d+, and no entry for background"
    with pytest.raises(InputError, match=says):
        ct.train(replace(corpus, windows=wrong, annotations=wrong), method)
    assert ct.evaluate("uniform", replace(corpus, annotations={**corpus.annotations, **wrong})).skipped.keys() == {str(video.key)}


@pytest.mark.parametrize("method", ["hmm", "uniform"])
def test_features_that_change_while_they_are_trained_on_are_an_error(tmp_path, method):
    write_tiny(tmp_path)
    corpus = ct.open_corpus(tmp_path)
    video = next(video for video in corpus.videos if video.key not in corpus.validation)

    class Changing(ct.METHODS[method]):
        def fit(self, corpus, rng):
            fitted = super().fit(corpus, rng)
            write_rows(tmp_path / "crosstask_features" / f"{video.id}.npy", np.ones((9, 6), np.float32))
            return fitted

    with pytest.raises(InputError, match=f"the features of {video.id} changed while they were trained on; repeat the training"):
        ct.train(corpus, Changing())


def test_a_method_without_a_start_refuses_one(corpus, keys, weak):
    with pytest.raises(InputError, match="cannot start from a model"):
        ct.train(corpus, "supervised", videos=keys["train"], start=weak, pack=False)


@pytest.mark.parametrize("method", ["hmm", "supervised"])
def test_an_annotation_after_the_end_of_its_video_is_no_label(corpus, keys, method):
    """It is of another video, or in other units; evaluation leaves such a video out."""
    key = next(video.key for video in corpus.videos if str(video.key) == keys["train"][0])
    late = replace(corpus, annotations={key: (StepInterval(0, Interval(10, 9e5)),)})
    with pytest.raises(InputError, match=f"annotation of {key}: step 1 ends after the video"):
        ct.train(late, method, videos=keys["train"], use_annotations="all", pack=False)


def test_a_video_too_short_for_its_steps_is_not_among_the_training_videos():
    corpus = tiny_corpus()
    video = corpus.videos[1]
    rows = {name: corpus.features.rows(name) for name in corpus.features}
    rows[video.id] = rows[video.id][: len(corpus.task_of(video).steps) - 1]
    model = ct.train(replace(corpus, features=FeaturesInMemory(rows)), members=1)
    assert ct.train(corpus, members=1).trained_on - model.trained_on == {video.key}


def test_videos_without_features_are_named(caplog):
    corpus = tiny_corpus()
    rows = {video.id: corpus.features.rows(video.id) for video in corpus.videos if video.id != "-v1_2"}
    model = ct.train(replace(corpus, features=FeaturesInMemory(rows)), "uniform")
    assert "1 video without features, left out: 1_-v1_2" in caplog.text
    assert VideoKey("1", "-v1_2") not in model.trained_on
