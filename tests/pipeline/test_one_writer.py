"""Each stage keeps its folder to itself: whoever comes second is told who is writing, and nothing is touched."""

from contextlib import contextmanager

import pytest

pytest.importorskip("av", reason="extra video is not installed")

from cli.running import refused
from crosstask.extraction.feature_spec import parse_feature_spec
from crosstask.pipeline.extract import Workers, extract_files
from crosstask.pipeline.run import RunConfig, run_folder
from crosstask.pipeline.transcribe import transcribe_videos
from crosstask.pipeline.video_demo import FilmSet, run_film_demo
from crosstask.storage import derived_folder, nonblocking_lock
from crosstask.synthetic.films.corpus import render_corpus
from crosstask.synthetic.films.scripts import TASKS
from crosstask.text.encoders import open_encoder
from extraction.media import write_video

VTT = "WEBVTT\n\n00:00:01.000 --> 00:00:02.000\npour the milk\n\n00:00:03.000 --> 00:00:05.000\nstir the coffee\n"


@contextmanager
def no_progress(what, total):
    yield lambda: None


def encoder(documents):
    return open_encoder("tfidf", None, documents)


def files_in(folder):
    return sorted(p.relative_to(folder) for p in folder.rglob("*") if p.is_file() and not p.name.endswith(".lock"))


@contextmanager
def refused_while_another_writes(taken, watched):
    """The block must be refused because of `taken`, and leave `watched` as it was."""
    with nonblocking_lock(taken):
        before = files_in(watched)
        with pytest.raises(BlockingIOError, match="is writing it") as refusal:
            yield
        assert refusal.value.filename == str(taken) and files_in(watched) == before


@pytest.fixture
def corpus(tmp_path):
    folder = tmp_path / "corpus"
    for i in range(2):
        write_video(folder / "videos" / "latte" / f"v{i}.mp4", seconds=6, rate=2, size=(32, 32))
        (folder / "videos" / "latte" / f"v{i}.vtt").write_text(VTT)
    (folder / "corpus.toml").write_text('[tasks.latte]\ntitle = "Make Latte"\nsteps = ["pour milk", "stir coffee"]\n')
    return folder


def test_rendering(tmp_path):
    with refused_while_another_writes(tmp_path / "films", tmp_path):
        render_corpus(tmp_path / "films", 0, 1, 0, TASKS[:1])


def test_listening(tmp_path):
    video = write_video(tmp_path / "a.mp4", seconds=2)
    with refused_while_another_writes(tmp_path / "subtitles", tmp_path):
        transcribe_videos({"a": video}, tmp_path / "subtitles")


def test_extracting(tmp_path):
    video = write_video(tmp_path / "a.mp4", seconds=2)
    with refused_while_another_writes(tmp_path / "features", tmp_path):
        extract_files({"a": video}, parse_feature_spec("log-mel"), tmp_path / "features", {}, Workers(), None)
    done = extract_files({"a": video}, parse_feature_spec("log-mel"), tmp_path / "features", {}, Workers(), None)
    assert done.done == ["a"]  # once the other is gone


@pytest.mark.parametrize("stage", ["features", "constraints"])
def test_stages_of_a_run(corpus, stage):
    config = RunConfig(parse_feature_spec("log-mel"), transcribe=False, encoder=encoder)
    taken = derived_folder(corpus) / stage
    taken.parent.mkdir(exist_ok=True)
    with nonblocking_lock(taken), pytest.raises(BlockingIOError, match="is writing it") as refusal:
        run_folder(corpus, corpus / "run", config, no_progress)
    assert refusal.value.filename == str(taken) and not (corpus / "run" / "run.json").exists()


def test_the_run_folder_before_anything_is_begun(corpus):
    with refused_while_another_writes(corpus / "run", corpus):
        run_folder(
            corpus, corpus / "run", RunConfig(parse_feature_spec("log-mel"), transcribe=False, encoder=encoder), no_progress
        )


def test_a_run_of_the_same_videos_in_another_folder_and_extracting_them_again(corpus):
    """With other features it would replace those that the first run still reads."""
    config = RunConfig(parse_feature_spec("log-mel"), transcribe=False, encoder=encoder)
    with refused_while_another_writes(derived_folder(corpus), corpus):
        run_folder(corpus, corpus.parent / "elsewhere", config, no_progress)
    with nonblocking_lock(derived_folder(corpus)):
        assert "is writing it" in refused("extract", corpus, "--features", "light")
    assert not (derived_folder(corpus) / "features").exists()


def test_the_demonstration_before_anything_is_begun(tmp_path):
    with refused_while_another_writes(tmp_path / "demo", tmp_path):
        run_film_demo(tmp_path / "demo", 0, no_progress, films=FilmSet(2, 1, 1, "log-mel"))
