"""Features too large for the arithmetic: training stops with an InputError that names the video, whatever the method."""

from dataclasses import replace

import numpy as np
import pytest

from cli.running import refused
from crosstask.features import FeaturesInMemory, write_rows
from crosstask.methods.table import method_named
from crosstask.records import Corpus, InputError, Task, Video
from tiny import tiny_corpus, write_tiny


def corpus_with(video_id, change):
    corpus = tiny_corpus()
    rows = {video.id: corpus.features.rows(video.id).copy() for video in corpus.videos}
    rows[video_id] = change(rows[video_id]).astype(np.float32)
    return replace(corpus, features=FeaturesInMemory(rows))


@pytest.mark.parametrize("method", ["zhukov19", "task-specific", "supervised"])
def test_features_of_1e20_stop_the_training_with_the_name_of_the_video(method):
    with pytest.raises(InputError, match=r"training diverged in epoch \d+.*video 2_-v2_1 has the largest features"):
        method_named(method).fit(corpus_with("-v2_1", lambda rows: rows * 1e20), np.random.default_rng(0))


def test_features_at_the_end_of_the_range_stop_the_default_method():
    extreme = corpus_with("-v2_1", lambda rows: np.where(np.arange(len(rows))[:, None] % 4, 3.4e38, -3.4e38) + 0 * rows)
    with pytest.raises(InputError, match="video -v2_1: its features are too large"):
        method_named("hmm").fit(extreme, np.random.default_rng(0))


def test_features_of_1e20_leave_the_default_method_finite():
    scorer = method_named("hmm").fit(corpus_with("-v2_1", lambda rows: rows * 1e20), np.random.default_rng(0))
    for member in scorer.members:
        assert np.isfinite(member.parameters.coefficients).all() and np.isfinite(member.parameters.covariance).all()


@pytest.mark.parametrize("method", ["hmm", "zhukov19", "alayrac16", "richard18"])
def test_one_row_far_larger_than_all_others_is_named(method, caplog):
    """It costs recall on every video, and nothing is infinite."""
    spoilt = corpus_with("-v2_1", lambda rows: np.where(np.arange(len(rows))[:, None] == 5, 1e5, rows))
    method_named(method).fit(spoilt, np.random.default_rng(0))
    assert "1 video with far larger features than the others" in caplog.text and "-v2_1 (values up to 1e+05" in caplog.text
    caplog.clear()
    method_named(method).fit(tiny_corpus(), np.random.default_rng(0))
    assert "far larger" not in caplog.text


def test_features_too_different_in_size_for_a_linear_map_are_an_input_error():
    spoilt = corpus_with("-v2_1", lambda rows: np.where(np.arange(len(rows))[:, None] == 5, 1e20, rows))
    with pytest.raises(InputError, match="task 2: its features are too different in size"):
        method_named("alayrac16").fit(spoilt, np.random.default_rng(0))


def test_a_covariance_that_cannot_be_estimated_is_an_input_error():
    task = Task("a", "a", ("pour milk", "stir"))
    rows = np.random.default_rng(0).standard_normal((2, 300)).astype(np.float32)
    videos = (Video("a", "v"),)
    corpus = Corpus("small", {"a": task}, videos, frozenset(), {}, {}, {}, {}, FeaturesInMemory({"v": rows}))
    try:
        scorer = method_named("hmm").fit(corpus, np.random.default_rng(0))
    except InputError as error:
        assert "train on more videos" in str(error)
    else:  # another rounding of the same sums
        assert np.isfinite(scorer.score(task, rows)).all()


def test_train_exits_with_2_when_the_training_diverges(tmp_path):
    corpus = write_tiny(tmp_path / "c")
    write_rows(tmp_path / "c" / "crosstask_features" / "-v2_1.npy", corpus.features.rows("-v2_1") * 1e20)
    line = refused("train", tmp_path / "c", "--method", "zhukov19", "--out", tmp_path / "m.safetensors")
    assert "2_-v2_1" in line and not (tmp_path / "m.safetensors").exists()


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_features_that_are_not_finite_are_said_to_be_so(value):
    with pytest.raises(InputError, match="video -v2_1: its features contain NaN or infinity"):
        method_named("hmm").fit(corpus_with("-v2_1", lambda rows: np.where(rows > 1, value, rows)), np.random.default_rng(0))


def test_features_of_two_widths_are_an_error_that_names_the_video():
    with pytest.raises(InputError, match=r"video -v2_1: features of \d+ columns; the videos before it have \d+"):
        method_named("hmm").fit(corpus_with("-v2_1", lambda rows: rows[:, :-1]), np.random.default_rng(0))
