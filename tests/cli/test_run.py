"""A folder of tiny videos, from `init` to steps found: killed, repeated, damaged."""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from cli.running import crosstask, json_of, refused
from extraction.media import write_video

pytest.importorskip("av", reason="extra video is not installed")

TOML = """
[tasks.latte]
title = "Make Latte"
steps = ["pour milk", "stir coffee"]
[tasks.tea]
title = "Make Tea"
steps = ["boil water", "pour water"]
"""
VTT = "WEBVTT\n\n00:00:02.000 --> 00:00:04.000\nnow {0}\n\n00:00:06.000 --> 00:00:09.000\nthen {1}\n"


def make_corpus(folder, n_videos=3):
    folder.mkdir(parents=True)
    (folder / "corpus.toml").write_text(TOML)
    said = {"latte": ("pour the milk", "stir the coffee"), "tea": ("boil some water", "pour the water")}
    for task in said:
        for i in range(n_videos):
            write_video(folder / "videos" / task / f"{task} {i}.mp4", seconds=10, rate=2, size=(32, 32))
            (folder / "videos" / task / f"{task} {i}.vtt").write_text(VTT.format(*said[task]))
    return folder


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return make_corpus(tmp_path_factory.mktemp("own") / "my videos, déjà")


@pytest.fixture
def corpus(made, tmp_path):
    return shutil.copytree(made, tmp_path / made.name)


def bytes_of(folder):
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix in {".npy", ".json", ".safetensors", ".csv", ".txt", ".jpg", ".html"}
    }


LIGHT = ("--features", "log-mel", "--workers", 1, "--no-speech")


def test_init_then_run(tmp_path):
    folder = tmp_path / "new corpus"
    assert crosstask("init", folder).returncode == 0
    written = (folder / "corpus.toml").read_text()
    assert (folder / "videos" / "latte").is_dir() and "[tasks.latte]" in written
    (folder / "corpus.toml").write_text(TOML)
    assert "stays as it is" in crosstask("init", folder).stderr and (folder / "corpus.toml").read_text() == TOML
    assert "no video files; expected videos/TASK" in refused("run", folder)


def test_run_finds_steps_and_repeats_to_the_same_bytes(corpus):
    first = json_of("run", corpus, *LIGHT)
    assert (first["done"], first["reused"], first["skipped"], first["localized"], first["windows"]) == (6, 0, {}, 6, 6)
    assert {"run.json", "model.safetensors", "localizations.json", "scores"} <= {p.name for p in (corpus / "run").iterdir()}
    assert (corpus / ".crosstask/features/feature_spec.txt").read_text() == "log-mel\n"
    before = bytes_of(corpus)
    second = json_of("run", corpus, *LIGHT)
    assert (second["done"], second["reused"]) == (0, 6)
    assert bytes_of(corpus) == before
    (found,) = json_of("localize", corpus / "run/model.safetensors", corpus / "videos/tea/tea 0.mp4", "--task", "tea")
    assert [s["step"] for s in found["steps"]] == ["boil water", "pour water"]


def test_next_week_a_new_video_and_the_old_model(corpus, tmp_path):
    json_of("run", corpus, *LIGHT)
    model = shutil.copy(corpus / "run/model.safetensors", tmp_path / "m.safetensors")
    write_video(corpus / "videos" / "tea" / "new.mp4", seconds=5, rate=2, size=(32, 32))
    found = json_of("run", corpus, "--model", model, "--workers", 1, "--no-speech", "--out", tmp_path / "out")
    assert (found["done"], found["reused"], found["localized"]) == (1, 6, 7)
    assert (tmp_path / "out/model.safetensors").read_bytes() == (tmp_path / "m.safetensors").read_bytes()
    said = refused("run", corpus, "--model", model, "--features", "log-mel,speech", "--no-speech", "--workers", 1)
    assert "trained on 'log-mel'" in said


