"""Whatever lies in a folder of videos, `run` names it, sets it aside and goes on with the rest."""

import errno
import os
import shutil
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("av", reason="extra video is not installed")

import crosstask as ct
from crosstask.extraction.feature_spec import parse_feature_spec
from crosstask.pipeline.extract import Workers
from crosstask.pipeline.run import RunConfig, run_folder
from crosstask.records import InputError, Interval, StepInterval, VideoKey
from crosstask.text.encoders import open_encoder
from extraction.media import write_video
from extraction.test_decode import write_invalid_videos

SRT = "1\n00:00:01,000 --> 00:00:03,000\npour the milk\n\n2\n00:00:05,000 --> 00:00:07,000\nstir the coffee\n"


@contextmanager
def no_progress(what, total):
    yield lambda: None


def run(folder, **config):
    defaults = {"transcribe": False, "encoder": lambda documents: open_encoder("tfidf", None, documents)}
    return run_folder(folder, folder / "run", RunConfig(parse_feature_spec("log-mel"), **(defaults | config)), no_progress)


@pytest.fixture
def corpus(tmp_path):
    folder = tmp_path / "own"
    for i in range(2):
        path = write_video(folder / "videos" / "latte" / f"v{i}.mp4", seconds=8, rate=4, size=(32, 32))
        path.with_suffix(".srt").write_text(SRT)
    (folder / "corpus.toml").write_text('[tasks.latte]\nsteps = ["pour milk", "stir coffee"]\n')
    return folder


def write_bad(folder):
    """{name: what is said of it}: truncated, empty, sound alone, a still, ten hours of nothing, wrong endings, hostile ones."""
    names = write_invalid_videos(folder)
    (folder / "good.mp4").unlink()
    said = dict.fromkeys((name for name in names if name != "gone.mp4"), "")
    said |= {
        "zero.mp4": "0 bytes",
        "sound.mp4": "no video stream",
        "still.mp4": "a still",
        "sparse.mp4": "time stamps are invalid",
    }
    (folder / "picture.mp4").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(200))
    (folder / "folder.mp4").mkdir()
    (folder / "dangling.mp4").symlink_to("nowhere.mp4")
    said |= {"picture.mp4": "not a video that can be decoded", "folder.mp4": "a folder", "dangling.mp4": "cannot be read"}
    if Path("/dev/zero").exists() and hasattr(os, "mkfifo"):  # things without an end
        (folder / "endless.mp4").symlink_to("/dev/zero")
        os.mkfifo(folder / "pipe.mp4")
        said |= {"endless.mp4": "not a plain file", "pipe.mp4": "not a plain file"}
    return said


def test_bad_files_are_skipped_with_a_reason(corpus):
    said = write_bad(corpus / "videos" / "latte")
    done = run(corpus, transcribe=True)
    assert {f"{name}.mp4" for name in done.skipped} == set(said)
    for name, words in said.items():
        reason = done.skipped[name.removesuffix(".mp4")]
        assert reason.startswith(f"{name}: ") and words in reason, reason
    assert sorted(found.video for found in done.localized) == ["v0", "v1"] and done.windows == 2
    page = (corpus / "run" / "report.html").read_text("utf-8")
    assert all(f"skipped: {name}" in page for name in said)


def test_without_recognition_speech_that_an_earlier_run_recognised_is_not_used(corpus, monkeypatch):
    from crosstask.datasets.subtitles import read_narration
    from crosstask.pipeline import transcribe

    srt = corpus / "videos" / "latte" / "v0.srt"
    said = read_narration(srt)
    srt.unlink()
    monkeypatch.setattr(transcribe, "can_transcribe", lambda model: True)
    monkeypatch.setattr(transcribe, "transcribe", lambda path, model, language: said)
    assert run(corpus, transcribe=True).windows == 2
    assert run(corpus).windows == 1
    assert run(corpus, transcribe=True).windows == 2, "what was recognised is kept"


def test_own_windows_of_one_video_do_not_keep_the_others_from_narration(corpus):
    (corpus / "constraints").mkdir()
    (corpus / "constraints" / "latte_v0.csv").write_text("1,1,3\n")
    done = run(corpus)
    assert done.windows == 2 and done.corpus.windows[VideoKey("latte", "v0")] == (StepInterval(0, Interval(1, 3)),)


def test_features_that_the_model_does_not_know_replace_none(corpus):
    run(corpus)
    features = {path: path.read_bytes() for path in (corpus / ".crosstask" / "features").iterdir() if path.is_file()}
    other = RunConfig(
        parse_feature_spec("light"), transcribe=False, model=corpus / "run" / "model.safetensors", features_named=True
    )
    with pytest.raises(InputError, match="features are 'light' but the model was trained on 'log-mel'"):
        run_folder(corpus, corpus / "other", other, no_progress)
    assert features == {path: path.read_bytes() for path in features}


def test_a_model_of_features_that_were_made_elsewhere_is_used_again(tmp_path):
    (tmp_path / "features").mkdir()
    (tmp_path / "corpus.toml").write_text('[tasks.tea]\nsteps = ["boil water", "pour water"]\n')
    (tmp_path / "videos.csv").write_text("tea,a,\ntea,b,\n")
    (tmp_path / "features" / "feature_spec.txt").write_text("my-network-1\n")
    for name in "ab":
        np.save(tmp_path / "features" / f"{name}.npy", np.random.default_rng(0).normal(size=(30, 4)).astype(np.float32))
    ct.run(tmp_path)
    again = ct.run(tmp_path, tmp_path / "again", model=tmp_path / "run" / "model.safetensors")
    assert len(again.localized) == 2 and again.model.feature_spec == "my-network-1"
    (tmp_path / "features" / "feature_spec.txt").write_text("my-network-2\n")
    with pytest.raises(InputError, match="trained on 'my-network-1'"):
        ct.run(tmp_path, tmp_path / "third", model=tmp_path / "run" / "model.safetensors")


