from dataclasses import replace
from pathlib import Path

import pytest

from crosstask.datasets import open_corpus
from crosstask.datasets.corpus_writer import write_corpus
from crosstask.records import Cue, InputError, Narration, NoFeatures, Word
from crosstask.storage import nonblocking_lock
from tiny import tiny_corpus


@pytest.mark.parametrize("layout", ["release", "corpus.toml"])
@pytest.mark.parametrize("name", ["corpus.toml", "crosstask_release/tasks_primary.txt", "crosstask_release/videos.csv"])
def test_lists_that_cannot_be_read_are_not_overwritten(tmp_path, layout, name):
    """A person is writing them: a conversion that was killed leaves whole files."""
    mine = tmp_path / name
    mine.parent.mkdir(exist_ok=True)
    mine.write_text("[tasks.tea\nsteps = [")
    with pytest.raises(InputError, match=r"would be lost|is not written by this conversion"):
        write_corpus(tiny_corpus(), tmp_path, layout)
    assert mine.read_text() == "[tasks.tea\nsteps = [" and len(list(tmp_path.rglob("*.*"))) == 1


@pytest.mark.parametrize("layout", ["release", "corpus.toml"])
def test_a_conversion_that_was_killed_before_its_list_of_videos_is_repeated(tmp_path, layout):
    write_corpus(tiny_corpus(), tmp_path, layout)
    for path in tmp_path.rglob("videos.csv"):
        path.unlink()
    write_corpus(tiny_corpus(), tmp_path, layout)
    assert len(open_corpus(tmp_path).videos) == len(tiny_corpus().videos)


@pytest.mark.parametrize("layout", ["release", "corpus.toml"])
@pytest.mark.parametrize(
    "edited", ["-v1_0.npy", "feature_spec.txt", "-v1_0.vtt", "1_-v1_0.csv", "videos.csv", "video_seconds.csv"]
)
def test_a_repeated_conversion_overwrites_nothing_that_was_edited(tmp_path, layout, edited):
    spoken = Narration((Word("stir", 1.0, 2.0),), (Cue(0, 1, 1.0, 2.0),))
    corpus = replace(tiny_corpus(), subtitles={"-v1_0": spoken})
    for _ in range(2):
        write_corpus(corpus, tmp_path, layout)
    path = next(tmp_path.rglob(edited))
    path.write_bytes(path.read_bytes() + b"\n")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.*") if path.is_file()}
    with pytest.raises(InputError, match=f"{edited}: differs from what this conversion writes and would be lost"):
        write_corpus(corpus, tmp_path, layout)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.*") if path.is_file()} == before


@pytest.mark.parametrize("layout", ["release", "corpus.toml"])
@pytest.mark.parametrize("part", ["features", "windows", "annotations", "subtitles"])
def test_a_conversion_is_not_mixed_with_what_an_earlier_one_of_more_wrote(tmp_path, layout, part):
    spoken = Narration((Word("stir", 1.0, 2.0),), (Cue(0, 1, 1.0, 2.0),))
    corpus = replace(tiny_corpus(), subtitles={"-v1_0": spoken})
    write_corpus(corpus, tmp_path, layout)
    less = replace(corpus, **{part: NoFeatures() if part == "features" else {}})
    with pytest.raises(InputError, match=r"(is not written by|differs from what) this conversion"):
        write_corpus(less, tmp_path, layout)


@pytest.mark.parametrize(
    ("layout", "place"), [("release", "crosstask_features/-v1_0.npy"), ("corpus.toml", "annotations/1_-v1_0.csv")]
)
def test_a_first_conversion_overwrites_no_files_of_the_user(tmp_path, layout, place):
    (tmp_path / place).parent.mkdir()
    (tmp_path / place).write_text("mine")
    with pytest.raises(InputError, match=f"{Path(place).name}: differs from what this conversion writes"):
        write_corpus(tiny_corpus(), tmp_path, layout)
    assert (tmp_path / place).read_text() == "mine" and [path.name for path in tmp_path.iterdir()] == [Path(place).parts[0]]


def test_two_conversions_do_not_write_one_folder_at_the_same_time(tmp_path):
    with nonblocking_lock(tmp_path / "out"), pytest.raises(BlockingIOError):
        write_corpus(tiny_corpus(), tmp_path / "out", "release")
    assert not (tmp_path / "out").exists()
