"""The same jobs as Ray tasks: on an existing cluster by address, or one started here. Extra: ray."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from crosstask.jobs.pool import Job, Work, group_by_resource, run_jobs

_ATTEMPTS = 5  # a worker that dies takes its job with it; the job is given to another


def run_on_ray(work: Work, jobs: Sequence[Job], folder: Path, workers: int, address: str | None) -> Iterator[str]:
    """The names of jobs as they finish; results are files, so the folder must be seen by every node."""
    try:
        import ray
    except ImportError:
        raise ValueError("engine 'ray' needs the extra 'ray': pip install 'crosstask[ray]'") from None
    started = not ray.is_initialized()
    with redirect_stdout(sys.stderr):  # what Ray says of a lost worker is no part of our answer
        if started:
            _start(ray, workers, address)
        try:
            task = ray.remote(max_retries=_ATTEMPTS, num_cpus=1)(run_jobs)
            waiting = [task.remote(work, together, folder) for together in group_by_resource(jobs)]
            while waiting:
                done, waiting = ray.wait(waiting, num_returns=1)
                yield from ray.get(done[0])
        finally:
            if started:
                ray.shutdown()


def _start(ray: Any, workers: int, address: str | None) -> None:
    if address:
        ray.init(address=address, log_to_driver=False)
    else:
        ray.init(num_cpus=max(1, workers), include_dashboard=False, log_to_driver=False, logging_level="error")
