"""Wheel and sdist: everything a user needs is inside, nothing else; in an empty environment every verb explains itself."""

import importlib.util
import json
import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from tiny import write_tiny

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "crosstask"
EXTRAS = {"torch", "av", "faster_whisper", "sentence_transformers", "fastapi", "ray", "fasttext"}

VERBS = """
import json
from typer.main import get_command
from crosstask.cli.main import app

def verbs(command, prefix=()):
    yield prefix
    for name, sub in getattr(command, "commands", {}).items():
        yield from verbs(sub, (*prefix, name))

print(json.dumps([list(v) for v in verbs(get_command(app))]))
"""


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """(wheel, sdist), built from this tree."""
    if importlib.util.find_spec("build") is None:
        pytest.skip("the package 'build' is not installed")
    out = tmp_path_factory.mktemp("dist")
    alone = ["--no-isolation"] if importlib.util.find_spec("hatchling") else []
    command = [sys.executable, "-m", "build", "--wheel", "--sdist", *alone, "--outdir", str(out), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    (wheel,), (sdist,) = out.glob("*.whl"), out.glob("*.tar.gz")
    return wheel, sdist


def test_the_wheel_has_all_of_the_package_and_no_tests(packages):
    with zipfile.ZipFile(packages[0]) as wheel:
        names = set(wheel.namelist())
    wanted = {
        path.relative_to(PACKAGE.parent).as_posix()
        for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix not in (".pyc", ".nbi", ".nbc")
    }
    assert wanted - names == set(), "data of the package is missing from the wheel"
    strangers = {name for name in names if not name.startswith("crosstask")}
    assert not strangers and not any("test" in Path(name).parts or name.endswith((".nbi", ".nbc", ".pyc")) for name in names)
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_the_sdist_can_be_tested(packages):
    with tarfile.open(packages[1]) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "constraints.txt", "tests/conftest.py"} <= names
    assert not any(name.startswith((".venv", "results", ".git/")) or name.endswith(".pyc") for name in names)


@pytest.fixture(scope="module")
def empty(packages, tmp_path_factory):
    """The `python` of an environment that has the wheel with its core dependencies, and nothing else."""
    folder = tmp_path_factory.mktemp("empty") / "env"
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    command = [python, "-m", "pip", "install", "--quiet", "--constraint", ROOT / "constraints.txt", packages[0]]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0, done.stderr[-2000:]
    return python


def run(python, *arguments, cwd=None):
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    command = [str(python.with_name("crosstask")), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, cwd=cwd, env=environment)


@pytest.mark.slow
def test_with_the_core_alone_every_verb_has_help(empty, tmp_path):
    found = subprocess.run([str(empty), "-c", VERBS], capture_output=True, text=True, check=True, cwd=tmp_path)
    verbs = json.loads(found.stdout)
    assert ["download"] in verbs and ["corpus", "relevance"] in verbs
    for verb in verbs:
        done = run(empty, *verb, "--help", cwd=tmp_path)
        assert done.returncode == 0 and "Usage" in done.stdout, (verb, done.stderr)


@pytest.mark.slow
def test_with_the_core_alone_missing_extras_name_themselves(empty, tmp_path):
    listed = "import importlib.util, sys; print([n for n in sys.argv[1:] if importlib.util.find_spec(n)])"
    there = subprocess.run([str(empty), "-c", listed, *sorted(EXTRAS)], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert there.stdout.strip() == "[]", "the core pulled an extra in"
    corpus = write_tiny(tmp_path / "c")
    subtitles = tmp_path / "c" / "crosstask_subtitles"
    subtitles.mkdir()
    (subtitles / f"{corpus.videos[0].id}.vtt").write_text(
        "WEBVTT\n\n00:01.000 --> 00:09.000\npour milk then stir coffee then pour coffee\n"
    )
    (tmp_path / "v.mp4").write_bytes(b"\0" * 100)
    page = {"title": "Make Coffee", "steps": [{"headline": "Pour milk", "sentences": ["Pour the milk.", "Stir it."]}] * 2}
    articles = tmp_path / "articles.json"
    articles.write_text(json.dumps([page | {"title": f"Make Coffee {n}"} for n in range(12)]))
    once = (
        tmp_path / "c",
        "--runs",
        "1",
        "--train-videos",
        "1",
        "--learning-rate",
        "1e-2",
        "--initial-epochs",
        "1",
        "--epochs",
        "1",
    )
    run_folder = run(empty, "experiment", "cross-task", *once, "--out", tmp_path / "run", cwd=tmp_path)
    assert run_folder.returncode == 0, run_folder.stderr
    for extra, arguments in {
        "video": ("extract", tmp_path / "v.mp4", "--out", tmp_path / "f"),
        "sentence": ("narrate", tmp_path / "c", "--encoder", "sentence"),
        "fasttext": (
            "encoder",
            "train",
            "--articles",
            articles,
            "--word-vectors",
            "fasttext",
            "--out",
            tmp_path / "e.safetensors",
        ),
        "serve": ("view", tmp_path / "run"),
        "ray": ("experiment", "sharing", *once, "--engine", "ray", "--out", tmp_path / "on-ray"),
        "deep": ("experiment", "depth", *once, "--out", tmp_path / "depth"),
    }.items():
        done = run(empty, *arguments, cwd=tmp_path)
        assert done.returncode == 2 and f"crosstask[{extra}]" in done.stderr, (extra, done.stdout, done.stderr)
        assert "Traceback" not in done.stderr
    assert run(empty, "stats", tmp_path / "c", "--json", cwd=tmp_path).returncode == 0
    done = run(empty, "train", tmp_path / "c", "--out", tmp_path / "m.safetensors", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
