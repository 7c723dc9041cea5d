import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import pytest

from crosstask.storage import exclusive_after_waiting, exclusive_or_refused

HOLD = (
    "import sys, time\nfrom pathlib import Path\nfrom crosstask.storage import exclusive_or_refused\n"
    "with exclusive_or_refused(Path(sys.argv[1])):\n    print('mine', flush=True); time.sleep(60)"
)


@contextmanager
def held_by_another(path):
    with subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "mine\n"
        yield process
        process.kill()


def test_the_second_is_told_whom_to_wait_for(tmp_path):
    with held_by_another(tmp_path / "a") as other:
        with (
            pytest.raises(BlockingIOError, match=f"process {other.pid} is writing it") as caught,
            exclusive_or_refused(tmp_path / "a"),
        ):
            pass
        assert caught.value.filename == str(tmp_path / "a")
        with exclusive_or_refused(tmp_path / "b"):
            pass


def test_a_lock_ends_with_its_process_however_that_ends(tmp_path):
    with held_by_another(tmp_path / "a") as other:
        other.kill()
        other.wait()
        assert (tmp_path / ".a.lock").exists()
        with exclusive_or_refused(tmp_path / "a"):
            pass
    assert list(tmp_path.iterdir()) == []


def test_one_that_waits_says_so_once_and_goes_on(tmp_path):
    told, order = [], []

    def wait():
        with exclusive_after_waiting(tmp_path / "a", told.append):
            order.append("second")

    with exclusive_or_refused(tmp_path / "a"):
        thread = threading.Thread(target=wait)
        thread.start()
        time.sleep(0.3)
        order.append("first")
    thread.join(10)
    assert order == ["first", "second"] and len(told) == 1


def test_many_that_come_and_go_are_never_together(tmp_path):
    inside, most = [], []

    def work():
        for _ in range(40):
            with exclusive_after_waiting(tmp_path / "a", lambda owner: None):
                inside.append(1)
                most.append(len(inside))
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(most) == 160 and max(most) == 1 and list(tmp_path.iterdir()) == []
