"""Jobs whose results are files, so that interrupted work resumes where it stopped.

A job is a name and JSON values. Its result is a JSON file, written atomically together with the values it was computed from; a result of
other values is computed again. The worker process writes the file, so finished results survive the death of the main process.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from errno import ENOENT
from multiprocessing import active_children, get_context, parent_process
from pathlib import Path
from signal import SIG_IGN, SIGINT, signal
from threading import Thread, current_thread, main_thread
from typing import Any

from crosstask.storage import raise_if_disk_failed, read_text, write_text

Values = Mapping[str, Any]
Work = Callable[[Values], Any]  # an importable function from JSON values to JSON values
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


@dataclass(frozen=True)
class Job:
    """One call: a name that is valid in a file name, the JSON values of the call, and the expensive resource it opens, if any.

    Consecutive jobs with the same `resource` are run by the same process, so that the resource is opened once.
    """

    name: str
    values: Values
    resource: str = ""


def result_path(folder: Path, job: Job) -> Path:
    """Path of the result of a job."""
    return folder / f"{job.name}.json"


def finished_result(folder: Path, job: Job) -> Any | None:
    """The result of a job that was finished with the same values, or None."""
    try:
        stored = json.loads(read_text(result_path(folder, job), "utf-8"))
    except OSError as error:
        raise_if_disk_failed(error)
        return None
    except (ValueError, RecursionError):
        return None
    same = isinstance(stored, dict) and "result" in stored and stored.get("values") == json.loads(json.dumps(dict(job.values)))
    return stored["result"] if same else None


def run_job(work: Work, job: Job, folder: Path) -> str:
    """Run one job and write its result; returns its name."""
    result = work(job.values)
    path = result_path(folder, job)
    text = json.dumps({"values": dict(job.values), "result": result}, sort_keys=True, ensure_ascii=False, allow_nan=False)
    write_text(path, text)
    return job.name


def run_jobs(work: Work, jobs: Sequence[Job], folder: Path) -> list[str]:
    """Run jobs in order, except those already finished by a process that died; returns their names."""
    return [job.name if finished_result(folder, job) is not None else run_job(work, job, folder) for job in jobs]


def group_by_resource(jobs: Sequence[Job]) -> list[list[Job]]:
    """Lists of consecutive jobs with the same resource; each list is run by one process.

    >>> [[job.name for job in group] for group in group_by_resource([Job("a", {}, "x"), Job("b", {}, "x"), Job("c", {}), Job("d", {})])]
    [['a', 'b'], ['c'], ['d']]
    """
    groups: list[list[Job]] = []
    for job in jobs:
        if groups and job.resource and groups[-1][-1].resource == job.resource:
            groups[-1].append(job)
        else:
            groups.append([job])
    return groups


def run_all(
    work: Work,
    jobs: Sequence[Job],
    folder: Path,
    engine: str = "local",
    workers: int = 1,
    advance: Callable[[], None] = lambda: None,
    address: str | None = None,
) -> list[Any]:
    """The results of all jobs in order; finished ones are read, the others are run by the engine ('local' or 'ray')."""
    unfinished = []
    for job in jobs:
        if finished_result(folder, job) is None:
            unfinished.append(job)
        else:
            advance()
    for _ in _run(engine, work, unfinished, folder, workers, address):
        advance()
    return [_read(folder, job) for job in jobs]


def _read(folder: Path, job: Job) -> Any:
    result = finished_result(folder, job)
    if result is None:
        raise FileNotFoundError(ENOENT, "removed while the command ran; repeat it", str(folder / f"{job.name}.json"))
    return result


def _run(engine: str, work: Work, jobs: Sequence[Job], folder: Path, workers: int, address: str | None) -> Iterable[str]:
    """The names of jobs as they finish."""
    if not jobs:
        return ()
    if engine == "ray":
        from crosstask.jobs.ray_cluster import run_on_ray

        return run_on_ray(work, jobs, folder, workers, address)
    if workers <= 1:
        return (run_job(work, job, folder) for job in jobs)
    return _in_processes(work, jobs, folder, workers)


def exit_with_parent() -> None:
    """End this process when its parent ends, so that a killed command leaves no workers running."""
    Thread(target=_watch_parent, daemon=True).start()


def _watch_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """A block whose new processes ignore Ctrl-C, which the terminal sends to all: only the main process reports it, and ends them."""
    if current_thread() is not main_thread():
        yield
        return
    before = signal(SIGINT, SIG_IGN)
    try:
        yield
    finally:
        signal(SIGINT, before)


def _in_processes(work: Work, jobs: Sequence[Job], folder: Path, workers: int) -> Iterator[str]:
    """The names of jobs as they finish in spawned processes, each with one computing thread to avoid oversubscribing the cores."""
    before = {name: os.environ.get(name) for name in _THREAD_VARIABLES}
    os.environ.update(dict.fromkeys(_THREAD_VARIABLES, "1"))
    try:
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=exit_with_parent) as pool:
            with _without_interrupts():
                futures = [pool.submit(run_jobs, work, group, folder) for group in group_by_resource(jobs)]
            workers_of_pool = active_children()
            try:
                for done in as_completed(futures):
                    yield from done.result()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                for worker in workers_of_pool:
                    worker.terminate()  # the result of a job is written atomically
                raise
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
