"""A process with all code loaded and compiled that runs verbs in forked children, so that a kill interrupts the work and not the start-up.

Reads a JSON line `{"argv", "kill_after_s", "fault"}`; runs the verb in a forked child, optionally with a simulated disk error, and sends it SIGKILL
after so many seconds (null: never). Answers with a line `{"code", "seconds", "output", "calls", "opened"}`: the code is null for a child that was
killed, `opened` are the files that the child itself opened for writing.
"""

import gc
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from faults.failing import Fault

SINGLE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")


def checkpoint_often():
    """Write a checkpoint after every unit of work, so that resuming is tested."""
    from itertools import count

    from crosstask.features import pack
    from crosstask.methods import hmm_checkpoint, zhukov19_checkpoint

    assert pack._PART_BYTES and hmm_checkpoint.monotonic and zhukov19_checkpoint.monotonic, "names that the code no longer has"
    pack._PART_BYTES = 500
    clock = count(10**9, 100)
    hmm_checkpoint.monotonic = zhukov19_checkpoint.monotonic = lambda: float(next(clock))


def build_commands_once():
    """Keep the command line that Typer builds from the verbs, which takes longer than most verbs on a tiny corpus."""
    import typer.main

    typer.main.get_command = cache(typer.main.get_command)


def run_verb(argv):
    """Run a verb in this process; its exit code."""
    from crosstask.cli.main import run

    sys.argv = ["crosstask", *argv]
    try:
        run()
    except SystemExit as stopped:
        return int(stopped.code or 0)
    return 0


def note_if_written(opened, path, mode, flags):
    """Add the path of a file that is opened for writing to a set."""
    if isinstance(path, str | os.PathLike) and flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
        opened.add(os.path.abspath(path))  # noqa: PTH100 - links are not followed


def run_in_child(argv, kill_after_s, fault):
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as counted:
        begun = time.perf_counter()
        child = os.fork()
        if child == 0:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
            os.dup2(output.fileno(), 1)
            os.dup2(output.fileno(), 2)
            code, disk, opened = 70, Fault(*fault) if fault else None, set()
            write = os.write  # before it fails
            sys.addaudithook(lambda event, about: event == "open" and note_if_written(opened, *about))
            try:
                if disk:
                    disk.install()
                code = run_verb(argv)
            except BaseException:
                import traceback

                traceback.print_exc()
            sys.stdout.flush()
            sys.stderr.flush()
            write(counted.fileno(), json.dumps([disk.calls if disk else 0, sorted(opened)]).encode())
            os._exit(code)
        if kill_after_s is None:
            signal.sigwait([signal.SIGCHLD])
        elif signal.sigtimedwait([signal.SIGCHLD], kill_after_s) is None:
            os.kill(child, signal.SIGKILL)
            signal.sigwait([signal.SIGCHLD])
        _, status = os.waitpid(child, 0)
        seconds = time.perf_counter() - begun
        output.seek(0)
        counted.seek(0)
        code = None if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        calls, opened = json.loads(counted.read() or "[0, []]")
        return {"code": code, "seconds": seconds, "output": output.read(), "calls": calls, "opened": opened}


def serve():
    """Answer requests until the input ends."""
    checkpoint_often()
    build_commands_once()
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
    for line in sys.stdin:
        request = json.loads(line)
        if request.get("here"):  # run in this process, to load and compile before the first fork
            with Path(os.devnull).open("w") as nowhere:
                out, err, sys.stdout, sys.stderr = sys.stdout, sys.stderr, nowhere, nowhere
                try:
                    answer = {"code": run_verb(request["argv"])}
                finally:
                    sys.stdout, sys.stderr = out, err
            gc.collect()
            gc.freeze()  # no collection in a child touches, and so copies, the memory of what is loaded
        else:
            answer = run_in_child(request["argv"], request["kill_after_s"], request["fault"])
        print(json.dumps(answer), flush=True)


class WarmClient:
    """Sends requests to the warm process."""

    def __init__(self, process):
        self.process = process

    def _ask(self, question):
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def load(self, argv):
        """Run a verb in the warm process itself, so that its code is loaded."""
        assert self._ask({"argv": [str(a) for a in argv], "here": True})["code"] == 0, argv

    def run(self, argv, kill_after_s=None, fault=None):
        """The result of a verb run in a child; a fault is (operation, n-th call, errno)."""
        return self._ask({"argv": [str(a) for a in argv], "kill_after_s": kill_after_s, "fault": fault})


@contextmanager
def warm_process():
    """A client of a new warm process."""
    tests = str(Path(__file__).parent.parent)
    path = os.pathsep.join([tests, *filter(None, [os.environ.get("PYTHONPATH")])])
    env = {**os.environ, **SINGLE_THREAD, "PYTHONPATH": path, "MPLBACKEND": "Agg"}
    command = [sys.executable, "-m", "faults.warm"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env) as process:
        try:
            yield WarmClient(process)
        finally:
            process.stdin.close()
            process.wait(30)


if __name__ == "__main__":
    serve()
