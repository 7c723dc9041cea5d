"""`narrate`, `encoder train` and parsing from subtitles, from the command line's functions down to files."""

import json
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from crosstask.cli.encoder import encoder_app
from crosstask.cli.localize import localize
from crosstask.cli.narrate import narrate
from crosstask.datasets import open_corpus
from crosstask.records import InputError

app = typer.Typer()
app.command()(narrate)
localize_app = typer.Typer()
localize_app.command()(localize)
runner = CliRunner()

STEPS = ("cut bread", "melt butter", "flip toast")
FILLER = ["well", "this", "is", "really", "something", "that", "we", "like", "on", "sundays", "with", "family"]


def write_talk(file: Path, where: list[int], rng: np.random.Generator) -> None:
    lines = [" ".join(rng.choice(FILLER, 6)) for _ in range(40)]
    for line, step in zip(where, STEPS, strict=True):
        lines[line] = f"now you {step} carefully"
    cues = "".join(
        f"00:{3 * i // 60:02}:{3 * i % 60:02}.000 --> 00:{(3 * i + 3) // 60:02}:{(3 * i + 3) % 60:02}.000\n{t}\n\n"
        for i, t in enumerate(lines)
    )
    file.write_text("WEBVTT\n\n" + cues)


@pytest.fixture
def talking(tmp_path: Path) -> Path:
    """A corpus in the published layout: four videos that tell their steps, one silent, one broken."""
    rng = np.random.default_rng(0)
    release = tmp_path / "talk ü" / "crosstask_release"
    (release / "annotations").mkdir(parents=True)
    subtitles = tmp_path / "talk ü" / "crosstask_subtitles"
    subtitles.mkdir()
    (release / "tasks_primary.txt").write_text(f"5\nMake Toast\nhttp://x\n3\n{','.join(STEPS)}\n\n")
    names = ["-a", "b c", "ç", "d", "silent", "broken"]
    (release / "videos.csv").write_text("".join(f"5,{name},http://y\n" for name in names))
    (release / "video_seconds.csv").write_text("".join(f"{name},120\n" for name in names))
    for name in names[:4]:
        where = sorted(int(line) for line in rng.choice(np.arange(3, 37), 3, replace=False))
        write_talk(subtitles / f"{name}.vtt", where, rng)
        lines = "".join(f"{k + 1},{3 * line},{3 * line + 6}\n" for k, line in enumerate(where))
        (release / "annotations" / f"5_{name}.csv").write_text(lines)
    (subtitles / "broken.vtt").write_text("WEBVTT\n\n00:01 --> 00:02\nx\n")
    return tmp_path / "talk ü"


def test_windows_of_subtitles_that_are_gone_are_removed(talking: Path) -> None:
    assert runner.invoke(app, [str(talking), "--encoder", "tfidf"]).exit_code == 0
    assert len(open_corpus(talking).windows) == 4
    (talking / "crosstask_subtitles" / "d.vtt").unlink()
    assert len(open_corpus(talking).windows) == 3
    kept = talking / ".crosstask" / "constraints" / "5_d.csv"
    (talking / "only.txt").write_text("5_-a\n")
    assert runner.invoke(app, [str(talking), "--encoder", "tfidf", "--videos", str(talking / "only.txt")]).exit_code == 0
    assert kept.exists() and len(open_corpus(talking).windows) == 3
    assert runner.invoke(app, [str(talking), "--encoder", "tfidf"]).exit_code == 0
    assert not kept.exists() and sorted(key.video for key in open_corpus(talking).windows) == ["-a", "b c", "ç"]


def test_windows_are_written_in_the_published_format_and_repeating_keeps_the_bytes(talking: Path) -> None:
    result = runner.invoke(app, [str(talking), "--encoder", "tfidf", "--json"])
    assert result.exit_code == 0, result.output
    shape = json.loads(result.stdout)
    assert (shape["videos"], shape["unusable"]) == (4, 1)
    folder = Path(shape["folder"])
    assert folder == talking / ".crosstask" / "constraints"
    first = {file.name: file.read_bytes() for file in folder.iterdir()}
    assert sorted(first) == ["5_-a.csv", "5_b c.csv", "5_d.csv", "5_ç.csv", "steps.json"]
    rows = [line.split(",") for line in first["5_d.csv"].decode().splitlines()]
    assert [row[0] for row in rows] == ["1", "2", "3"]
    assert all(float(row[2]) - float(row[1]) == 9 for row in rows)
    assert "5_broken" in result.stderr and "line 3" in result.stderr
    runner.invoke(app, [str(talking), "--encoder", "tfidf"])
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == first


def test_scoring_prints_the_documented_shape_and_writes_nothing(talking: Path) -> None:
    before = sorted(talking.rglob("*"))
    result = runner.invoke(app, [str(talking), "--encoder", "tfidf", "--score", "--json"])
    assert result.exit_code == 0, result.output
    shape = json.loads(result.stdout)
    assert set(shape) == {"precision", "recall", "iou", "hit_rate", "outside", "mean_window_s", "tasks"}
    assert shape["hit_rate"] >= 0.9
    assert shape["tasks"]["5"]["precision"] == shape["precision"]
    assert sorted(talking.rglob("*")) == before


def test_published_constraints_are_never_touched(talking: Path) -> None:
    published = talking / "crosstask_constraints" / "5_d.csv"
    published.parent.mkdir()
    published.write_text("1,0,5\n")
    said = runner.invoke(app, [str(talking), "--encoder", "tfidf"]).output
    assert published.read_text() == "1,0,5\n"
    assert "1 of these videos also have windows in" in said and "which training prefers" in said


