"""Warnings before a run trains."""

import os
from pathlib import Path

import numpy as np
import pytest

from crosstask.datasets import open_corpus
from crosstask.datasets.corpus_toml import write_corpus_toml
from crosstask.extraction.feature_spec import parse_feature_spec
from crosstask.features import write_rows
from crosstask.pipeline.corpus_problems import problems_of_folder
from crosstask.pipeline.extract import Workers, extract_corpus, extract_files
from crosstask.pipeline.preflight import check_before_run, check_own_features, refuse_outdated_features, warn_about_few_videos
from crosstask.records import InputError, Task, Video
from crosstask.storage import derived_folder, nonblocking_lock
from extraction.media import write_video


def videos(**counts):
    return [Video(task, f"{task}{i}") for task, count in counts.items() for i in range(count)]


def test_few_videos_are_said_with_the_cheapest_remedy(caplog):
    warn_about_few_videos(videos(tea=4, latte=4), Path("my run"))
    assert caplog.messages == [
        "4 videos a task: expect little more than even spacing. Mark five moments with `crosstask review 'my run'`, "
        "or add videos: 10 are a start."
    ]


def test_an_annotation_that_cannot_be_read_is_said_before_the_work(tmp_path):
    """After an edit of the step list; it would otherwise end the run when the report is made, after the training."""
    write_corpus_toml(tmp_path / "corpus.toml", {"tea": Task("tea", "Make Tea", ("pour water",))})
    (tmp_path / "videos" / "tea").mkdir(parents=True)
    (tmp_path / "videos" / "tea" / "a.mp4").write_bytes(b"no video")
    (tmp_path / "annotations").mkdir()
    (tmp_path / "annotations" / "tea_a.csv").write_text("2,1,5\n")
    with pytest.raises(InputError, match=r"tea_a\.csv, line 1: step 2 does not exist"):
        check_before_run(open_corpus(tmp_path), tmp_path / "run", None)


def test_tasks_with_enough_videos_are_not_counted(caplog):
    warn_about_few_videos(videos(tea=10, latte=12), Path("run"))
    assert caplog.messages == []
    warn_about_few_videos(videos(tea=1, latte=12, soup=3), Path("run"))
    assert caplog.messages[0].startswith("1 to 3 videos a task in 2 of 3 tasks: expect")


def test_a_run_in_a_folder_of_the_corpus_is_refused_before_the_folder_is_made(tmp_path):
    write_corpus_toml(tmp_path / "corpus.toml", {"tea": Task("tea", "Make Tea", ("pour water",))})
    (tmp_path / "videos" / "tea").mkdir(parents=True)
    (tmp_path / "videos" / "tea" / "a.mp4").write_bytes(b"no video")
    with pytest.raises(InputError, match="in the folder 'features' of a corpus"):
        check_before_run(open_corpus(tmp_path), tmp_path / "features", None)
    assert not (tmp_path / "features").exists()


@pytest.fixture
def own_features(tmp_path):
    """A corpus whose folder of features was filled by `extract --out`."""
    write_corpus_toml(tmp_path / "corpus.toml", {"tea": Task("tea", "Make Tea", ("pour water",))})
    video = write_video(tmp_path / "videos" / "tea" / "a.mp4")
    extract_files({"a": video}, parse_feature_spec("log-mel"), tmp_path / "features", {}, Workers(), None)
    return open_corpus(tmp_path)


def test_own_features_of_a_video_that_was_replaced_end_the_run(own_features):
    check_own_features(own_features, None)
    check_own_features(own_features, "log-mel")
    write_video(own_features.folder / "videos" / "tea" / "a.mp4", seconds=5)
    with pytest.raises(InputError, match=r"a\.npy: extracted from another file than a\.mp4 is now; repeat `crosstask extract"):
        check_own_features(own_features, None)
    problems = problems_of_folder(own_features.folder)
    assert [p.severity for p in problems if p.message.startswith("extracted from another file than a.mp4 is now")] == ["error"]


def test_features_that_another_process_extracts_are_not_used(own_features):
    with (
        nonblocking_lock(derived_folder(own_features.folder)),
        pytest.raises(
            InputError, match=rf"process {os.getpid()} extracts features of it, or runs on it; wait until that has ended"
        ),
    ):
        refuse_outdated_features(own_features)
    refuse_outdated_features(own_features)


@pytest.mark.parametrize(("rate", "named"), [(0.5, True), (1, False), (1.1, False), (2, True)])
def test_features_made_elsewhere_that_are_not_at_one_row_a_second_are_named(tmp_path, caplog, rate, named):
    write_corpus_toml(tmp_path / "corpus.toml", {"tea": Task("tea", "Make Tea", ("pour water",))})
    write_video(tmp_path / "videos" / "tea" / "a.mp4", seconds=20, rate=2, size=(32, 32))
    write_rows(tmp_path / "features" / "a.npy", np.zeros((int(20 * rate), 2), np.float32))
    check_own_features(open_corpus(tmp_path), None)
    said = f"features/a.npy: {int(20 * rate)} rows for a video of 20 s; expected one row a second"
    assert [said in message for message in caplog.messages] == [True] * named
    problems = problems_of_folder(tmp_path)
    assert any(f"{p.file}: {p.message}".startswith(said) and p.severity == "warning" for p in problems) == named


def test_own_features_are_not_used_in_place_of_those_that_are_asked_for(own_features):
    with pytest.raises(InputError, match="holds features 'log-mel', not 'light'; leave out --features, or move"):
        check_own_features(own_features, "light")
    (own_features.folder / "features" / "feature_spec.txt").unlink()
    with pytest.raises(InputError, match="holds features made elsewhere, not 'light'; leave out --features, or move"):
        check_own_features(open_corpus(own_features.folder), "light")


def test_features_that_are_extracted_in_vain_are_named(own_features, caplog):
    extract_corpus(own_features, parse_feature_spec("log-mel"))
    assert "features: these features are used before the extracted ones; move the folder away to use those" in caplog.text
