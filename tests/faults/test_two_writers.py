"""Two processes writing to one place: the second gets a one-line error or waits, and files stay consistent."""

import shutil
import subprocess
import sys
import time

import pytest

from cli.running import crosstask
from faults.verbs import write_corpus

LONG = ["--recipe", "paper", "--initial-epochs", "100000", "--epochs", "1"]
pytestmark = pytest.mark.slow


def start(*arguments):
    return subprocess.Popen(
        [sys.executable, "-m", "crosstask.cli.main", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_second_training_to_one_file_is_an_error(tmp_path):
    corpus, out = write_corpus(tmp_path / "corpus"), tmp_path / "m.safetensors"
    with start("train", corpus, "--out", out, *LONG) as first:
        while not (tmp_path / ".m.safetensors.lock").exists() and first.poll() is None:
            time.sleep(0.05)
        second = crosstask("train", corpus, "--out", out)
        elsewhere = crosstask("train", corpus, "--out", tmp_path / "other.safetensors")
        first.kill()
    assert second.returncode == 2 and "Traceback" not in second.stderr
    (line,) = [line for line in second.stderr.splitlines() if line.startswith("error: ")]
    assert f"process {first.pid} is writing it" in line and not out.exists()
    assert elsewhere.returncode == 0, "another output is not locked"
    if (files := tmp_path / "m.safetensors.checkpoint").exists():  # of another method: reported, and left for the user to remove
        third = crosstask("train", corpus, "--out", out)
        assert third.returncode == 2 and "method = zhukov19, not hmm" in third.stderr
        files.unlink()
    assert crosstask("train", corpus, "--out", out).returncode == 0, "the lock ended with its process"


def test_concurrent_packing_waits(tmp_path):
    corpus = write_corpus(tmp_path / "corpus")
    processes = [start("pack", corpus, "--check") for _ in range(3)]
    output = [process.communicate(timeout=300) for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0], output
    assert sorted(path.name.split("-")[0] for path in (corpus / ".crosstask" / "pack").iterdir()) == ["index.json", "rows"]


def test_viewer_and_two_trainings_on_one_folder(tmp_path):
    from viewer.browser import viewing
    from viewer.viewed import write_viewed_run

    httpx = pytest.importorskip("httpx")
    corpus, run = write_corpus(tmp_path / "corpus"), write_viewed_run(tmp_path / "run")
    with viewing(run) as address:
        trainings = [start("train", corpus, "--out", run / f"m{i}.safetensors") for i in range(2)]
        answers = []
        while any(process.poll() is None for process in trainings):
            answers.append(httpx.get(address + "api/run", timeout=60).status_code)
        ends = [process.communicate()[1] for process in trainings]
    assert [process.returncode for process in trainings] == [0, 0], ends
    assert answers and set(answers) == {200}
    assert (run / "m0.safetensors").read_bytes() == (run / "m1.safetensors").read_bytes()


OWN_NAMESPACE = [
    "unshare",
    "--pid",
    "--fork",
]  # where every process begins with the same process id, as on two hosts or in two containers
WRITER = """
import os, sys
from pathlib import Path
from crosstask.storage import write_bytes
print(os.getpid(), flush=True)
for _ in range(60):
    write_bytes(Path(sys.argv[1]), sys.argv[2].encode() * 200_000)
"""


def _namespaces_work():
    return shutil.which("unshare") is not None and subprocess.run([*OWN_NAMESPACE, "true"], check=False).returncode == 0


@pytest.fixture
def two_hosts():
    if not _namespaces_work():
        pytest.skip("needs unshare and the right to make pid namespaces")

    def start_both(first, second):
        commands = [[*OWN_NAMESPACE, sys.executable, *map(str, arguments)] for arguments in (first, second)]
        return [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for command in commands]

    return start_both


def test_writers_on_two_hosts_never_mix_their_bytes(two_hosts, tmp_path):
    target, seen = tmp_path / "f", set()
    writers = two_hosts(("-c", WRITER, target, "a"), ("-c", WRITER, target, "b"))
    while any(process.poll() is None for process in writers):
        if target.exists():
            seen.add(target.read_bytes())
    output = [process.communicate() for process in writers]
    assert [process.returncode for process in writers] == [0, 0], output
    assert output[0][0] == output[1][0], "both have the same process id"
    assert seen <= {b"a" * 200_000, b"b" * 200_000} and [path.name for path in tmp_path.iterdir()] == ["f"]


def test_packing_on_two_hosts_waits(two_hosts, tmp_path):
    corpus = write_corpus(tmp_path / "corpus")
    pack = ("-m", "crosstask.cli.main", "pack", corpus, "--check")
    processes = two_hosts(pack, pack)
    output = [process.communicate() for process in processes]
    assert [process.returncode for process in processes] == [0, 0], output
    assert sorted(path.name.split("-")[0] for path in (corpus / ".crosstask" / "pack").iterdir()) == ["index.json", "rows"]
