"""The viewer's server under concurrent requests: it answers, without leaking files or memory."""

import os
import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from faults.figures import record

SECONDS = float(os.environ.get("CROSSTASK_LOAD_SECONDS", "4"))
CLIENTS = 4
PATIENCE_S = 120
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs Linux")]


def open_files(pid):
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def resident_mb(pid):
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon")) / 1024


STATUS = {"api/run": 200, "api/videos": 200, "api/video?task=1&video=-v1_0": 200, "": 200, "api/video?task=1&video=nothing": 404}


def send_requests(address, until):
    """Latencies in seconds, and the number of wrong answers, of one client that sends requests without pauses, each at least once."""
    import httpx

    requests = list(STATUS)
    seconds, wrong = [], 0
    with httpx.Client(base_url=address, timeout=600) as client:
        while time.monotonic() < until or len(seconds) < len(requests):
            request = requests[len(seconds) % len(requests)]
            begun = time.perf_counter()
            status = client.get(request).status_code
            seconds.append(time.perf_counter() - begun)
            wrong += status != STATUS[request]
    return seconds, wrong


def settled_files(pid, before):
    """Open files once the server has closed the connections of the clients that left."""
    until = time.monotonic() + PATIENCE_S
    while open_files(pid) > before + 2 and time.monotonic() < until:
        time.sleep(0.1)
    return open_files(pid)


def warm_up(pid, address):
    """Open files and memory in MB after warming up: some modules are loaded only after the first page."""
    before = 0.0
    for _ in range(10):
        send_requests(address, time.monotonic() + 3)
        now = resident_mb(pid)
        if now - before < 0.5:
            break
        before = now
    return open_files(pid), now


def test_server_answers_under_load_without_leaks(tmp_path):
    pytest.importorskip("httpx")
    from viewer.viewed import write_viewed_run

    run = write_viewed_run(tmp_path / "run")
    command = [sys.executable, "-m", "crosstask.cli.main", "view", str(run), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            address = server.stdout.readline().strip()
            files, memory = warm_up(server.pid, address)
            with ThreadPoolExecutor(CLIENTS) as pool:
                answers = list(pool.map(lambda _: send_requests(address, time.monotonic() + SECONDS), range(CLIENTS)))
            files_after, memory_after = settled_files(server.pid, files), resident_mb(server.pid)
        finally:
            server.terminate()
    latencies = sorted(second for seconds, _ in answers for second in seconds)
    figures = {
        "clients": CLIENTS,
        "seconds": SECONDS,
        "answers": len(latencies),
        "answers_a_second": round(len(latencies) / SECONDS, 1),
        "median_ms": round(1000 * latencies[len(latencies) // 2], 2),
        "p99_ms": round(1000 * latencies[int(0.99 * len(latencies))], 2),
        "open_files": [files, files_after],
        "anonymous_mb": [round(memory, 1), round(memory_after, 1)],
    }
    record("viewer under load", figures)
    assert sum(wrong for _, wrong in answers) == 0
    assert files_after <= files + 2, figures
    assert memory_after < memory + 10, figures


@pytest.mark.parametrize("change", ["shorter", "longer", "removed"])
def test_a_video_that_changes_while_it_is_played_is_no_traceback(tmp_path, change):
    from viewer.viewed import write_viewed_run

    film = tmp_path / "film.mp4"
    film.write_bytes(bytes(64 << 20))  # more than sockets buffer
    run = write_viewed_run(tmp_path / "run", media={"-v1_0": str(film)})
    command = [sys.executable, "-m", "crosstask.cli.main", "view", str(run), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        try:
            port = int(server.stdout.readline().strip().rstrip("/").rsplit(":", 1)[1])
            with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S) as player:
                request = f"GET /media?task=1&video=-v1_0 HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n"
                player.sendall(request.encode())
                received = 0
                while received < 1 << 20:  # the file is open
                    received += len(player.recv(1 << 16))
                if change == "removed":
                    film.unlink()  # the open file stays readable
                else:
                    os.truncate(film, {"shorter": 1000, "longer": 65 << 20}[change])
                while part := player.recv(1 << 20):
                    received += len(part)
            assert (received < 64 << 20) == (change == "shorter")
        finally:
            server.terminate()
        logged = server.stderr.read()
    assert "Traceback" not in logged
    assert ("film.mp4 changed while it was played" in logged) == (change == "shorter")