def test_bad_videos_are_set_aside_by_name_while_the_rest_goes_on(corpus):
    folder = corpus / "videos" / "latte"
    good = (folder / "latte 0.mp4").read_bytes()
    (folder / "zero.mp4").write_bytes(b"")
    (folder / "half.mp4").write_bytes(good[: len(good) // 2].replace(b"moov", b"free"))
    (folder / "page.mp4").write_text("<html>not found</html>")
    write_video(folder / "short.mp4", seconds=1, rate=4, size=(32, 32))
    result = json_of("run", corpus, *LIGHT)
    assert set(result["skipped"]) == {"zero", "half", "page", "latte_short"}
    assert result["skipped"]["zero"].startswith("zero.mp4: empty") and result["localized"] == 6
    assert "cannot hold 2 steps" in result["skipped"]["latte_short"]


def test_changed_content_is_described_again_and_another_recipe_replaces(corpus):
    json_of("extract", corpus, "--features", "log-mel", "--workers", 1)
    write_video(corpus / "videos" / "tea" / "tea 0.mp4", seconds=7, rate=2, size=(32, 32))
    assert json_of("extract", corpus, "--features", "log-mel", "--workers", 1)["done"] == 1
    assert np.load(corpus / ".crosstask/features/tea 0.npy").shape == (7, 128)
    (corpus / ".crosstask/features/tea 1.npy").write_bytes(b"broken")
    assert json_of("extract", corpus, "--features", "log-mel", "--workers", 1)["done"] == 1


def test_features_made_elsewhere_are_never_touched(corpus, tmp_path):
    out = tmp_path / "features"
    out.mkdir()
    np.save(out / "mine.npy", np.zeros((3, 2)))
    video = corpus / "videos/tea/tea 0.mp4"
    assert "made elsewhere; choose another --out" in refused("extract", video, "--features", "log-mel", "--out", out)
    assert [p.name for p in out.iterdir()] == ["mine.npy"]


def test_features_are_not_extracted_into_a_file(corpus, tmp_path):
    (tmp_path / "file").write_text("mine")
    said = refused("extract", corpus / "videos/tea/tea 0.mp4", "--features", "log-mel", "--out", tmp_path / "file")
    assert "file: a file; expected a folder for the features" in said and (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize("name", ["columns.txt", "text_side.safetensors"])
def test_files_of_the_names_that_extraction_writes_are_kept(corpus, tmp_path, name):
    out = tmp_path / "notes"
    out.mkdir()
    (out / name).write_text("my own")
    video = corpus / "videos/tea/tea 0.mp4"
    said = refused("extract", video, "--features", "log-mel", "--out", out)
    assert f"{name}: would be overwritten, and was not made by `extract`; choose another --out" in said
    assert [(p.name, p.read_text()) for p in out.iterdir()] == [(name, "my own")]


def test_features_are_extracted_into_a_folder_behind_a_link(corpus, tmp_path):
    (tmp_path / "disk" / "one" / "two").mkdir(parents=True)
    (corpus / ".crosstask").symlink_to(tmp_path / "disk" / "one" / "two")
    for done, reused in ((6, 0), (0, 6)):
        result = json_of("extract", corpus, "--features", "log-mel", "--workers", 1)
        assert (result["done"], result["reused"], result["skipped"]) == (done, reused, {})


def test_damaged_features_are_extracted_again(corpus):
    json_of("extract", corpus, "--features", "log-mel", "--workers", 1)
    path = corpus / ".crosstask/features/tea 0.npy"
    intact = path.read_bytes()
    flipped = bytearray(intact)
    flipped[-2] ^= 0x40  # one bit of the last number
    path.write_bytes(flipped)
    result = json_of("extract", corpus, "--features", "log-mel", "--workers", 1)
    assert (result["done"], result["reused"]) == (1, 5) and path.read_bytes() == intact


def test_features_of_two_videos_whose_names_differ_in_case_alone_are_refused(corpus, tmp_path):
    video = corpus / "videos/tea/tea 0.mp4"
    other = shutil.copy(video, tmp_path / "TEA 0.mp4")
    assert "two videos of one name" in refused("extract", video, other, "--features", "log-mel", "--out", tmp_path / "features")


def test_videos_of_two_tasks_may_have_one_name(corpus):
    write_video(corpus / "videos" / "tea" / "latte 0.mp4", seconds=3, rate=2, size=(32, 32))
    result = json_of("extract", corpus, "--features", "log-mel", "--workers", 1)
    assert not result["skipped"] and result["done"] == 7
    features = corpus / ".crosstask" / "features"
    assert len(np.load(features / "tea-latte 0.npy")) == 3 and len(np.load(features / "latte-latte 0.npy")) > 3
    assert not (features / "latte 0.npy").exists()


def test_dry_run_says_the_cost_and_writes_nothing(corpus):
    before = sorted(corpus.rglob("*"))
    cost = json_of("run", corpus, "--dry-run")
    assert cost["videos"] == 6 and cost["hours_of_video"] == pytest.approx(60 / 3600, rel=0.1)
    assert cost["feature_bytes"] >= 60 * 1408 * 4 and cost["cpu_seconds"] > 0
    assert sorted(corpus.rglob("*")) == before


@pytest.mark.slow
def test_killed_at_random_moments_it_finishes_with_the_same_bytes(made, corpus, tmp_path):
    whole = shutil.copytree(made, tmp_path / "whole" / made.name)
    command = ["run", "FOLDER", *LIGHT]
    assert crosstask(*[whole if a == "FOLDER" else a for a in command]).returncode == 0
    rng = np.random.default_rng(0)
    for _ in range(5):
        arguments = [str(corpus if a == "FOLDER" else a) for a in command]
        process = subprocess.Popen(
            [sys.executable, "-m", "crosstask.cli.main", *arguments], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        )
        time.sleep(rng.uniform(0.5, 4))
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert crosstask(*[corpus if a == "FOLDER" else a for a in command]).returncode == 0
    ended, expected = bytes_of(corpus), bytes_of(whole)
    differing = {name for name in set(ended) | set(expected) if ended.get(name) != expected.get(name)}
    assert differing <= {"run/run.json"}, "run.json names the absolute place of the videos"
    assert (corpus / "run/run.json").read_text().replace(str(corpus), "") == (whole / "run/run.json").read_text().replace(
        str(whole), ""
    )


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["local", "ray"])
def test_other_processes_give_the_same_features(corpus, tmp_path, engine):
    if engine == "ray":
        pytest.importorskip("ray", reason="extra ray is not installed")
    json_of("extract", corpus, "--features", "log-mel", "--workers", 1, "--out", tmp_path / "here")
    json_of("extract", corpus, "--features", "log-mel", "--engine", engine, "--workers", 2, "--out", tmp_path / "there")
    names = sorted(p.name for p in (tmp_path / "here").glob("*.npy"))
    assert len(names) == 6
    assert all((tmp_path / "here" / n).read_bytes() == (tmp_path / "there" / n).read_bytes() for n in names)


def descendants(pid):
    """{process: its title} of everything a process started, directly or not."""
    parents, titles = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int(entry.joinpath("stat").read_text().rpartition(")")[2].split()[1])
                titles[int(entry.name)] = entry.joinpath("cmdline").read_bytes().decode("utf-8", "replace")
            except OSError:  # it has ended meanwhile
                continue
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return {child: titles.get(child, "") for child in found - {pid}}


def _kill_a_ray_worker(corpus, there):
    """The process that extracts on Ray, and the worker of it that was killed at work; None if the process ended before."""
    command = ["extract", corpus, "--features", "log-mel", "--engine", "ray", "--workers", 2, "--out", there, "--json"]
    driver = subprocess.Popen(
        [sys.executable, "-m", "crosstask.cli.main", *map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    while driver.poll() is None:
        working = [pid for pid, title in sorted(descendants(driver.pid).items()) if title.startswith("ray::run_job")]
        if working:
            os.kill(working[0], signal.SIGKILL)
            return driver, working[0]
        time.sleep(0.02)
    return driver, None


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc here: workers cannot be found by process")
def test_losing_a_ray_worker_loses_nothing(corpus, tmp_path):
    pytest.importorskip("ray", reason="extra ray is not installed")
    json_of("extract", corpus, "--features", "log-mel", "--workers", 1, "--out", tmp_path / "here")
    for attempt in range(50):  # until a worker was caught at work, however fast or busy the machine is
        there = tmp_path / f"there {attempt}"
        driver, killed = _kill_a_ray_worker(corpus, there)
        said, _ = driver.communicate()
        if killed is not None:
            break
    assert killed is not None, "no worker was seen at work"
    assert driver.returncode == 0 and json.loads(said)["done"] == 6 and json.loads(said)["skipped"] == {}
    assert {p.name: p.read_bytes() for p in (tmp_path / "here").glob("*.npy")} == {
        p.name: p.read_bytes() for p in there.glob("*.npy")
    }


def test_a_run_lands_neither_in_a_corpus_nor_on_the_run_of_another_one(corpus, tmp_path):
    assert "a corpus, whose annotations" in refused("run", corpus, "--out", corpus, "--features", "log-mel", "--no-speech")
    json_of("run", corpus, "--features", "log-mel", "--no-speech")
    other = shutil.copytree(corpus, tmp_path / "other", ignore=shutil.ignore_patterns("run"))
    before = bytes_of(corpus / "run")
    said = refused("run", other, "--out", corpus / "run", "--features", "log-mel", "--no-speech")
    assert "it holds the steps found in other videos" in said
    assert bytes_of(corpus / "run") == before
    copied = shutil.copytree(corpus, tmp_path / "copied")
    json_of("run", copied, "--features", "log-mel", "--no-speech")
