"""Numeric options outside their range, and other arguments that once ended in a traceback: one line and exit code 2."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import crosstask as ct
from cli.running import crosstask, refused
from crosstask.cli.main import app
from crosstask.cli.ranges import checked, numeric_options, option_ranges
from crosstask.records import InputError
from crosstask.storage import replace_file
from tiny import write_tiny


def verbs(typer_app):
    """Every verb by name, those of groups included."""
    for command in typer_app.registered_commands:
        yield command.name or command.callback.__name__, command.callback
    for group in typer_app.registered_groups:
        for name, verb in verbs(group.typer_instance):
            yield f"{group.name} {name}", verb


VERBS = dict(verbs(app))
CASES = [(verb, parameter, option) for verb, call in VERBS.items() for parameter, option in numeric_options(call).items()]


def test_every_numeric_option_has_a_declared_range():
    assert {option for _, _, option in CASES} == set(option_ranges())
    assert len(CASES) > 30


@pytest.mark.parametrize(("verb", "parameter", "option"), CASES, ids=[f"{v} {o}" for v, _, o in CASES])
def test_a_number_outside_its_range_is_an_input_error(verb, parameter, option):
    allowed = option_ranges()[option]
    outside = [float("nan"), float("inf"), float("-inf"), allowed.smallest - 1, allowed.largest + 1, 10**30, -(10**30)]
    for value in outside + [allowed.smallest] * allowed.open_below + [allowed.largest] * allowed.open_above:
        with pytest.raises(InputError, match=f"{option} .*expected a number"):
            VERBS[verb](**{parameter: value})


def test_numbers_inside_their_range_reach_the_verb():
    found = []

    def verb(seed: int = 0, epochs: int | None = None) -> None:
        found.append((seed, epochs))

    checked(verb)(seed=3)
    checked(verb)(seed=0, epochs=0)
    assert found == [(3, None), (0, 0)]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpora") / "c"
    write_tiny(folder)
    return folder


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--seed", "-1"], "--seed -1: expected a number from 0"),
        (["--split", "-5"], "--split -5: expected a number from 0"),
        (["--learning-rate", "inf", "--method", "zhukov19"], "--learning-rate inf: expected a number above 0"),
    ],
)
def test_numbers_are_refused_on_the_command_line(corpus, tmp_path, arguments, says):
    assert says in refused("train", corpus, "--out", tmp_path / "m", *arguments)


def test_an_empty_output_path_is_refused(corpus, tmp_path):
    done = crosstask("train", corpus, "--out", "", cwd=tmp_path)
    assert done.returncode == 2 and "Traceback" not in done.stderr and "error: " in done.stderr


@pytest.mark.parametrize("place", ["--out", "--method", "corpus"])
def test_a_name_that_is_not_utf_8_is_refused_before_anything_is_computed(corpus, tmp_path, place):
    bad = os.fsdecode(b"\xff.st")
    given = {"corpus": str(corpus), "--method": "hmm", "--out": str(tmp_path / "m")}
    given[place] = str(tmp_path / bad)
    assert "not UTF-8; expected a name" in refused(
        "train", given.pop("corpus"), *(word for pair in given.items() for word in pair)
    )
    assert list(tmp_path.iterdir()) == []


def test_an_empty_name_cannot_be_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(IsADirectoryError), replace_file(Path()):
        pass


def test_a_binary_list_of_videos_is_refused(corpus, tmp_path):
    (tmp_path / "list").write_bytes(b"\xff\xfe\x00")
    assert "not UTF-8 text" in refused("train", corpus, "--videos", tmp_path / "list", "--out", tmp_path / "m")


def test_pack_without_features_is_refused(tmp_path):
    write_tiny(tmp_path / "c")
    for path in (tmp_path / "c" / "crosstask_features").iterdir():
        path.unlink()
    assert "no listed video has features" in refused("pack", tmp_path / "c")


def test_a_closed_stdout_is_no_traceback(corpus):
    command = f"exec '{sys.executable}' -m crosstask.cli.main stats '{corpus}' >&-"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("name", [b"bad\xff.mp4", b"two\nlines.mp4", b"a" * 196 + b".mp4", "日".encode() * 80 + b".mp4"])
def test_one_file_name_that_cannot_be_an_id_does_not_stop_the_corpus(tmp_path, name):
    folder = tmp_path / "videos" / "latte"
    folder.mkdir(parents=True)
    (folder / "good.mp4").touch()
    (folder / os.fsdecode(name)).touch()
    (tmp_path / "corpus.toml").write_text('[tasks.latte]\nsteps = ["pour milk", "stir"]\n')
    done = crosstask("stats", tmp_path, "--json")
    assert done.returncode == 0, done.stderr
    assert "this file is left out" in done.stderr


def test_an_output_that_is_a_link_is_written_where_the_link_leads(corpus, tmp_path):
    for name, content in (("there.safetensors", b""), ("new.safetensors", None)):
        target, link = tmp_path / "disk" / name, tmp_path / f"link-{name}"
        target.parent.mkdir(exist_ok=True)
        if content is not None:
            target.write_bytes(content)
        link.symlink_to(target)
        done = crosstask("train", corpus, "--method", "supervised", "--epochs", 1, "--out", link)
        assert done.returncode == 0, done.stderr
        assert link.is_symlink() and target.stat().st_size > 1000
        before = target.read_bytes()
        ct.load_model(link).save(link)
        assert link.is_symlink() and target.read_bytes() == before


def test_a_file_inside_a_folder_replaces_a_link_that_may_be_of_somebody_else(tmp_path):
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "report.html").symlink_to(tmp_path / "mine")
    with replace_file(tmp_path / "report.html") as file:
        file.write(b"report")
    assert (tmp_path / "mine").read_text() == "mine"


@pytest.mark.parametrize(
    ("encoding", "written"),
    [("latin-1", b"caf\xe9 \\u0301"), ("ascii", "caf\xe9 \u0301".encode()), ("utf-8", "caf\xe9 \u0301".encode())],
)
def test_names_are_printed_in_any_encoding(tmp_path, encoding, written):
    (tmp_path / "corpus.toml").write_text('[tasks.a]\ntitle = "caf\xe9 \u0301"\nsteps = ["pour"]\n', "utf-8")
    command = [sys.executable, "-m", "crosstask.cli.main", "stats", str(tmp_path)]
    for extra in ([], ["--json"]):
        env = {**os.environ, "PYTHONIOENCODING": encoding}
        done = subprocess.run([*command, *extra], capture_output=True, env=env, check=False, timeout=600)
        assert done.returncode == 0, done.stderr
        if extra:
            assert json.loads(done.stdout.decode(encoding))["tasks"]["a"]["title"] == "caf\xe9 \u0301"
        else:
            assert written in done.stdout
