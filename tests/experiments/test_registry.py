import json
import shutil

import numpy as np
import pytest

from crosstask.experiments.narration import _files_digest
from crosstask.experiments.registry import EXPERIMENTS, experiment_named
from crosstask.experiments.runner import ExperimentConfig
from crosstask.experiments.sharing_gain import step_gains
from crosstask.experiments.tables import ExperimentResult, write_result
from crosstask.records import InputError, Task
from experiments.few_videos.people import write_people
from tiny import write_tiny

QUICK = {"learning_rate": 0.01, "dropout": 0.1, "initial_epochs": 2, "epochs": 2}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("corpus")
    write_tiny(path, videos_per_task=6)
    return path


@pytest.fixture
def config(folder, tmp_path):
    return ExperimentConfig(str(folder), tmp_path / "out", runs=2, train_videos_per_task=2, learning=QUICK)


def contents(folder):
    return {p.name: p.read_bytes() for p in sorted(folder.iterdir()) if p.is_file()}


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in EXPERIMENTS
        if name not in ("narration", "optimiser", "depth", "few-videos", "never-trained", "sharing-controls")
    ],
)
def test_every_experiment_writes_its_files_and_the_same_bytes_when_repeated(name, config):
    result = experiment_named(name)(config)
    first = contents(config.out)
    assert {"results.json", "results.csv", "table.tex", "figure.png", "figure.svg"} <= set(first)
    summary = json.loads(first["results.json"])
    assert summary["experiment"] == name and summary["runs"] == 2
    for of in summary["results"].values():
        for measure in ("recall", "map", "f1"):
            assert set(of[measure]["tasks"]) == {"1", "2"} and len(of[measure]["runs"]) == 2
            assert of[measure]["mean"] == pytest.approx(np.mean([t["mean"] for t in of[measure]["tasks"].values()]))
    assert all(len(row) == len(result.header) for row in result.rows)
    jobs = sorted((config.out / "jobs").iterdir())
    jobs[0].unlink()
    jobs[-1].write_text("{")  # killed while writing
    (config.out / "results.json").unlink()
    experiment_named(name)(config)
    assert contents(config.out) == first


def test_an_unknown_name_lists_the_names(config):
    with pytest.raises(InputError, match="cross-task, sharing, transfer"):
        experiment_named("guess")


def test_the_optimiser_experiment_on_features_and_on_order_alone(config, tmp_path):
    from dataclasses import replace

    summary = experiment_named("optimiser")(replace(config, train_videos_per_task=3)).summary
    assert len(summary["results"]) == 8 and len(summary["differences"]) == 2
    assert all(0 < of["f1"]["mean"] <= 1 for of in summary["results"].values())
    (tmp_path / "five" / "annotations").mkdir(parents=True)
    (tmp_path / "five" / "tasks.json").write_text(json.dumps({"making tea": ["boil", "pour"]}))
    (tmp_path / "five" / "annotations" / "tea_0001.csv").write_text("BOIL,0,9\nPOUR,10,30\n")
    five = ExperimentConfig(str(tmp_path / "five"), tmp_path / "out2", runs=2)
    assert list(experiment_named("optimiser")(five).summary["results"]) == [
        "uniform, K = 10",
        "random, K = 10",
        "uniform, K = 15",
        "random, K = 15",
    ]


def test_the_optimiser_experiment_on_tasks_with_descriptions_and_a_graph(tmp_path):
    write_people(tmp_path / "corpus")
    config = ExperimentConfig(str(tmp_path / "corpus"), tmp_path / "out", runs=1, split_by="group", learning=QUICK)
    assert len(experiment_named("optimiser")(config).summary["results"]) == 8


