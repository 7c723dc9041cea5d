"""Names from corpora reach the terminal, figures and files as text, never as commands of another language."""

import csv
import io
import json
import logging
import shlex
import sys
from dataclasses import replace
from functools import wraps
from xml.etree import ElementTree as ET

import pytest
import typer
from typer.testing import CliRunner

from cli.running import crosstask
from crosstask.cli import output
from crosstask.cli.output import recorded_command
from crosstask.cli.progress import progress
from crosstask.cli.run import run as run_verb
from crosstask.export.annotation_tools import elan
from crosstask.export.chapters import webvtt, youtube
from crosstask.export.tables_and_json import csv_table
from crosstask.records import VideoKey
from crosstask.report.timeline import draw_timeline
from crosstask.runs import open_run
from export.videos import video_of
from runs.test_folder import tiny_run

HOSTILE = "Make [/b] tea \x1b[2J \x9b31m $\\nosuch$"


def test_rich_markup_in_a_title_is_printed_as_it_is(monkeypatch, capsys):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "200")
    output.print_table(f"{HOSTILE}: tasks", ["task", "[/b]"], [[HOSTILE, "[red]1"]])
    printed = capsys.readouterr().out
    assert printed.count("Make [/b] tea \\x1b[2J") == 2 and "[red]1" in printed
    assert "\x1b[2J" not in printed and "\x9b" not in printed


def test_rich_markup_in_a_progress_bar_is_printed_as_it_is(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with progress(HOSTILE, 2) as advance:
        advance()
        advance()
    assert "\x1b[2J" not in capsys.readouterr().err


def test_terminal_escape_codes_are_never_printed(capsys):
    output.say(HOSTILE)
    output.note(HOSTILE)
    output.print_json({HOSTILE: "\x9b\x7f\ud800"})
    out, err = capsys.readouterr()
    assert not {"\x1b", "\x9b", "\x7f"} & set(out + err)
    assert json.loads(out.split("\n", 1)[1]) == {HOSTILE: "\x9b\x7f\ud800"}


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_mathtext_in_a_title_or_step_is_drawn_as_it_is(tmp_path, ending):
    folder, run, parses = tiny_run(tmp_path / "r")
    steps = tuple(replace(step, name="x $\\nosuch$") for step in parses[0].steps)
    parse, scores = replace(parses[0], steps=steps), open_run(folder).scores("proposed", run.videos[0].key)
    path = draw_timeline(tmp_path / f"a.{ending}", "x $\\nosuch$", run.tasks["1"], scores, parse, None, None)
    assert path.stat().st_size > 1000


def test_a_title_or_id_is_no_formula_in_a_spreadsheet():
    video = replace(video_of(("stir", 1, 2)), title="=HYPERLINK(1)", key=VideoKey("1", "=cmd()"))
    youtube_id = replace(video, title="Tea", key=VideoKey("1", "-YtYoSwdUf8"))
    rows = list(csv.DictReader(io.StringIO("".join(csv_table([video, youtube_id])))))
    assert (rows[0]["task"], rows[0]["video"]) == ("'=HYPERLINK(1)", "'=cmd()")
    assert (rows[1]["task"], rows[1]["video"]) == ("Tea", "-YtYoSwdUf8")


def test_control_characters_do_not_break_elan_and_chapters():
    video = video_of(("stir\x01 \ufffe<tea>", 1, 2), length=5.0)
    (value,) = ET.fromstring(elan(video).encode()).iter("ANNOTATION_VALUE")
    assert value.text == "stir\ufffd \ufffd<tea>"
    assert "\x01" not in webvtt(video) and "\x01" not in youtube(video)[0]


def test_printed_commands_work_as_typed(monkeypatch, tmp_path):
    script = tmp_path / "my env" / "bin" / "crosstask"
    script.parent.mkdir(parents=True)
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    monkeypatch.setattr(sys, "argv", [str(script)])
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.chdir(tmp_path)
    assert output.command("view", "my run") == "'my env/bin/crosstask' view 'my run'"
    monkeypatch.chdir(script.parent)
    assert output.command("view") == "./crosstask view"
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert output.command("view") == f"'{script}' view"
    monkeypatch.setenv("PATH", str(script.parent))
    assert output.command("run", "a b", "--format", "csv") == "crosstask run 'a b' --format csv"
    monkeypatch.setattr(sys, "argv", ["/somewhere/pytest"])
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert output.program() == "crosstask"


def test_the_recorded_command_has_every_option_that_can_change_the_result(tmp_path):
    app, seen = typer.Typer(), []

    @app.command("run")
    @wraps(run_verb)
    def record(context: typer.Context, **options):
        seen.append(recorded_command(context))

    app.command("other")(lambda: None)
    given = ["--no-speech", "--features", "log-mel", "--every", "2", "--weights", "a=b", "--weights", "c=d e", "--language", "de"]
    without_effect = ["--workers", "3", "--out", "x", "--json", "--device", "auto"]
    assert CliRunner().invoke(app, ["run", str(tmp_path), *given, *without_effect]).exit_code == 0
    words = shlex.split(seen[0])
    assert words[:3] == ["crosstask", "run", tmp_path.name] and words[-2:] == ["--seed", "0"]
    pairs = ["--no-speech", "--features log-mel", "--every 2", "--weights a=b", "--weights c=d e", "--language de"]
    assert sorted(" ".join(words[3:-2]).replace(" --", "\n--").split("\n")) == sorted(pairs)


def test_the_working_folder_is_recorded_by_its_name(tmp_path, monkeypatch):
    app, seen = typer.Typer(), []
    app.command("run")(wraps(run_verb)(lambda context, **options: seen.append(recorded_command(context))))
    app.command("other")(lambda: None)
    (tmp_path / "kitchen").mkdir()
    monkeypatch.chdir(tmp_path / "kitchen")
    assert CliRunner().invoke(app, ["run", "."]).exit_code == 0
    assert seen == ["crosstask run kitchen --seed 0"]


def test_a_localized_run_records_its_command(tmp_path):
    (tmp_path / "talk.vtt").write_text("WEBVTT\n\n00:01.000 --> 00:04.000\npour the milk\n\n00:05.000 --> 00:08.000\nstir it\n")
    given = ["--steps", "pour milk, stir", "--encoder", "tfidf", "--title", "Make tea " * 50]
    done = crosstask("localize", tmp_path / "talk.vtt", *given, "--out", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    command = json.loads((tmp_path / "run" / "run.json").read_text())["command"]
    assert shlex.split(command)[:3] == ["crosstask", "localize", "talk.vtt"]
    assert all(word in shlex.split(command) for word in given) and "--out" not in command


def test_a_warning_is_printed_once(capsys, monkeypatch):
    """A corpus is opened several times in one command, and warns each time."""
    handler, log = output.OneLineEach(), logging.getLogger("a corpus")
    monkeypatch.setattr(log, "handlers", [handler])
    for name in ("a", "a", "b", "a"):
        log.warning("videos/%s: left out", name)
    assert capsys.readouterr().err == "warning: videos/a: left out\nwarning: videos/b: left out\n"
