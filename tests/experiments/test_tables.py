import json
from types import SimpleNamespace

import numpy as np
import pytest

from crosstask.evaluation import evaluate as evaluation
from crosstask.experiments import job, runner
from crosstask.experiments.arms import Arm
from crosstask.experiments.corpora import corpora_for_tuning, corpus_of_run, open_once
from crosstask.experiments.cross_task import settings
from crosstask.experiments.registry import EXPERIMENTS, experiment_named
from crosstask.experiments.runner import GRIDS, ExperimentConfig, job_values, tune
from crosstask.records import InputError
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


@pytest.mark.parametrize("name", [name for name in EXPERIMENTS if name not in ("narration", "optimiser", "depth")])
def test_every_question_is_answered_on_disk_and_again_with_the_same_bytes(name, config):
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


def test_every_method_passes_the_same_inference(config, monkeypatch):
    seen = []
    real = evaluation.decode_once
    monkeypatch.setattr(evaluation, "decode_once", lambda cost: seen.append(cost.shape) or real(cost))
    counts = {}
    for setting in settings(config):
        seen.clear()
        result = job.train_and_judge(job_values(config, setting.learning_with(**QUICK), 0))
        counts[setting.name] = len(seen)
        assert len(seen) == result["videos"] > 0  # one parse a video, for every method alike
    assert len(set(counts.values())) == 1 and len(counts) == 7


@pytest.mark.parametrize("train_on", ["all", "primary", "related"])
def test_who_trains_on_what(config, train_on):
    corpus = open_once(config.corpus)
    values = job_values(config, Arm("x", "proposed", train_on=train_on), 1)
    split = job.split_of(corpus, values)
    train = job.chosen_training(corpus, split.train, values)
    expected = {"all": {"1", "2", "30"}, "primary": {"1", "2"}, "related": {"30"}}[train_on]
    assert {video.task for video in train} == expected
    assert not {v.key for v in train} & {v.key for v in split.test}
    assert not ({v.key for v in train} | {v.key for v in split.test}) & corpus.validation


def test_tuning_judges_validation_and_never_sees_a_test_video(config):
    corpus = open_once(config.corpus)
    values = job_values(config, Arm("x", "proposed"), 0) | {"judge": "validation"}
    split = job.split_of(corpus, values)
    assert {v.key for v in split.test} == corpus.validation
    assert not {v.key for v in split.train} & corpus.validation


def test_nested_subsets_hold_each_other(config):
    videos = open_once(config.corpus).videos
    kept = []
    for n in (1, 2, 3):
        some = job._some_tasks(videos, {"n_tasks": n, "seed": 4})
        kept.append({v.task for v in some})
        assert len(kept[-1]) == n
    assert kept[0] < kept[1] < kept[2]


def test_a_task_left_out_is_never_trained(config, monkeypatch):
    seen = []
    real = job._judged

    def spied(corpus, train, test, values):
        seen.append(({v.task for v in train}, {v.task for v in test}))
        return real(corpus, train, test, values)

    monkeypatch.setattr(job, "_judged", spied)
    setting = Arm("x", "proposed", train_on="others").learning_with(**QUICK)
    result = job.train_and_judge(job_values(config, setting, 0))
    assert [test for _, test in seen] == [{"1"}, {"2"}] and all(not train & test for train, test in seen)
    assert set(result["recall"]["tasks"]) == {"1", "2"}


def test_tuning_is_recorded_and_used(folder, tmp_path):
    config = ExperimentConfig(
        str(folder), tmp_path, runs=1, train_videos_per_task=2, learning={"initial_epochs": 1, "epochs": 1}, tune=True
    )
    summary = experiment_named("no-narration")(config).summary
    tried = summary["tuning"]["proposed, windows"][0]
    assert len(tried["tried"]) == 6 and tried["chosen"].items() <= max(tried["tried"], key=lambda t: t["recall"]).items()
    used = json.loads((tmp_path / "jobs" / "proposed--windows-000.json").read_text())["values"]["learning"]
    assert tried["chosen"].items() <= used.items()


def test_synthetic_corpora_are_tuned_on_the_mean_of_several_seeds(tmp_path, monkeypatch):
    recalls = {
        1000: [0.5, 0.3, 0.2, 0.1],
        1001: [0.1, 0.3, 0.2, 0.1],
        1002: [0.1, 0.3, 0.2, 0.1],
    }  # the best of the first corpus is chance

    def judged(self, what, jobs):
        ridges = [grid["ridge"] for grid in GRIDS["alayrac16"]]
        return [{"recall": {"mean": recalls[j.values["seed"]][ridges.index(j.values["learning"]["ridge"])]}} for j in jobs]

    monkeypatch.setattr(runner, "open_without_features", lambda corpus: SimpleNamespace(validation={"some"}))
    monkeypatch.setattr(ExperimentConfig, "do", judged)
    chosen, record = tune(ExperimentConfig("synthetic:demo:clear:0:8", tmp_path, runs=4, tune=True), [Arm("a", "alayrac16")])
    assert [[s.learning["ridge"] for s in of_runs] for of_runs in chosen] == [[0.1] * 4]
    assert record["a"][0]["tried"][0] == {"ridge": 0.01, "recall": pytest.approx(0.7 / 3)}


def test_synthetic_runs_have_their_own_corpora_and_others_for_tuning():
    name = "synthetic:demo:clear:7:32"
    corpora = [corpus_of_run(name, run) for run in range(3)]
    assert len(set(corpora)) == 3 and not set(corpora_for_tuning(name)) & set(corpora)


@pytest.mark.parametrize(
    "bad", ["synthetic:demo", "synthetic:demo:clear:x:3", "synthetic:demo:clear:1:0", "planted:demo:clear:1:8"]
)
def test_bad_synthetic_names_are_refused(bad):
    with pytest.raises(InputError, match=r"expected synthetic:SHAPE:DIFFICULTY:SEED:D, e\.g\. synthetic:paper:default:0:512"):
        open_once(bad)


def test_an_unknown_name_lists_the_names(config):
    with pytest.raises(InputError, match="cross-task, sharing, transfer"):
        experiment_named("guess")


def test_too_many_training_videos_leave_nothing_to_judge(config):
    values = job_values(config, Arm("x", "uniform"), 0) | {"train_videos_per_task": 99}
    with pytest.raises(InputError, match="no annotated video is left to judge"):
        job.train_and_judge(values)


def test_the_optimiser_question_on_features_and_on_order_alone(config, tmp_path):
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


def test_the_narration_question_needs_subtitles(config):
    with pytest.raises(InputError, match="narration needs both"):
        experiment_named("narration")(config)


@pytest.mark.slow
def test_the_narration_experiment_on_synthetic_speech(tmp_path, monkeypatch):
    monkeypatch.setattr("crosstask.experiments.narration.find_spec", lambda name: None)  # words alone: quick
    summary = experiment_named("narration")(ExperimentConfig("synthetic:demo:clear:0:8", tmp_path)).summary
    assert {"tfidf, paper", "tfidf, best"} == set(summary["results"])
    assert all(0 < of["precision"] < 1 for of in summary["results"].values())


def test_depth_goes_through_the_same_jobs(config):
    pytest.importorskip("torch")
    summary = experiment_named("depth")(config).summary
    assert set(summary["results"]) == {"linear", "one hidden layer", "two hidden layers"}
