"""The README's Python examples run, and the verbs it names exist."""

import re
import shutil
from pathlib import Path

import pytest

from crosstask.synthetic import write_synthetic

README = (Path(__file__).parent.parent / "README.md").read_text("utf-8")
ONE_VIDEO, SNIPPET = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)


def run_snippet(code, capsys):
    scope: dict[str, object] = {}
    exec(compile(code, "README.md", "exec"), scope)
    printed = capsys.readouterr().out.splitlines()
    assert printed and all(re.fullmatch(r"\d+\.\d \S.*", line) for line in printed)
    return scope


def test_the_python_example_runs_on_a_feature_file(tmp_path, monkeypatch, capsys):
    """Names of the example that the synthetic corpus does not have are replaced: the task, and a feature file for the video."""
    monkeypatch.chdir(tmp_path)
    write_synthetic(Path("kitchen"), "small", "easy", 0, 16)
    shutil.copy(sorted(Path("kitchen/crosstask_features").glob("1001*.npy"))[0], "new.npy")
    scope = run_snippet(SNIPPET.replace('"new.mp4"', '"new.npy"').replace('"latte"', '"1001"'), capsys)
    assert scope["model"].method == "hmm" and Path("latte.safetensors").exists()


@pytest.mark.slow
def test_the_python_example_runs_on_a_video_file(tmp_path, monkeypatch, capsys):
    pytest.importorskip("av", reason="extra video is not installed")
    from typer.testing import CliRunner

    from crosstask.cli.main import app
    from crosstask.synthetic.films.corpus import render_corpus
    from crosstask.synthetic.films.scripts import TASKS

    monkeypatch.chdir(tmp_path)
    render_corpus(Path("kitchen"), videos_per_task=2, test_videos_per_task=0, tasks=TASKS[:2])
    extracted = CliRunner().invoke(app, ["extract", "kitchen", "--features", "log-mel"], catch_exceptions=False)
    assert extracted.exit_code == 0, extracted.output
    shutil.copy("kitchen/videos/latte/latte-00.mp4", "new.mp4")
    run_snippet(SNIPPET, capsys)


@pytest.mark.slow
def test_the_example_of_one_video_finds_its_steps_without_training(tmp_path, monkeypatch, capsys):
    pytest.importorskip("av", reason="extra video is not installed")
    from crosstask.synthetic.films.corpus import render_corpus
    from crosstask.synthetic.films.scripts import TASKS

    monkeypatch.chdir(tmp_path)
    render_corpus(Path("films"), videos_per_task=1, test_videos_per_task=0, tasks=TASKS[:1])
    for path in Path("films/videos/latte").glob("latte-00.*"):
        shutil.copy(path, f"latte{path.suffix}")
    run_snippet(ONE_VIDEO, capsys)


def test_the_two_commands_are_there():
    assert re.search(r"^make demo\b", README, flags=re.MULTILINE) and re.search(r"^make test\b", README, flags=re.MULTILINE)


def test_every_verb_of_the_readme_exists():
    from typer.main import get_command

    from crosstask.cli.main import app

    known = set(get_command(app).commands)
    named = set(re.findall(r"^crosstask +(\w+)", README, flags=re.MULTILINE))
    assert named and named <= known, named - known
