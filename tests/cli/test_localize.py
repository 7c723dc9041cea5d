"""`crosstask localize` without a model, as a person types it."""

import csv
import io
import json

import pytest

from cli.running import crosstask, json_of, refused
from crosstask.runs import open_run

CUES = ("hello everyone", "first pour the milk, slowly", "let it warm a little", "now whisk the egg", "thanks for watching")


@pytest.fixture
def talk(tmp_path):
    cues = "".join(f"00:0{i}:00.000 --> 00:0{i}:08.000\n{text}\n\n" for i, text in enumerate(CUES))
    path = tmp_path / "my talk.vtt"
    path.write_text(f"WEBVTT\n\n{cues}")
    return path


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("steps.txt", "1. pour milk, slowly\n2. whisk egg\n"),
        ("steps.csv", 'step\n"pour milk, slowly"\nwhisk egg\n'),
        ("steps.md", "# Steps\n\n- [ ] pour milk, slowly\n* whisk egg\n"),
    ],
)
def test_chapters_on_stdout_from_any_step_file(talk, tmp_path, name, text):
    (tmp_path / name).write_text(text)
    done = crosstask("localize", talk, "--steps-file", tmp_path / name, "--format", "youtube")
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and lines[0] == "0:00 Introduction"
    assert [line.split(" ", 1)[1] for line in lines[1:]] == ["pour milk, slowly", "whisk egg"]
    assert "found by subtitles my talk.vtt" in done.stderr


def test_names_with_commas_and_every_format_in_a_folder(talk, tmp_path):
    steps = "pour milk, slowly; whisk egg"
    done = crosstask("localize", talk, "--steps", steps, "--format", "all", "--out", tmp_path / "all")
    assert done.returncode == 0 and done.stdout == ""
    formats = {"vtt", "youtube", "activitynet", "elan", "label-studio", "fiftyone", "csv", "json", "html"}
    assert {path.name for path in (tmp_path / "all").glob("[!.]*")} == formats
    table = crosstask("localize", talk, "--steps", steps, "--format", "csv").stdout
    assert [row["step"] for row in csv.DictReader(io.StringIO(table))] == ["pour milk, slowly", "whisk egg"]


def test_the_ending_of_the_file_names_the_format(talk, tmp_path):
    assert crosstask("localize", talk, "--steps", "pour milk; whisk egg", "--out", tmp_path / "page.html").returncode == 0
    assert "<button" in (tmp_path / "page.html").read_text("utf-8")


def test_json_is_always_a_list_of_the_documented_shape(talk, tmp_path):
    found = json_of("localize", talk, "--steps", "pour milk; whisk egg", "--title", "Cake", "--out", tmp_path / "run")
    assert set(found[0]) == {"video", "task", "steps"} and found[0]["task"] == "Cake"
    keys = {"step", "moment_s", "start_s", "end_s", "score", "confidence", "p_shown", "shown"}
    assert all(set(step) == keys for step in found[0]["steps"])
    assert json.loads((tmp_path / "run" / "run.json").read_text())["kind"] == "localize"
    assert open_run(tmp_path / "run").run.videos[0].id == "my talk"
    assert crosstask("export", tmp_path / "run", "--format", "vtt").returncode == 0


def test_the_language_is_given_or_refused(talk):
    assert "language 'xx' is unknown" in refused("localize", talk, "--steps", "a; b", "--language", "xx")
    done = crosstask("localize", talk, "--steps", "pour milk; whisk egg", "--language", "de")
    assert "the speech is in German, the step names are in English" in done.stderr and "even spacing" in done.stderr
    assert "format 'mp3' is unknown" in refused("localize", talk, "--steps", "a; b", "--format", "mp3")


def test_a_file_given_as_steps_is_not_taken_for_a_step(talk, tmp_path):
    (tmp_path / "steps.txt").write_text("pour milk\nwhisk egg\n")
    assert "steps.txt: a file; expected step names, or the file as --steps-file" in refused(
        "localize", talk, "--steps", tmp_path / "steps.txt"
    )


def test_files_that_are_read_are_not_overwritten(talk, tmp_path):
    steps, video = tmp_path / "steps.csv", talk.with_suffix(".mp4")
    steps.write_text("pour milk\nwhisk egg\n")
    video.write_bytes(b"a film")
    before = {path: path.read_bytes() for path in (talk, steps, video)}
    for out in ([talk], [steps], [video, "--format", "vtt"]):
        said = refused("localize", talk, "--steps-file", steps, "--encoder", "tfidf", "--out", *out)
        assert "would be overwritten" in said
    assert before == {path: path.read_bytes() for path in before}