def test_paper_recipe_and_chosen_videos(talking: Path, tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("5_d\n5_-a\n")
    result = runner.invoke(
        app, [str(talking), "--encoder", "tfidf", "--recipe", "paper", "--videos", str(tmp_path / "list.txt"), "--json"]
    )
    assert json.loads(result.stdout)["videos"] == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--encoder", "bert"], "encoder 'bert' is unknown"),
        (["--encoder", "max-pooled"], "no file given; expected --encoder-file"),
        (["--recipe", "quick"], "recipe 'quick' is unknown"),
    ],
)
def test_bad_choices_are_refused(talking: Path, arguments: list[str], message: str) -> None:
    result = runner.invoke(app, [str(talking), *arguments])
    assert isinstance(result.exception, InputError)
    assert message in str(result.exception)


def test_a_corpus_without_subtitles_says_what_it_needs(talking: Path) -> None:
    for file in (talking / "crosstask_subtitles").iterdir():
        file.unlink()
    result = runner.invoke(app, [str(talking), "--encoder", "tfidf"])
    assert isinstance(result.exception, InputError)
    assert "no video with subtitles; expected VIDEO.vtt, .srt or .json beside the videos or in crosstask_subtitles/" in str(
        result.exception
    )


def test_steps_are_found_in_subtitles_alone(talking: Path) -> None:
    corpus = open_corpus(talking)
    video = next(video for video in corpus.videos if video.id == "d")
    file = talking / "crosstask_subtitles" / "d.vtt"
    steps = "cut bread, melt butter, wash car, flip toast"
    result = runner.invoke(localize_app, ["--narration", str(file), "--steps", steps, "--encoder", "tfidf", "--json"])
    shape = json.loads(result.stdout)
    (shape,) = shape
    assert shape["video"] == "d"
    found = {step["step"]: step for step in shape["steps"]}
    for k, step in enumerate(STEPS):
        true = corpus.annotations[video.key][k].interval
        assert true.start_s - 1 <= found[step]["moment_s"] <= true.end_s + 1
        assert found[step]["shown"]
        assert found[step]["start_s"] <= found[step]["moment_s"] < found[step]["end_s"]
    assert found["wash car"]["score"] < 0.5 and found["wash car"]["shown"]  # not mentioned, which is no reason to call it absent
    seconds = [step["moment_s"] for step in shape["steps"]]
    assert seconds == sorted(set(seconds))


def test_parsing_several_files_prints_for_people(talking: Path) -> None:
    files = [part for name in ("d.vtt", "ç.vtt") for part in ("--narration", str(talking / "crosstask_subtitles" / name))]
    result = runner.invoke(localize_app, [*files, "--steps", ",".join(STEPS), "--title", "Make Toast", "--encoder", "tfidf"])
    lines = result.stdout.splitlines()
    assert lines[0] == "d" and lines[4] == "ç" and "cut bread" in lines[1]


def test_silence_is_refused(tmp_path: Path) -> None:
    (tmp_path / "s.vtt").write_text("WEBVTT\n")
    result = runner.invoke(
        localize_app, ["--narration", str(tmp_path / "s.vtt"), "--steps", "a, b", "--encoder", "tfidf", "--json"]
    )
    assert isinstance(result.exception, InputError)
    assert "s: 0 s cannot hold 2 steps in order" in str(result.exception)


def write_articles(file: Path) -> None:
    rng = np.random.default_rng(0)
    topics = [[f"t{i}w{j}" for j in range(5)] for i in range(6)]
    pages = []
    for i in range(30):
        steps = [
            {"headline": " ".join(rng.choice(topics[t], 4)), "sentences": [" ".join(rng.choice(topics[t], 5)) for _ in range(3)]}
            for t in rng.choice(6, 3, replace=False)
        ]
        pages.append({"title": f"page {i}", "steps": steps})
    file.write_text(json.dumps(pages))


def test_an_encoder_is_trained_reported_and_used(talking: Path, tmp_path: Path) -> None:
    write_articles(tmp_path / "articles.json")
    out, report = tmp_path / "encoder.safetensors", tmp_path / "report"
    arguments = ["--articles", str(tmp_path / "articles.json"), "--out", str(out), "--report", str(report), "--epochs", "3"]
    arguments += ["--corpus", str(talking), "--json"]
    (talking / "crosstask_subtitles" / "broken.vtt").unlink()
    result = runner.invoke(encoder_app, arguments)
    assert result.exit_code == 0, result.output
    shape = json.loads(result.stdout)
    assert len(shape["loss"]) == 3
    assert shape["held_out_triplets_satisfied"][-1] > 0.8
    assert sorted(file.name for file in report.iterdir()) == ["paragraphs.png", "training.json", "training.png"]
    first = {file.name: file.read_bytes() for file in [out, *report.iterdir()]}
    runner.invoke(encoder_app, arguments)
    assert {file.name: file.read_bytes() for file in [out, *report.iterdir()]} == first
    used = runner.invoke(app, [str(talking), "--encoder", "learned", "--encoder-file", str(out), "--score", "--json"])
    assert used.exit_code == 0, repr(used.exception)
    assert json.loads(used.stdout)["mean_window_s"] == 9


def test_word_vectors_by_fasttext_name_their_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    write_articles(tmp_path / "articles.json")
    monkeypatch.setitem(sys.modules, "fasttext", None)
    result = runner.invoke(
        encoder_app, ["--articles", str(tmp_path / "articles.json"), "--out", str(tmp_path / "e"), "--word-vectors", "fasttext"]
    )
    assert isinstance(result.exception, InputError)
    assert "[fasttext]" in str(result.exception)
