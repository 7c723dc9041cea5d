import json
import shlex
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli.running import crosstask, refused
from crosstask.cli.main import app
from crosstask.pipeline import video_demo

SMALL = video_demo.FilmSet(videos_per_task=3, test_videos_per_task=1, n_tasks=2)


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """What the demonstration on six films prints, and its folder."""
    pytest.importorskip("av", reason="extra video is not installed")
    out = tmp_path_factory.mktemp("a place") / "demo"
    patch = pytest.MonkeyPatch()
    patch.setattr(video_demo, "FilmSet", lambda: SMALL)
    try:
        done = {
            form: CliRunner().invoke(app, ["demo", "--out", str(out), *form], catch_exceptions=False)
            for form in ((), ("--json", "--video"))
        }
    finally:
        patch.undo()
    assert all(one.exit_code == 0 for one in done.values())
    return out, done


@pytest.mark.slow
def test_recalls_are_fractions_and_films_lie_below_the_folder(printed):
    out, done = printed
    figures = json.loads(done["--json", "--video"].stdout)
    assert set(figures["recall"]) == {"hmm", "hmm_no_sharing", "never_trained", "uniform"}
    assert all(isinstance(value, float) and 0 <= value <= 1 for value in figures["recall"].values())
    assert figures["run"] == str(out) and figures["synthetic"] is True
    for name, mean in figures["recall"].items():
        by_task = figures["tasks"][name]
        assert set(by_task) == {"latte", "omelette"} and mean == pytest.approx(sum(by_task.values()) / 2)
    assert len(list(out.rglob("*.mp4"))) == 6 and len(list((out / "corpus").rglob("*.vtt"))) == 6


@pytest.mark.slow
def test_every_printed_command_works_as_typed(printed, tmp_path):
    out, done = printed
    lines = done[()].stdout.partition("What to try next")[2].splitlines()
    commands = [shlex.split(line) for line in lines if line.startswith("  ") and "crosstask" in line and "Open" not in line]
    verbs = {words[1]: words[2:] for words in commands}
    assert list(verbs) == ["view", "export", "localize", "init"] and verbs["view"] == [str(out)]
    for verb in ("export", "localize", "init"):
        ran = crosstask(verb, *verbs[verb], cwd=tmp_path)
        assert ran.returncode == 0, ran.stderr
    assert (out / "report.html").is_file() and f"Open {out / 'report.html'} " in done[()].stdout


def test_without_pyav_it_says_what_to_install_and_offers_numbers(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "av", None)
    from crosstask.records import InputError

    with pytest.raises(InputError, match=r"needs the extra 'video': .+\[video\]'?; or see .+ demo --numbers$"):
        CliRunner().invoke(app, ["demo", "--out", str(tmp_path / "demo")], catch_exceptions=False)
    assert not Path(tmp_path / "demo").exists()


@pytest.mark.parametrize("form", [(), ("--numbers",)])
def test_the_run_of_another_verb_is_not_overwritten(tmp_path, form):
    from correction.runs import write_random_run

    write_random_run(tmp_path)
    before = (tmp_path / "run.json").read_bytes()
    assert "it holds the run of `crosstask run`, which would be overwritten" in refused("demo", "--out", tmp_path, *form)
    assert (tmp_path / "run.json").read_bytes() == before