def test_nothing_is_found_by_the_looks_of_what_was_there_before(corpus):
    """A video that has become unreadable has no features any more."""
    assert len(run(corpus).localized) == 2
    video = corpus / "videos" / "latte" / "v0.mp4"
    video.write_bytes(b"half a copy")
    done = run(corpus)
    assert set(done.skipped) == {"v0"} and [found.video for found in done.localized] == ["v1"]
    video.unlink()
    video.symlink_to("nowhere.mp4")
    assert [found.video for found in run(corpus).localized] == ["v1"]


def test_a_video_that_is_still_being_copied_is_taken_the_next_time(corpus, monkeypatch):
    from crosstask.extraction import extract_many

    video, whole = corpus / "videos" / "latte" / "v0.mp4", extract_many.extract_video

    def described_while_it_grows(path, recipe):
        rows = whole(path, recipe)
        if path.name == "v0.mp4":
            with path.open("ab") as file:
                file.write(bytes(1000))
        return rows

    monkeypatch.setattr(extract_many, "extract_video", described_while_it_grows)
    assert run(corpus).skipped["v0"].startswith("v0.mp4: changed while it was read; repeat the command")
    monkeypatch.setattr(extract_many, "extract_video", whole)
    done = run(corpus)
    assert (done.extracted.done, done.extracted.reused, done.skipped) == (["v0"], ["v1"], {})
    assert np.load(corpus / ".crosstask/features/v0.npy").shape == (8, 128) and video.stat().st_size > 1000


def test_features_that_were_cut_short_are_extracted_again(corpus):
    run(corpus)
    features = corpus / ".crosstask" / "features" / "v0.npy"
    whole = features.read_bytes()
    os.truncate(features, 200)
    assert run(corpus).extracted.done == ["v0"] and features.read_bytes() == whole


@pytest.mark.parametrize("stage", ["extract_many", "extract_video", "transcribe"])
def test_a_disk_that_fails_ends_the_run_and_removes_nothing(corpus, monkeypatch, stage):
    """Skipping the video would leave a run of the others, with exit code 0."""
    from crosstask.extraction import extract_many
    from crosstask.pipeline import transcribe

    run(corpus)
    before = sorted((corpus / ".crosstask").rglob("*"))

    def fail(*arguments):
        raise OSError(errno.EIO, os.strerror(errno.EIO), "v0.mp4")

    module, name = {
        "extract_many": (extract_many, "content_digest"),
        "extract_video": (extract_many, "extract_video"),
        "transcribe": (transcribe, "content_digest"),
    }[stage]
    if stage == "extract_video":
        (corpus / "videos" / "latte" / "v0.mp4").write_bytes((corpus / "videos" / "latte" / "v1.mp4").read_bytes() + bytes(9))
    if stage == "transcribe":
        (corpus / "videos" / "latte" / "v0.srt").unlink()
    monkeypatch.setattr(module, name, fail)
    with pytest.raises(OSError, match="Input/output error"):
        run(corpus, transcribe=True)
    assert stage == "extract_video" or set(before) <= set((corpus / ".crosstask").rglob("*"))


@pytest.mark.slow
def test_a_video_that_ends_its_process_is_found_and_set_aside(corpus, monkeypatch):
    """A crash of the decoder, or the system for want of memory, takes the worker; the others are described all the same."""
    from crosstask.extraction import extract_many
    from extraction import dying

    monkeypatch.setattr(extract_many, "extract_job", dying.extract_or_die)
    done = run(corpus, workers=Workers("local", 2))
    assert set(done.skipped) == {"v0"} and done.skipped["v0"].startswith("v0.mp4: extracting it ends the process")
    assert done.extracted.done == ["v1"] and [found.video for found in done.localized] == ["v1"]


def test_when_all_are_bad_the_first_reason_is_told(corpus):
    for i in range(2):
        (corpus / "videos" / "latte" / f"v{i}.mp4").write_bytes(b"")
    with pytest.raises(InputError, match=r"no features could be extracted from any video: v0\.mp4: empty, 0 bytes.*; and 1 more"):
        run(corpus)


def test_a_folder_that_cannot_be_written_needs_a_place_for_the_run(corpus, monkeypatch):
    monkeypatch.setattr(os, "access", lambda place, mode: Path(place) != corpus)
    with pytest.raises(InputError, match="own: cannot be written; choose a place for the run: --out FOLDER"):
        run(corpus)


def test_subtitles_that_give_nothing_are_named(corpus, caplog):
    (corpus / "videos" / "latte" / "v0.srt").write_text("no subtitles at all")
    assert run(corpus).windows == 1
    assert "latte_v0: its subtitles are not used: " in caplog.text and "v0.srt, line 1" in caplog.text


def test_what_is_useless_is_refused_before_anything_is_made(corpus, tmp_path):
    before = sorted(corpus.rglob("*"))
    with pytest.raises(InputError, match=r"nowhere: no model\.bin"):
        run(corpus, transcribe=True, speech_model=tmp_path / "nowhere")
    (corpus / "run").write_text("a file")
    with pytest.raises(InputError, match="run: a file; expected a folder for the run"):
        run(corpus)
    (corpus / "run").unlink()
    shutil.rmtree(corpus / "videos" / "latte")
    with pytest.raises(InputError, match="no video files"):
        run(corpus)
    assert {path for path in before if "videos" not in path.parts} == {p for p in corpus.rglob("*") if "videos" not in p.parts}
