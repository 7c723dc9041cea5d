"""The same table from every engine, also when a process is killed; and tuning."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from crosstask.experiments import corpora, runner
from crosstask.experiments.arms import Arm
from crosstask.experiments.installation import installation
from crosstask.experiments.registry import experiment_named
from crosstask.experiments.runner import TUNING_GRIDS, ExperimentConfig, on_edge, tune
from crosstask.records import InputError
from tiny import write_tiny

QUICK = {"learning_rate": 0.01, "dropout": 0.1, "initial_epochs": 20, "epochs": 20}


@pytest.fixture
def config(tmp_path):
    write_tiny(tmp_path / "corpus", videos_per_task=6)
    return ExperimentConfig(str(tmp_path / "corpus"), tmp_path / "local", runs=3, train_videos_per_task=2, learning=QUICK)


def contents(folder):
    return {p.name: p.read_bytes() for p in sorted(folder.iterdir()) if p.is_file()}


@pytest.mark.parametrize("changed", ["annotations", "features", "windows", "tasks"])
def test_results_of_a_corpus_that_was_changed_since_are_not_used_again(config, tmp_path, changed):
    folder = tmp_path / "corpus"
    quick = replace(config, runs=1, methods=("uniform",))
    experiment_named("cross-task")(quick)
    before = (job := quick.out / "jobs" / "uniform-000.json").read_bytes()
    _forget_the_corpus()
    experiment_named("cross-task")(quick)
    assert job.read_bytes() == before
    if changed == "features":
        rows = np.load(path := folder / "crosstask_features" / "-v1_1.npy")
        np.save(path, rows[::-1])
    elif changed == "tasks":
        path = folder / "crosstask_release" / "tasks_primary.txt"
        path.write_text(path.read_text().replace("stir coffee", "stir tea"))
    else:
        path = (
            folder / {"annotations": "crosstask_release/annotations", "windows": "crosstask_constraints"}[changed] / "1_-v1_1.csv"
        )
        path.write_text("1,0.0,1.5\n")
    _forget_the_corpus()
    experiment_named("cross-task")(quick)
    assert job.read_bytes() != before


@pytest.mark.parametrize("changed", [{"version": "0.0"}, {"step_name_encoder": "sentence-another"}])
def test_results_of_another_version_or_encoder_are_not_used_again(config, changed, monkeypatch):
    quick = replace(config, runs=1, methods=("uniform",))
    experiment_named("cross-task")(quick)
    before = (job := quick.out / "jobs" / "uniform-000.json").read_bytes()
    monkeypatch.setattr(runner, "installation", lambda: installation() | changed)
    with pytest.raises(InputError, match=r"begun with .* and this process has"):
        experiment_named("cross-task")(quick)
    monkeypatch.setattr("crosstask.experiments.installation.installation", lambda: installation() | changed)
    experiment_named("cross-task")(quick)
    assert job.read_bytes() != before


def test_videos_that_cannot_be_evaluated_are_named_and_counted(config, tmp_path, caplog):
    corpus = tmp_path / "corpus"
    (corpus / "crosstask_release" / "annotations" / "1_-v1_1.csv").write_text("nonsense\n")
    (corpus / "crosstask_release" / "video_seconds.csv").unlink()
    (corpus / "crosstask_features" / "-v1_2.npy").unlink()
    _forget_the_corpus()
    experiment_named("cross-task")(replace(config, runs=6, methods=("uniform", "random"), train_videos_per_task=1))
    named = [record.getMessage() for record in caplog.records if record.getMessage().startswith("skipped: ")]
    assert len(named) == 2
    assert "1_-v1_1.csv, line 1: found 'nonsense'" in named[0] and "1_-v1_2: length unknown" in named[1]
    of_uniform = json.loads((config.out / "results.json").read_text())["results"]["uniform"]
    assert of_uniform["skipped"] > 0
    assert sum(of_uniform["videos"]) + of_uniform["skipped"] == 6 * (4 + 5)


def test_an_experiment_that_can_evaluate_no_video_is_an_error_and_not_a_recall_of_zero(config, tmp_path):
    for path in (tmp_path / "corpus" / "crosstask_release" / "annotations").iterdir():
        path.write_text("nonsense\n")
    _forget_the_corpus()
    with pytest.raises(InputError, match=r"no video could be evaluated; the first: .*found 'nonsense'"):
        experiment_named("cross-task")(replace(config, runs=1, methods=("uniform",)))


def _forget_the_corpus():
    """As in another process."""
    for cached in (corpora.open_once, corpora.open_without_features, corpora.corpus_digest):
        cached.cache_clear()


@pytest.mark.slow
def test_processes_give_the_same_table(config, tmp_path):
    experiment_named("no-narration")(config)
    experiment_named("no-narration")(replace(config, out=tmp_path / "processes", workers=2))
    assert contents(tmp_path / "processes") == contents(config.out)


@pytest.mark.slow
def test_a_killed_command_resumes_to_the_same_table(config, tmp_path):
    experiment_named("no-narration")(config)
    command = [sys.executable, "-m", "crosstask.cli.main", "experiment", "no-narration", config.corpus, "--runs", "3"]
    command += ["--train-videos", "2", "--learning-rate", "0.01", "--dropout", "0.1", "--initial-epochs", "20", "--epochs", "20"]
    command += ["--out", str(tmp_path / "killed")]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    jobs = tmp_path / "killed" / "jobs"
    while process.poll() is None and len(list(jobs.glob("*.json"))) < 4:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
    ended = contents(tmp_path / "killed")
    assert b"no-narration" in ended.pop("report.html")  # written by the command line only, like the next
    assert b"experiment" in ended.pop(".crosstask-run")
    assert ended == contents(config.out)


def _kill_a_worker(jobs, killed, ended):
    """Once some jobs are done, kill a process of the cluster that is at work on one; gives up when the experiment has ended."""
    import psutil

    me = os.getpid()
    while not ended.is_set():
        if len(list(jobs.glob("*.json"))) >= 2:
            for process in psutil.Process(me).children(recursive=True):
                try:
                    if " ".join(process.cmdline()).startswith("ray::run_jobs"):  # not the cluster's own processes
                        process.kill()
                        killed.append(process.pid)
                        return
                except psutil.Error:
                    continue
        time.sleep(0.002)


@pytest.mark.slow
def test_ray_gives_the_same_table_although_a_worker_is_killed(config, tmp_path):
    pytest.importorskip("ray")
    pytest.importorskip("psutil")  # comes inside ray
    slow = replace(config, learning={**QUICK, "initial_epochs": 1500, "epochs": 1500})
    experiment_named("no-narration")(slow)
    killed: list[int] = []
    for attempt in range(50):  # until a worker was caught at work, however fast or busy the machine is
        out, ended = tmp_path / f"ray {attempt}", threading.Event()
        hunter = threading.Thread(target=_kill_a_worker, args=(out / "jobs", killed, ended))
        hunter.start()
        try:
            experiment_named("no-narration")(replace(slow, out=out, engine="ray", workers=2))
        finally:
            ended.set()
            hunter.join()
        assert contents(out) == contents(config.out)
        if killed:
            return
    raise AssertionError("no worker was caught at work")


def test_tuning_is_recorded_and_used(config, tmp_path):
    tuned = replace(config, out=tmp_path, runs=1, learning={"initial_epochs": 1, "epochs": 1}, tune=True)
    summary = experiment_named("no-narration")(tuned).summary
    tried = summary["tuning"]["zhukov19, windows"][0]
    assert len(tried["tried"]) == 15 and tried["chosen"].items() <= max(tried["tried"], key=lambda t: t["recall"]).items()
    used = json.loads((tmp_path / "jobs" / "zhukov19--windows-000.json").read_text())["values"]["learning"]
    assert tried["chosen"].items() <= used.items()


def test_synthetic_corpora_are_tuned_on_the_mean_of_several_worlds(tmp_path, monkeypatch):
    recalls = {
        1000: [0.0, 0.5, 0.3, 0.2, 0.1],
        1001: [0.0, 0.1, 0.3, 0.2, 0.1],
        1002: [0.0, 0.1, 0.3, 0.2, 0.1],
    }  # the first world's best is luck

    def recorded(self, stage, jobs):
        ridges = [grid["ridge"] for grid in TUNING_GRIDS["alayrac16"]]
        return [{"recall": {"mean": recalls[j.values["seed"]][ridges.index(j.values["learning"]["ridge"])]}} for j in jobs]

    monkeypatch.setattr(runner, "open_without_features", lambda corpus: SimpleNamespace(validation={"some"}))
    monkeypatch.setattr(ExperimentConfig, "run_jobs", recorded)
    chosen, record = tune(ExperimentConfig("synthetic:demo:clear:0:8", tmp_path, runs=4, tune=True), [Arm("a", "alayrac16")])
    assert [[s.learning["ridge"] for s in of_runs] for of_runs in chosen] == [[0.1] * 4]
    assert record["a"][0]["tried"][1] == {"ridge": 0.01, "recall": pytest.approx(0.7 / 3)} and record["a"][0]["edge"] == []


def test_the_grid_has_the_settings_of_the_paper_and_supervised_both_levels_of_sharing():
    assert {"learning_rate": 1e-5, "dropout": 0.7} in TUNING_GRIDS["zhukov19"]
    assert {setting["sharing"] for setting in TUNING_GRIDS["supervised"]} == {"component", "none"}
    assert {"ridge": None} in TUNING_GRIDS["alayrac16"]


def test_a_choice_at_the_end_of_the_grid_is_reported():
    options = [{"learning_rate": rate, "ridge": ridge} for rate, ridge in ((1, None), (2, 0.1), (3, None))]
    assert on_edge(options, 0) == ["learning_rate"] and on_edge(options, 1) == []
