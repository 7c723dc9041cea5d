import errno
import os
from dataclasses import replace

import numpy as np
import pytest

from crosstask.datasets import open_corpus
from crosstask.evaluation.evaluate import evaluate, evaluate_videos
from crosstask.features import FeaturesInMemory
from crosstask.methods import METHODS, method_named
from crosstask.metrics.truth import annotated_videos
from crosstask.model.training import train
from crosstask.records import InputError
from tiny import tiny_corpus, with_text_side, write_tiny


class Oracle:
    """Scores computed from the annotation."""

    def __init__(self, corpus):
        self.truth = {corpus.features.rows(v.id).tobytes(): corpus.annotations[v.key] for v in corpus.videos}

    def score(self, task, features):
        scores = np.zeros((len(features), len(task.steps)))
        for s in self.truth[features.tobytes()]:
            scores[list(s.interval.segments(len(features))), s.step] = 1
        return scores


def test_scores_from_the_annotation_give_one():
    corpus = tiny_corpus()
    result = evaluate_videos(corpus, Oracle(corpus), annotated_videos(corpus)).to_json()
    assert result["recall"]["mean"] == result["map"]["mean"] == result["f1"]["mean"] == 1.0
    assert result["videos"] == 7 and result["skipped"] == {}


def test_a_named_video_without_annotation_is_skipped_by_name():
    corpus = tiny_corpus()
    named = annotated_videos(corpus)[:3]
    corpus = replace(corpus, annotations={key: known for key, known in corpus.annotations.items() if key != named[1].key})
    found = evaluate("uniform", corpus, [str(video.key) for video in named])
    assert found.n_videos == 2 and "no annotation; expected annotations" in found.skipped[str(named[1].key)]


@pytest.mark.parametrize("decoder", ["once", "free"])
def test_every_decoder_skips_a_video_with_fewer_segments_than_steps(decoder):
    corpus = tiny_corpus()
    videos = annotated_videos(corpus)
    short, n_steps = videos[0], len(corpus.task_of(videos[0]).steps)
    rows = {video.id: corpus.features.rows(video.id) for video in videos}
    rows[short.id] = rows[short.id][: n_steps - 1]
    cut = [replace(a, interval=replace(a.interval, start_s=0.0, end_s=1.0)) for a in corpus.annotations[short.key]]
    annotations = dict(corpus.annotations) | {short.key: cut}
    seconds = {video.id: len(rows[video.id]) for video in videos}
    corpus = replace(corpus, features=FeaturesInMemory(rows), annotations=annotations, seconds=seconds)
    found = evaluate_videos(corpus, method_named("uniform"), videos, decoder=decoder)
    assert found.n_videos == len(videos) - 1
    assert list(found.skipped) == [str(short.key)] and f"cannot hold {n_steps} steps" in found.skipped[str(short.key)]


def test_a_model_is_neither_evaluated_nor_trained_further_on_features_of_another_spec():
    corpus = replace(tiny_corpus(), feature_spec="light")
    model = train(corpus, pack=False)
    for use in (lambda other: evaluate(model, other), lambda other: train(other, start=model, pack=False)):
        use(replace(corpus, feature_spec="unknown"))
        with pytest.raises(InputError, match="features are 'log-mel' but the model was trained on 'light'"):
            use(replace(corpus, feature_spec="log-mel"))


def test_uniform_on_the_real_release_is_9_87(real_release):
    result = evaluate_videos(real_release, method_named("uniform"), annotated_videos(real_release))
    assert result.n_videos == 2390
    assert 100 * result.to_json()["recall"]["mean"] == pytest.approx(9.87, abs=0.02)


@pytest.mark.slow
def test_random_on_the_real_release_is_8_5(real_release):
    videos = annotated_videos(real_release)
    draws = [
        evaluate_videos(real_release, method_named("random").fit(real_release, np.random.default_rng(i)), videos).to_json()
        for i in range(20)
    ]
    assert 100 * np.mean([draw["recall"]["mean"] for draw in draws]) == pytest.approx(8.5, abs=0.2)
    assert 100 * np.mean([draw["map"]["mean"] for draw in draws]) == pytest.approx(4.2, abs=0.1)


def test_a_video_too_short_for_its_steps_is_skipped_with_a_reason():
    corpus = tiny_corpus(n_segments=2)
    result = evaluate_videos(corpus, method_named("uniform"), annotated_videos(corpus))
    assert len(result.skipped) == 3 and "1_-v1_1" in result.skipped
    assert "cannot hold 3 steps" in result.skipped["1_-v1_1"]


def test_an_evaluation_of_no_video_at_all_is_an_error_and_not_a_recall_of_zero():
    corpus = tiny_corpus(n_segments=2)
    with pytest.raises(InputError, match=r"no video could be evaluated; the first: .*cannot hold 3 steps"):
        evaluate("uniform", corpus, ["1_-v1_1", "1_-v1_2"])


def test_annotations_without_any_step_are_an_error_and_not_a_recall_of_zero():
    corpus = tiny_corpus()
    with pytest.raises(InputError, match="no evaluated video shows a step"):
        evaluate("uniform", replace(corpus, annotations=dict.fromkeys(corpus.annotations, ())))


