"""The same table from every engine, whoever is killed on the way."""

import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace

import pytest

from crosstask.experiments.registry import experiment_named
from crosstask.experiments.runner import ExperimentConfig
from tiny import write_tiny

QUICK = {"learning_rate": 0.01, "dropout": 0.1, "initial_epochs": 20, "epochs": 20}


@pytest.fixture
def config(tmp_path):
    write_tiny(tmp_path / "corpus", videos_per_task=6)
    return ExperimentConfig(str(tmp_path / "corpus"), tmp_path / "local", runs=3, train_videos_per_task=2, learning=QUICK)


def contents(folder):
    return {p.name: p.read_bytes() for p in sorted(folder.iterdir()) if p.is_file()}


@pytest.mark.slow
def test_processes_give_the_same_table(config, tmp_path):
    experiment_named("no-narration")(config)
    experiment_named("no-narration")(replace(config, out=tmp_path / "processes", workers=2))
    assert contents(tmp_path / "processes") == contents(config.out)


@pytest.mark.slow
def test_a_killed_command_goes_on_to_the_same_table(config, tmp_path):
    experiment_named("no-narration")(config)
    command = [sys.executable, "-m", "crosstask.cli.main", "experiment", "no-narration", config.corpus, "--runs", "3"]
    command += ["--train-videos", "2", "--learning-rate", "0.01", "--dropout", "0.1", "--initial-epochs", "20", "--epochs", "20"]
    command += ["--out", str(tmp_path / "killed")]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    jobs = tmp_path / "killed" / "jobs"
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None and len(list(jobs.glob("*.json"))) < 4:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0
    ended = contents(tmp_path / "killed")
    assert b"no-narration" in ended.pop("report.html")  # the verb's own; everything else is the question's
    assert ended == contents(config.out)


def _kill_a_worker(jobs, killed):
    """Once some jobs are done, kill a process of the cluster that is at work on one."""
    import psutil

    me = os.getpid()
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline:
        if len(list(jobs.glob("*.json"))) >= 2:
            for process in psutil.Process(me).children(recursive=True):
                try:
                    if " ".join(process.cmdline()).startswith("ray::do_job"):  # not the cluster's own processes
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
    out, killed = tmp_path / "ray", []
    hunter = threading.Thread(target=_kill_a_worker, args=(out / "jobs", killed))
    hunter.start()
    experiment_named("no-narration")(replace(slow, out=out, engine="ray", workers=2))
    hunter.join()
    assert killed, "no worker was caught at work"
    assert contents(out) == contents(config.out)
