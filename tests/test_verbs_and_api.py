"""For every verb: what it prints with --json is what one call in Python returns. A new verb must have an entry here."""

import json
import shutil
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import crosstask as ct
from crosstask.cli.main import app
from crosstask.correction.importing import import_labels
from crosstask.correction.queue import review
from crosstask.datasets.subtitles import read_narration
from crosstask.export import export_run
from crosstask.metrics.windows import score_windows
from crosstask.model.info import model_info
from crosstask.narration.narrate import narrate_corpus
from crosstask.pipeline.corpus_problems import problems_of_folder
from crosstask.pipeline.corpus_statistics import corpus_statistics
from crosstask.runs import open_run
from tiny import write_tiny

# Verbs that print no numbers, or whose JSON tells about this machine or the network; tested elsewhere.
WITHOUT_FIGURES = {
    "init": "writes a file that the user edits",
    "view": "serves a page",
    "download": "fetches files; tests/corpus_building",
    "doctor": "describes the installation",
    "demo": "tests/cli/test_demo.py compares its figures with those of its run folder",
    "extract": "tests/extraction compares its rows with those of extract_video",
    "encoder": "trains an encoder; tests/text/encoders",
    "corpus": "tests/corpus_building",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("verbs")
    write_tiny(folder, videos_per_task=6)
    return folder


@pytest.fixture(scope="module")
def corpus(folder):
    return ct.open_corpus(folder)


@pytest.fixture(scope="module")
def model(corpus, tmp_path_factory):
    return ct.train(corpus).save(tmp_path_factory.mktemp("model") / "m.safetensors")


@pytest.fixture(scope="module")
def experiment(corpus, tmp_path_factory):
    """A run folder."""
    out = tmp_path_factory.mktemp("experiment") / "out"
    run("experiment", "cross-task", corpus.folder, "--methods", "hmm,uniform", "--runs", 2, "--train-videos", 3, "--out", out)
    return out


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [str(a) for a in arguments], catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result.stdout


def printed(*arguments):
    return json.loads(run(*arguments, "--json"))


def as_json(value):
    """A value as it is after a round trip through JSON."""
    return json.loads(json.dumps(value))


def test_every_verb_has_a_test():
    names = {command.name or command.callback.__name__ for command in app.registered_commands}
    names |= {group.name for group in app.registered_groups}
    tested = {name.removeprefix("test_verb_") for name in globals() if name.startswith("test_verb_")}
    assert names == tested | set(WITHOUT_FIGURES)


def test_verb_stats(folder, corpus):
    assert printed("stats", folder) == as_json(corpus_statistics(corpus))


def test_verb_validate(folder):
    found = printed("validate", folder)
    assert found["problems"] == as_json([asdict(problem) for problem in problems_of_folder(folder)])
    assert found["errors"] == 0


def test_verb_pack(folder, tmp_path, corpus):
    write_tiny(tmp_path, videos_per_task=6)
    assert printed("pack", tmp_path)["videos"] == len(corpus.videos)
    opened = ct.open_corpus(tmp_path)
    for video in corpus.videos[:3]:
        assert np.array_equal(opened.features.rows(video.id), corpus.features.rows(video.id))


def test_verb_train(folder, corpus, model, tmp_path):
    out = tmp_path / "m.safetensors"
    found = printed("train", folder, "--out", out)
    assert out.read_bytes() == model.read_bytes()
    assert found["videos"] == len(ct.load_model(model).trained_on)


def test_verb_info(model):
    assert printed("info", model) == as_json(model_info(model))


def test_verb_evaluate(folder, corpus, model):
    loaded = ct.load_model(model)
    for options, call in {
        (): ct.evaluate(loaded, corpus),
        ("--with-narration",): ct.evaluate(loaded, corpus, with_narration=True),
        ("--decoder", "swaps"): ct.evaluate(loaded, corpus, decoder="swaps"),
    }.items():
        assert printed("evaluate", folder, "--model", model, *options) == as_json(call.to_json())
    assert printed("evaluate", folder, "--method", "uniform") == as_json(ct.evaluate("uniform", corpus).to_json())


def test_verb_localize(corpus, model, tmp_path):
    rows = tmp_path / "x.npy"
    np.save(rows, np.asarray(corpus.features.rows("-v1_1")))
    loaded = ct.load_model(model)
    assert printed("localize", model, rows, "--task", "1") == as_json([loaded.localize(rows, task="1").to_json()])
    new = printed("localize", rows, "--model", model, "--steps", "boil milk; stir")
    assert new == as_json([loaded.localize(rows, steps=["boil milk", "stir"]).to_json()])
    talk = tmp_path / "talk.vtt"
    talk.write_text("WEBVTT\n\n00:01.000 --> 00:04.000\nnow boil the milk\n\n00:09.000 --> 00:12.000\nand stir it\n")
    assert len(read_narration(talk).words) == 7
    assert printed("localize", talk, "--steps", "boil milk; stir") == as_json(
        [ct.localize(talk, ["boil milk", "stir"]).to_json()]
    )


def test_verb_narrate(folder, tmp_path):
    write_tiny(tmp_path, videos_per_task=3)
    subtitles = tmp_path / "crosstask_subtitles"
    subtitles.mkdir(exist_ok=True)
    corpus = ct.open_corpus(tmp_path)
    for number, video in enumerate(corpus.videos):
        lines = [
            f"00:{3 + 5 * k + number % 2:02d}.000 --> 00:{6 + 5 * k:02d}.000\nnow we {step} and then we go on\n"
            for k, step in enumerate(corpus.task_of(video).steps)
        ]
        (subtitles / f"{video.id}.vtt").write_text("WEBVTT\n\n" + "\n".join(lines))
    corpus = ct.open_corpus(tmp_path)
    for recipe in ("paper", "best"):
        found = narrate_corpus(corpus, recipe, encoder="tfidf")
        narrated = [v for v in corpus.videos if v.key in corpus.annotations and corpus.knows_length(v)]
        expected = score_windows(corpus, narrated, found.windows).to_json()
        assert found.windows
        assert printed("narrate", tmp_path, "--score", "--recipe", recipe, "--encoder", "tfidf") == as_json(expected)


def test_verb_experiment(corpus, experiment):
    found = json.loads((experiment / "results.json").read_text())
    compared = ct.compare(corpus, methods=["hmm", "uniform"], runs=2, train_videos=3)
    for name in ("hmm", "uniform"):
        assert found["results"][name]["recall"]["mean"] == pytest.approx(compared.results[name]["recall"]["mean"], abs=1e-12)


def test_verb_export(experiment, tmp_path):
    shown = printed("export", experiment, "--format", "csv", "--out", tmp_path / "verb")
    export_run(open_run(experiment), ("csv",), tmp_path / "call")
    names = sorted(path.relative_to(tmp_path / "call") for path in (tmp_path / "call").rglob("*.csv"))
    assert names and len(shown["files"]) == len(names)
    for name in names:
        assert (tmp_path / "verb" / name).read_bytes() == (tmp_path / "call" / name).read_bytes()


def test_verb_review(experiment):
    found = printed("review", experiment)
    expected = as_json(review(open_run(experiment)).to_json())
    assert {key: found[key] for key in expected} == expected


def test_verb_labels(experiment, tmp_path):
    opened = open_run(experiment)
    video = opened.run.videos[0]
    labels = tmp_path / "labels.csv"
    labels.write_text(f"video,step,start_s,end_s\n{video.id},{opened.run.tasks[video.task].steps[0]},1,3\n")
    copy = tmp_path / "copy"
    shutil.copytree(experiment, copy)
    assert printed("labels", "import", labels, "--run", experiment) == as_json(import_labels(open_run(copy), labels).to_json())
    listed = printed("labels", "list", experiment)
    assert len(listed["labels"]) == listed["corrected"] == open_run(copy).counts().corrected == 1


def test_verb_run(tmp_path, corpus):
    videos = [video for video in corpus.videos if video.task == "1"]
    steps = ", ".join(f'"{step}"' for step in corpus.tasks["1"].steps)
    for name in ("verb", "call"):
        folder = Path(tmp_path / name)
        (folder / "features").mkdir(parents=True)
        (folder / "corpus.toml").write_text(f'[tasks.latte]\ntitle = "Make Latte"\nsteps = [{steps}]\n')
        (folder / "videos.csv").write_text("".join(f"latte,{video.id},\n" for video in videos))
        for video in videos:
            np.save(folder / "features" / f"{video.id}.npy", np.asarray(corpus.features.rows(video.id)))
    shown = printed("run", tmp_path / "verb")
    result = ct.run(tmp_path / "call")
    assert shown["localized"] == len(result.localized) == len(videos)
    both = [json.loads((tmp_path / name / "run" / "localizations.json").read_text()) for name in ("verb", "call")]
    assert both[0] == both[1]