def test_subtitles_that_went_to_other_videos_are_other_subtitles(folder, tmp_path):
    def digest(name, **texts):
        place = tmp_path / name
        shutil.copytree(folder, place)
        (place / "crosstask_subtitles").mkdir()
        for video, text in texts.items():
            (place / "crosstask_subtitles" / f"-v1_{video[1:]}.vtt").write_text(f"WEBVTT\n\n00:01.000 --> 00:02.000\n{text}\n")
        return _files_digest(ExperimentConfig(str(place), tmp_path / "out", runs=2))

    first = digest("first", v0="pour milk", v1="stir coffee")
    assert digest("copied", v0="pour milk", v1="stir coffee") == first
    assert digest("exchanged", v0="stir coffee", v1="pour milk") != first
    assert digest("renamed", v0="pour milk", v2="stir coffee") != first


def test_other_words_of_word_vectors_are_another_encoder(folder, tmp_path):
    (tmp_path / "glove.npy").write_bytes(b"vectors")
    config = ExperimentConfig(str(folder), tmp_path / "out", encoder_files={"max-pooled": str(tmp_path / "glove.npy")})
    digests = []
    for words in ("pour\nmilk\n", "milk\npour\n"):
        (tmp_path / "glove.words.txt").write_text(words)
        digests.append(_files_digest(config))
    assert digests[0] != digests[1]


def test_the_narration_experiment_needs_subtitles(config):
    with pytest.raises(InputError, match="narration needs both"):
        experiment_named("narration")(config)


@pytest.mark.slow
def test_the_narration_experiment_on_synthetic_speech(tmp_path, monkeypatch):
    monkeypatch.setattr("crosstask.experiments.narration.find_spec", lambda name: None)  # words alone: quick
    summary = experiment_named("narration")(ExperimentConfig("synthetic:demo:clear:0:8", tmp_path)).summary
    assert {"tfidf, paper", "tfidf, best"} == set(summary["results"])
    assert all(0 < of["precision"] < 1 for of in summary["results"].values())


def test_depth_compares_three_classifiers(config):
    pytest.importorskip("torch")
    summary = experiment_named("depth")(config).summary
    assert set(summary["results"]) == {"linear", "one hidden layer", "two hidden layers"}


@pytest.mark.parametrize(("corpus", "kept"), [("synthetic:demo:clear:0:8", False), ("kitchen", True)])
def test_numbers_of_the_paper_do_not_stand_beside_synthetic_ones(corpus, kept, tmp_path):
    result = ExperimentResult({"results": {}, "paper": {"zhukov19": 0.224}}, "title", ["", "recall"], [])
    written = write_result(ExperimentConfig(corpus, tmp_path), result, lambda config, summary: None)
    assert ("paper" in written.summary) is kept
    assert ("paper" in json.loads((tmp_path / "results.json").read_text("utf-8"))) is kept


def test_gain_of_a_step_is_over_the_runs_that_test_its_task():
    tasks = {"1": Task("1", "tea", ("boil", "pour")), "2": Task("2", "toast", ("cut",))}
    results = {
        "zhukov19": [{"steps": {"1": [1.0, None]}}, {"steps": {"1": [0.5, 0.5], "2": [0.75]}}],
        "task-specific": [{"steps": {"1": [0.0, None]}}, {"steps": {"1": [0.5, 1.0], "2": [0.5]}}],
    }
    found = [(row["step"], row["shared"], row["unshared"]) for row in step_gains(results, tasks)]
    assert found == [("boil", 0.75, 0.25), ("cut", 0.75, 0.5), ("pour", 0.5, 1.0)]


def test_names_of_steps_are_neither_formulas_nor_codes_in_the_tables(config):
    rows = [["step", 0, "=1+1", "-0.5"]]
    result = ExperimentResult({"results": {}}, "Make \x1b[2J tea", ["name", "recall"], [["a\x07b_c", "1.0"]], rows)
    write_result(config, result, lambda config, summary: None)
    assert (config.out / "results.csv").read_text() == "step,0,'=1+1,-0.5\n"
    table = (config.out / "table.tex").read_text()
    assert r"ab\_c & 1.0" in table and "\x1b" not in table
