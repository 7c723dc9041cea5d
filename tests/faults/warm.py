"""A process that has everything loaded and compiled, and runs verbs in copies of itself: a run costs its work alone, so a kill hits the work.

Reads a JSON line `{"argv", "after_s", "fault"}`; runs the verb in a forked child, perhaps on a failing disk, and sends it SIGKILL after so many
seconds (null: never). Answers with a line `{"code", "seconds", "said", "calls"}`; the code is null for a child that was killed.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

from faults.failing import Fault

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")


def write_often():
    """Make every piece of work a safe point, so that going on in the middle is what gets tested."""
    from itertools import count

    from crosstask.features import pack
    from crosstask.methods import checkpoint, round_checkpoint

    pack._FLUSH_EVERY_BYTES = 500
    clock = count(10**9, 100)
    checkpoint.monotonic = round_checkpoint.monotonic = lambda: float(next(clock))


def run_verb(argv):
    """Run a verb in this process; its exit code."""
    from crosstask.cli.main import run

    sys.argv = ["crosstask", *argv]
    try:
        run()
    except SystemExit as stopped:
        return int(stopped.code or 0)
    return 0


def in_child(argv, after_s, fault):
    with tempfile.TemporaryFile("w+") as said, tempfile.TemporaryFile("w+") as counted:
        begun = time.perf_counter()
        child = os.fork()
        if child == 0:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
            os.dup2(said.fileno(), 1)
            os.dup2(said.fileno(), 2)
            code, disk = 70, Fault(*fault) if fault else None
            try:
                if disk:
                    disk.install()
                code = run_verb(argv)
            except BaseException:
                import traceback

                traceback.print_exc()
            sys.stdout.flush()
            sys.stderr.flush()
            os.write(counted.fileno(), str(disk.calls if disk else 0).encode())
            os._exit(code)
        if after_s is None:
            signal.sigwait([signal.SIGCHLD])
        elif signal.sigtimedwait([signal.SIGCHLD], after_s) is None:
            os.kill(child, signal.SIGKILL)
            signal.sigwait([signal.SIGCHLD])
        _, status = os.waitpid(child, 0)
        seconds = time.perf_counter() - begun
        said.seek(0)
        counted.seek(0)
        code = None if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        return {"code": code, "seconds": seconds, "said": said.read(), "calls": int(counted.read() or 0)}


def serve():
    """Answer until the input ends."""
    write_often()
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
    for line in sys.stdin:
        asked = json.loads(line)
        if asked.get("here"):  # load and compile, once, before the first copy is made
            with Path(os.devnull).open("w") as nowhere:
                out, err, sys.stdout, sys.stderr = sys.stdout, sys.stderr, nowhere, nowhere
                try:
                    answer = {"code": run_verb(asked["argv"])}
                finally:
                    sys.stdout, sys.stderr = out, err
        else:
            answer = in_child(asked["argv"], asked["after_s"], asked["fault"])
        print(json.dumps(answer), flush=True)


class Warm:
    """The other end: asks the warm process."""

    def __init__(self, process):
        self.process = process

    def _ask(self, question):
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def load(self, argv):
        """Run a verb there once, so that what it needs is loaded."""
        assert self._ask({"argv": [str(a) for a in argv], "here": True})["code"] == 0, argv

    def run(self, argv, after_s=None, fault=None):
        """What became of the verb; a fault is (operation, n-th call, errno)."""
        return self._ask({"argv": [str(a) for a in argv], "after_s": after_s, "fault": fault})


@contextmanager
def warm_process():
    """A warm process of our own."""
    tests = str(Path(__file__).parent.parent)
    path = os.pathsep.join([tests, *filter(None, [os.environ.get("PYTHONPATH")])])
    env = {**os.environ, **ONE_THREAD, "PYTHONPATH": path, "MPLBACKEND": "Agg"}
    command = [sys.executable, "-m", "faults.warm"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env) as process:
        try:
            yield Warm(process)
        finally:
            process.stdin.close()
            process.wait(30)


if __name__ == "__main__":
    serve()