@pytest.mark.parametrize("name", ["crosstask_release/annotations/1_-v1_1.csv", "crosstask_features/-v1_1.npy"])
@pytest.mark.parametrize("number", [errno.EIO, errno.EMFILE, errno.ENOMEM])
def test_a_disk_that_fails_ends_the_evaluation_instead_of_skipping_a_video(name, number, tmp_path, monkeypatch):
    write_tiny(tmp_path)
    corpus = open_corpus(tmp_path)
    tested, ordinary = annotated_videos(corpus), os.open

    def failing(path, *arguments, **options):
        if str(path).endswith(name):
            raise OSError(number, os.strerror(number), str(path))
        return ordinary(path, *arguments, **options)

    monkeypatch.setattr(os, "open", failing)
    with pytest.raises(OSError, match=os.strerror(number)):
        evaluate_videos(corpus, method_named("uniform"), tested)


def test_a_video_whose_annotation_is_gone_is_skipped_with_a_reason(tmp_path):
    write_tiny(tmp_path)
    corpus = open_corpus(tmp_path)
    tested = annotated_videos(corpus)
    (tmp_path / "crosstask_release" / "annotations" / "1_-v1_1.csv").unlink()
    result = evaluate_videos(corpus, method_named("uniform"), tested)
    assert list(result.skipped) == ["1_-v1_1"] and "cannot be read: No such file" in result.skipped["1_-v1_1"]


def test_annotated_videos_without_features_and_named_ones_without_annotation_are_skipped_with_a_reason(tmp_path):
    write_tiny(tmp_path)
    model = train(open_corpus(tmp_path), pack=False)
    (tmp_path / "crosstask_features" / "-v1_1.npy").unlink()
    assert evaluate(model, open_corpus(tmp_path)).skipped == {
        "1_-v1_1": "video 1_-v1_1: no features; the model needs those that it was trained on, (T, 6)"
    }
    (tmp_path / "crosstask_release" / "video_seconds.csv").unlink()
    for result in (evaluate("uniform", open_corpus(tmp_path)), evaluate(model, open_corpus(tmp_path), ["1_-v1_1", "1_-v1_2"])):
        assert list(result.skipped) == ["1_-v1_1"] and "length unknown; expected features" in result.skipped["1_-v1_1"]
    (tmp_path / "crosstask_release" / "annotations" / "1_-v1_2.csv").unlink()
    result = evaluate(model, open_corpus(tmp_path), ["1_-v1_2", "1_-v1_3"])
    assert result.n_videos == 1
    assert result.skipped == {"1_-v1_2": "video 1_-v1_2: no annotation; expected annotations/1_-v1_2.csv"}


@pytest.mark.parametrize("name", METHODS)
def test_every_method_returns_finite_scores_of_the_right_shape(name):
    corpus = with_text_side(tiny_corpus())
    scorer = method_named(name).fit(corpus, np.random.default_rng(0))
    for task in corpus.tasks.values():
        scores = scorer.score(task, np.random.default_rng(1).standard_normal((15, 6)).astype(np.float32))
        assert scores.shape == (15, len(task.steps)) and np.isfinite(scores).all()


class Returns:
    """A scorer that returns whatever it was told to compute from (T, K)."""

    def __init__(self, made):
        self.made = made

    def score(self, task, features):
        return self.made(len(features), len(task.steps))


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda t, k: np.zeros((t // 2, k)), r"Returns.score returned float64 of shape \(\d+, 3\).*expected numbers of shape"),
        (lambda t, k: np.zeros((t, k - 1)), "a column a step"),
        (lambda t, k: [["a"] * k] * t, "returned <U1"),
        (lambda t, k: None, "returned object"),
    ],
)
def test_scores_of_another_shape_are_refused_and_never_evaluated(made, message):
    corpus = tiny_corpus()
    with pytest.raises(InputError, match=message):
        evaluate(Returns(made), corpus)


def test_a_fit_that_returns_nothing_is_refused():
    corpus = tiny_corpus()
    with pytest.raises(InputError, match="fit returned a NoneType; expected an object with score"):
        evaluate_videos(corpus, None, annotated_videos(corpus))


def test_lists_and_whole_numbers_are_scores():
    corpus = tiny_corpus()
    steps = [[t == 3 * (k + 1) for k in range(3)] for t in range(40)]
    as_lists = Returns(lambda t, k: [[int(cell) for cell in row[:k]] for row in steps[:t]])
    as_array = Returns(lambda t, k: np.array(steps, dtype=float)[:t, :k])
    videos = annotated_videos(corpus)
    assert evaluate_videos(corpus, as_lists, videos).by_metric == evaluate_videos(corpus, as_array, videos).by_metric


def test_a_skipped_video_is_named_where_the_error_knows_only_arrays():
    corpus = tiny_corpus()

    class Picky(Oracle):
        def score(self, task, features):
            if features is corpus.features.rows("-v1_1") or np.array_equal(features, corpus.features.rows("-v1_1")):
                raise InputError("features have shape (3, 2)")
            return super().score(task, features)

    assert evaluate(Picky(corpus), corpus).skipped == {"1_-v1_1": "video 1_-v1_1: features have shape (3, 2)"}


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("kind", ["float16", "float32"])
@pytest.mark.parametrize("method", ["hmm", "zhukov19"])
def test_a_video_whose_features_are_not_finite_is_skipped_with_the_reason(method, kind, bad):
    corpus = tiny_corpus()
    model = train(corpus, method, **({"epochs": 1, "initial_epochs": 1} if method == "zhukov19" else {"members": 1}))
    rows = {video: corpus.features.rows(video).astype(kind) for video in corpus.features}
    rows["-v1_2"][1, 0] = bad
    found = evaluate(model, replace(corpus, features=FeaturesInMemory(rows)))
    assert "NaN or infinity" in found.skipped["1_-v1_2"] and len(found.skipped) == 1
