"""Extraction on a Ray cluster of several nodes on this machine: a worker killed, a node lost, the driver stopped; the same bytes as locally."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from crosstask.extraction.extract_many import extract_videos
from crosstask.extraction.feature_spec import parse_feature_spec

pytest.importorskip("av", reason="extra video is not installed")
pytest.importorskip("ray", reason="extra ray is not installed")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="finds workers through /proc")]
N_VIDEOS, PATIENCE_S = 12, 240


@pytest.fixture(scope="module")
def videos(tmp_path_factory):
    from extraction.media import write_video

    folder = tmp_path_factory.mktemp("videos")
    return {f"v{i:02d}": write_video(folder / f"v{i:02d}.mp4", 40 + i) for i in range(N_VIDEOS)}


@pytest.fixture(scope="module")
def locally(videos, tmp_path_factory):
    folder = tmp_path_factory.mktemp("local")
    extract_videos(videos, parse_feature_spec("light"), folder)
    return features_in(folder)


@pytest.fixture
def cluster():
    """A head without work and two nodes with one worker each: three raylets."""
    from ray.cluster_utils import Cluster

    small = {"object_store_memory": 80 * 2**20, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, **small})
    nodes = [cluster.add_node(num_cpus=1, object_store_memory=80 * 2**20) for _ in range(2)]
    cluster.wait_for_nodes()
    yield cluster, nodes
    cluster.shutdown()


def features_in(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.npy"))}


def start_driver(videos, out: Path, address: str) -> subprocess.Popen:
    command = [sys.executable, "-m", "crosstask.cli.main", "extract", *map(str, videos.values()), "--features", "light"]
    options = ["--out", str(out), "--engine", "ray", "--address", address, "--json"]
    return subprocess.Popen([*command, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(driver: subprocess.Popen, out: Path, count: int) -> int:
    """Wait until so many videos are finished; returns how many are."""
    until = time.monotonic() + PATIENCE_S
    while (finished := len(list((out / ".done").glob("*.json")))) < count:
        assert driver.poll() is None, driver.communicate()
        assert time.monotonic() < until, f"{finished} of {count} videos after {PATIENCE_S} s"
        time.sleep(0.02)
    return finished


def parent_of(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def busy_workers() -> list[int]:
    """Processes below this one that run jobs for Ray."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal():
            continue
        try:
            if not (entry / "cmdline").read_bytes().startswith(b"ray::run_jobs"):
                continue
            ancestor = int(entry.name)
            while ancestor not in (0, 1, os.getpid()):
                ancestor = parent_of(ancestor)
        except (OSError, ValueError):
            continue
        if ancestor == os.getpid():
            found.append(int(entry.name))
    return found


def finish(driver: subprocess.Popen) -> None:
    printed, errors = driver.communicate(timeout=PATIENCE_S)
    assert driver.returncode == 0, errors
    assert '"skipped": {}' in printed


def test_a_killed_worker_and_a_lost_node_change_nothing(videos, locally, cluster, tmp_path):
    running, nodes = cluster
    driver = start_driver(videos, tmp_path, running.address)
    try:
        wait_for(driver, tmp_path, 1)
        until = time.monotonic() + PATIENCE_S
        while not (workers := busy_workers()):
            assert driver.poll() is None and time.monotonic() < until
        os.kill(workers[0], signal.SIGKILL)
        assert wait_for(driver, tmp_path, 3) < N_VIDEOS, "all were finished before a node could be lost; use longer videos"
        running.remove_node(nodes[1], allow_graceful=False)
        finish(driver)
    finally:
        driver.kill()
    assert features_in(tmp_path) == locally


def test_a_driver_that_was_killed_resumes(videos, locally, cluster, tmp_path):
    running, _ = cluster
    driver = start_driver(videos, tmp_path, running.address)
    wait_for(driver, tmp_path, 2)
    driver.kill()
    driver.communicate()
    kept = {
        path.name: path.stat().st_mtime_ns
        for path in tmp_path.glob("*.npy")
        if (tmp_path / ".done" / f"{path.stem}.json").exists()
    }
    assert 2 <= len(kept) < N_VIDEOS
    driver = start_driver(videos, tmp_path, running.address)
    try:
        finish(driver)
    finally:
        driver.kill()
    assert features_in(tmp_path) == locally
    assert all((tmp_path / name).stat().st_mtime_ns == stamp for name, stamp in kept.items()), "finished videos are reused"
