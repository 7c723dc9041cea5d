import errno
import os
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

from crosstask.storage import blocking_lock, nonblocking_lock, writing_process

HOLD_LOCK = (
    "import sys, time\nfrom pathlib import Path\nfrom crosstask.storage import nonblocking_lock\n"
    "with nonblocking_lock(Path(sys.argv[1])):\n    print('mine', flush=True); time.sleep(60)"
)


@contextmanager
def locked_by_another_process(path):
    with subprocess.Popen([sys.executable, "-c", HOLD_LOCK, str(path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "mine\n"
        yield process
        process.kill()


def test_second_process_gets_an_error_naming_the_owner(tmp_path):
    with locked_by_another_process(tmp_path / "a") as other:
        with (
            pytest.raises(BlockingIOError, match=f"process {other.pid} is writing it") as caught,
            nonblocking_lock(tmp_path / "a"),
        ):
            pass
        assert caught.value.filename == str(tmp_path / "a")
        with nonblocking_lock(tmp_path / "b"):
            pass


def test_the_process_that_writes_is_known_to_others(tmp_path):
    assert writing_process(tmp_path / "a") is None
    with locked_by_another_process(tmp_path / "a") as other:
        assert writing_process(tmp_path / "a") == str(other.pid)
    assert writing_process(tmp_path / "a") is None, "it was killed and left its lock file"


def test_a_folder_has_one_lock_under_all_its_names(tmp_path, monkeypatch):
    (tmp_path / "a").mkdir()
    (tmp_path / "elsewhere").mkdir()
    link = tmp_path / "elsewhere" / "link"
    link.symlink_to(tmp_path / "a")
    monkeypatch.chdir(tmp_path / "a")
    with locked_by_another_process(tmp_path / "a"):
        for name in (link, Path(), Path("../elsewhere/link/../a")):
            with pytest.raises(BlockingIOError, match="is writing it"), nonblocking_lock(name):
                pass


def test_lock_is_released_when_its_process_is_killed(tmp_path):
    with locked_by_another_process(tmp_path / "a") as other:
        other.kill()
        other.wait()
        assert (tmp_path / ".a.lock").exists()
        with nonblocking_lock(tmp_path / "a"):
            pass
    assert list(tmp_path.iterdir()) == []


def test_blocking_lock_reports_waiting_once(tmp_path):
    owners: list[str] = []
    order = []

    def wait():
        with blocking_lock(tmp_path / "a", owners.append):
            order.append("second")

    with nonblocking_lock(tmp_path / "a"):
        thread = threading.Thread(target=wait)
        thread.start()
        while not owners:  # until it waits
            time.sleep(0.01)
        order.append("first")
    thread.join()
    assert order == ["first", "second"] and len(owners) == 1


def test_blocking_lock_is_exclusive_under_contention(tmp_path):
    inside, most = [], []

    def work():
        for _ in range(40):
            with blocking_lock(tmp_path / "a", lambda owner: None):
                inside.append(1)
                most.append(len(inside))
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(most) == 160 and max(most) == 1 and list(tmp_path.iterdir()) == []


def test_a_lock_that_cannot_be_made_names_what_it_protects(tmp_path, monkeypatch):
    def read_only(path, flags, *mode):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))

    monkeypatch.setattr(os, "open", read_only)
    with pytest.raises(OSError, match="Read-only") as raised, nonblocking_lock(tmp_path / "f"):
        pass
    assert raised.value.filename == str(tmp_path / "f")


@pytest.mark.parametrize("lock", [nonblocking_lock, lambda path: blocking_lock(path, lambda process: None)])
def test_a_full_disk_names_what_the_lock_protects_and_leaves_no_lock_file(tmp_path, monkeypatch, lock):
    def full(descriptor, data, offset):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(OSError, match="No space left") as caught, lock(tmp_path / "labels.jsonl"):
        pass
    assert caught.value.filename == str(tmp_path / "labels.jsonl") and not list(tmp_path.iterdir())
    monkeypatch.undo()
    with lock(tmp_path / "labels.jsonl"):
        pass


@pytest.mark.parametrize("lock", [nonblocking_lock, lambda path: blocking_lock(path, pytest.fail)])
@pytest.mark.parametrize("kind", ["link", "link to nothing", "hard link", "pipe"])
def test_what_lies_in_the_place_of_a_lock_is_neither_followed_nor_written_to(kind, lock, tmp_path):
    (tmp_path / "corpus").mkdir()
    precious, place = tmp_path / "precious", tmp_path / "corpus" / ".out.lock"
    if kind != "link to nothing":
        precious.write_text("precious")
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "hard link":
        os.link(precious, place)
    else:
        place.symlink_to("../precious")
    with lock(tmp_path / "corpus" / "out"):
        assert place.read_text() == f"{os.getpid()}\n" and not place.is_symlink()
    assert not place.exists()
    assert not precious.exists() if kind == "link to nothing" else precious.read_text() == "precious"
