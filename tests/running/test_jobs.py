import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from crosstask.running import Job, finished_result, run_all

CALLS = []


def square(values):
    CALLS.append(values["n"])
    return {"square": values["n"] ** 2}


def slow_square(values):
    time.sleep(0.2)
    return {"square": values["n"] ** 2, "pid_is_mine": False}


def fails_on_two(values):
    if values["n"] == 2:
        raise ArithmeticError("two")
    return values["n"]


JOBS = [Job(f"job-{n}", {"n": n}) for n in range(5)]


def test_results_come_in_order_and_are_never_made_twice(tmp_path):
    CALLS.clear()
    assert [r["square"] for r in run_all(square, JOBS, tmp_path)] == [0, 1, 4, 9, 16]
    assert [r["square"] for r in run_all(square, JOBS, tmp_path)] == [0, 1, 4, 9, 16]
    assert CALLS == [0, 1, 2, 3, 4]


def test_other_values_are_another_job(tmp_path):
    run_all(square, JOBS, tmp_path)
    assert run_all(square, [Job("job-3", {"n": 7})], tmp_path) == [{"square": 49}]


def test_a_half_written_result_does_not_count(tmp_path):
    run_all(square, JOBS, tmp_path)
    (tmp_path / "job-1.json").write_text('{"values": {"n": 1}, "resu')
    assert finished_result(tmp_path, JOBS[1]) is None
    assert run_all(square, JOBS, tmp_path)[1] == {"square": 1}


def test_a_failure_keeps_what_was_finished(tmp_path):
    with pytest.raises(ArithmeticError):
        run_all(fails_on_two, JOBS, tmp_path)
    assert finished_result(tmp_path, JOBS[1]) == 1 and finished_result(tmp_path, JOBS[2]) is None


@pytest.mark.slow
def test_processes_and_this_one_leave_the_same_bytes(tmp_path):
    run_all(slow_square, JOBS, tmp_path / "a")
    run_all(slow_square, JOBS, tmp_path / "b", workers=2)
    for job in JOBS:
        assert (tmp_path / "a" / f"{job.name}.json").read_bytes() == (tmp_path / "b" / f"{job.name}.json").read_bytes()


@pytest.mark.slow
def test_killed_anywhere_and_run_again_ends_with_the_same_bytes(tmp_path):
    code = (
        "import sys; sys.path.insert(0, sys.argv[2])\n"
        "from pathlib import Path\nfrom crosstask.running import run_all\nfrom running.test_jobs import JOBS, slow_square\n"
        "run_all(slow_square, JOBS, Path(sys.argv[1]))"
    )
    tests = str(Path(__file__).parent.parent)
    run_all(slow_square, JOBS, tmp_path / "whole")
    for _ in range(3):
        process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "k"), tests])
        time.sleep(0.9)
        process.send_signal(signal.SIGKILL)
        process.wait()
    run_all(slow_square, JOBS, tmp_path / "k")
    for job in JOBS:
        assert (tmp_path / "k" / f"{job.name}.json").read_bytes() == (tmp_path / "whole" / f"{job.name}.json").read_bytes()
        assert json.loads((tmp_path / "k" / f"{job.name}.json").read_text())["values"] == dict(job.values)
