"""Jobs whose results are files: what is finished is never done again, whoever was killed in between.

A job is a name and plain values. Its result is a JSON file that appears whole, together with the values it was made from; a file made from other values
is made anew. The worker itself writes it, so that losing the process that asked loses nothing.
"""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread
from typing import Any

from crosstask.storage import write_text

Values = Mapping[str, Any]
Work = Callable[[Values], Any]  # an importable function from plain values to plain values
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


@dataclass(frozen=True)
class Job:
    """One call: a name that can be a file name, the plain values it is called with, and what it opens, if that is dear.

    Jobs in a row with the same `opens` are done by one process after another: what the first opened the others have at hand.
    """

    name: str
    values: Values
    opens: str = ""


def result_path(folder: Path, job: Job) -> Path:
    """Where the result of a job lies."""
    return folder / f"{job.name}.json"


def finished_result(folder: Path, job: Job) -> Any | None:
    """The result of a job that was finished with the same values, or None."""
    try:
        kept = json.loads(result_path(folder, job).read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    same = isinstance(kept, dict) and "result" in kept and kept.get("values") == json.loads(json.dumps(dict(job.values)))
    return kept["result"] if same else None


def run_job(work: Work, job: Job, folder: Path) -> str:
    """Do one job and keep its result; its name."""
    result = work(job.values)
    path = result_path(folder, job)
    text = json.dumps({"values": dict(job.values), "result": result}, sort_keys=True, ensure_ascii=False, allow_nan=False)
    write_text(path, text)
    return job.name


def run_jobs(work: Work, jobs: Sequence[Job], folder: Path) -> list[str]:
    """Do jobs one after another, but for those a lost process had finished; their names."""
    return [job.name if finished_result(folder, job) is not None else run_job(work, job, folder) for job in jobs]


def group_by_resource(jobs: Sequence[Job]) -> list[list[Job]]:
    """Jobs that go to one process together.

    >>> [[job.name for job in together] for together in group_by_resource([Job("a", {}, "x"), Job("b", {}, "x"), Job("c", {}), Job("d", {})])]
    [['a', 'b'], ['c'], ['d']]
    """
    companies: list[list[Job]] = []
    for job in jobs:
        if companies and job.opens and companies[-1][-1].opens == job.opens:
            companies[-1].append(job)
        else:
            companies.append([job])
    return companies


def run_all(
    work: Work,
    jobs: Sequence[Job],
    folder: Path,
    engine: str = "local",
    workers: int = 1,
    advance: Callable[[], None] = lambda: None,
    address: str | None = None,
) -> list[Any]:
    """The results of all jobs in their order; finished ones are read, the others done by the engine."""
    open_jobs = []
    for job in jobs:
        if finished_result(folder, job) is None:
            open_jobs.append(job)
        else:
            advance()
    for _ in _engine(engine, work, open_jobs, folder, workers, address):
        advance()
    return [_read(folder, job) for job in jobs]


def _read(folder: Path, job: Job) -> Any:
    result = finished_result(folder, job)
    if result is None:
        raise RuntimeError(f"job {job.name} left no result")
    return result


def _engine(name: str, work: Work, jobs: Sequence[Job], folder: Path, workers: int, address: str | None) -> Iterable[str]:
    if not jobs:
        return ()
    if name == "ray":
        from crosstask.jobs.ray_cluster import run_on_ray

        return run_on_ray(work, jobs, folder, workers, address)
    if workers <= 1:
        return (run_job(work, job, folder) for job in jobs)
    return _in_processes(work, jobs, folder, workers)


def exit_with_parent() -> None:
    """End this process as soon as the one that started it is gone: nobody waits for its work, and a killed command leaves nothing running."""
    Thread(target=_watch_parent, daemon=True).start()


def _watch_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _in_processes(work: Work, jobs: Sequence[Job], folder: Path, workers: int) -> Iterator[str]:
    """Fresh processes with one computing thread each, so that they do not fight over the cores."""
    before = {name: os.environ.get(name) for name in _THREAD_VARIABLES}
    os.environ.update(dict.fromkeys(_THREAD_VARIABLES, "1"))
    try:
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=exit_with_parent) as pool:
            waiting = [pool.submit(run_jobs, work, together, folder) for together in group_by_resource(jobs)]
            try:
                for done in as_completed(waiting):
                    yield from done.result()
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
