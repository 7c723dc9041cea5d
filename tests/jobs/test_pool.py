import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from crosstask.jobs import Job, finished_result, run_all
from crosstask.jobs.pool import run_job, run_jobs

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


def test_results_are_in_order_and_computed_once(tmp_path):
    CALLS.clear()
    assert [r["square"] for r in run_all(square, JOBS, tmp_path)] == [0, 1, 4, 9, 16]
    assert [r["square"] for r in run_all(square, JOBS, tmp_path)] == [0, 1, 4, 9, 16]
    assert CALLS == [0, 1, 2, 3, 4]


def test_other_values_are_computed_again(tmp_path):
    run_all(square, JOBS, tmp_path)
    assert run_all(square, [Job("job-3", {"n": 7})], tmp_path) == [{"square": 49}]


def test_truncated_result_is_computed_again(tmp_path):
    run_all(square, JOBS, tmp_path)
    (tmp_path / "job-1.json").write_text('{"values": {"n": 1}, "resu')
    assert finished_result(tmp_path, JOBS[1]) is None
    assert run_all(square, JOBS, tmp_path)[1] == {"square": 1}


def test_result_on_a_disk_that_fails_is_an_error(tmp_path, monkeypatch):
    """Neither computed again nor reported as missing, with a traceback, by a command that has just written it."""
    run_all(square, JOBS, tmp_path)
    ordinary = os.open

    def failing(path, flags, *arguments):
        if str(path).endswith(".json") and not flags & os.O_CREAT:
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))
        return ordinary(path, flags, *arguments)

    monkeypatch.setattr(os, "open", failing)
    with pytest.raises(OSError, match=r"job-0\.json"):
        run_all(square, JOBS, tmp_path)


def test_a_result_that_is_gone_when_it_is_read_is_one_line(tmp_path):
    """The folder was deleted meanwhile, or another job has the same file name on a disk that does not tell upper from lower case."""

    def work(values):
        return {}

    def remove():
        for path in tmp_path.glob("*.json"):
            path.unlink()

    with pytest.raises(FileNotFoundError, match=r"removed while the command ran.*a\.json"):
        run_all(work, [Job("a", {})], tmp_path, advance=remove)


def test_failure_keeps_finished_results(tmp_path):
    with pytest.raises(ArithmeticError):
        run_all(fails_on_two, JOBS, tmp_path)
    assert finished_result(tmp_path, JOBS[1]) == 1 and finished_result(tmp_path, JOBS[2]) is None


def process_id(values):
    """The process, once both processes take part."""
    Path(values["folder"], f"{os.getpid()}.pid").touch()
    _wait_until(lambda: len(list(Path(values["folder"]).glob("*.pid"))) == 2)
    return os.getpid()


@pytest.mark.slow
def test_jobs_with_one_resource_run_in_one_process(tmp_path):
    jobs = [Job(f"{world}-{n}", {"n": n, "folder": str(tmp_path)}, resource=world) for world in "abcd" for n in range(3)]
    pids = run_all(process_id, jobs, tmp_path, workers=2)
    assert all(len(set(pids[first : first + 3])) == 1 for first in range(0, 12, 3))
    assert len(set(pids)) == 2


def test_results_of_a_dead_process_are_not_computed_again(tmp_path):
    run_job(square, JOBS[1], tmp_path)
    CALLS.clear()
    assert run_jobs(square, JOBS[:3], tmp_path) == ["job-0", "job-1", "job-2"] and CALLS == [0, 2]


@pytest.mark.slow
def test_process_pool_writes_the_same_bytes(tmp_path):
    run_all(slow_square, JOBS, tmp_path / "a")
    run_all(slow_square, JOBS, tmp_path / "b", workers=2)
    for job in JOBS:
        assert (tmp_path / "a" / f"{job.name}.json").read_bytes() == (tmp_path / "b" / f"{job.name}.json").read_bytes()


@pytest.mark.slow
def test_killed_and_resumed_writes_the_same_bytes(tmp_path):
    code = (
        "import sys; sys.path.insert(0, sys.argv[2])\n"
        "from pathlib import Path\nfrom crosstask.jobs import run_all\nfrom jobs.test_pool import JOBS, slow_square\n"
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


def waits_long(values):
    Path(values["folder"], f"{os.getpid()}.pid").touch()
    time.sleep(10_000)


@pytest.mark.slow
def test_workers_end_with_their_parent(tmp_path):
    code = (
        "import sys; sys.path.insert(0, sys.argv[2])\n"
        "from pathlib import Path\nfrom crosstask.jobs import Job, run_all\nfrom jobs.test_pool import waits_long\n"
        "if __name__ == '__main__':\n"
        "    run_all(waits_long, [Job(n, {'folder': sys.argv[1], 'n': n}) for n in 'ab'], Path(sys.argv[1]), workers=2)"
    )
    parent = subprocess.Popen([sys.executable, "-c", code, str(tmp_path), str(Path(__file__).parent.parent)])
    _wait_until(lambda: len(list(tmp_path.glob("*.pid"))) == 2)
    parent.kill()
    parent.wait()
    pids = [int(path.stem) for path in tmp_path.glob("*.pid")]
    _wait_until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids))


@pytest.mark.slow
@pytest.mark.parametrize("when", ["starting", "working"])
def test_ctrl_c_ends_the_workers_without_their_tracebacks(tmp_path, when):
    code = (
        "import sys; sys.path.insert(0, sys.argv[2])\n"
        "from pathlib import Path\nfrom crosstask.jobs import Job, run_all\nfrom jobs.test_pool import waits_long\n"
        "if __name__ == '__main__':\n"
        "    try:\n"
        "        run_all(waits_long, [Job(n, {'folder': sys.argv[1], 'n': n}) for n in 'ab'], Path(sys.argv[1]), workers=2)\n"
        "    except KeyboardInterrupt:\n"
        "        print('interrupted', file=sys.stderr)"
    )
    command = [sys.executable, "-c", code, str(tmp_path), str(Path(__file__).parent.parent)]
    parent = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    children = Path(f"/proc/{parent.pid}/task/{parent.pid}/children")
    if when == "starting":
        _wait_until(lambda: any(map(_is_importing, children.read_text().split())) and not _ignores_interrupts(parent.pid))
    else:
        _wait_until(lambda: len(list(tmp_path.glob("*.pid"))) == 2)
    os.killpg(parent.pid, signal.SIGINT)  # as a terminal does
    _, said = parent.communicate()
    assert said == "interrupted\n"


def _is_importing(pid):
    """True if a worker has begun to load libraries."""
    try:
        return "numpy" in Path(f"/proc/{pid}/maps").read_text()
    except OSError:
        return False


def _ignores_interrupts(pid):
    (mask,) = [line.split()[1] for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("SigIgn:")]
    return bool(int(mask, 16) >> (signal.SIGINT - 1) & 1)


def _wait_until(is_true):
    """Wait until a condition is true, however busy the machine is."""
    while not is_true():
        time.sleep(0.05)
