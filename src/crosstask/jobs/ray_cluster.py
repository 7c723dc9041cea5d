"""Jobs as Ray tasks, on an existing cluster (by address) or a local one. Extra: ray."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from crosstask.jobs.pool import Job, Work, group_by_resource, run_jobs

_MAX_RETRIES = 5  # ours: how often a job is given to another worker after its worker died


def run_on_ray(work: Work, jobs: Sequence[Job], folder: Path, workers: int, address: str | None) -> Iterator[str]:
    """The names of jobs as they finish; results are files, so every node needs access to the folder."""
    try:
        import ray
    except ImportError:
        raise ValueError("engine 'ray' needs the extra 'ray': pip install 'crosstask[ray]'") from None
    started = not ray.is_initialized()
    with redirect_stdout(sys.stderr):  # Ray's messages must not mix with our output
        if started:
            _start(ray, workers, address)
        try:
            task = ray.remote(max_retries=_MAX_RETRIES, num_cpus=1)(run_jobs)
            futures = [task.remote(work, group, folder) for group in group_by_resource(jobs)]
            while futures:
                done, futures = ray.wait(futures, num_returns=1)
                yield from ray.get(done[0])
        finally:
            if started:
                ray.shutdown()


def _start(ray: Any, workers: int, address: str | None) -> None:
    if address:
        ray.init(address=address, log_to_driver=False)
    else:
        ray.init(num_cpus=max(1, workers), include_dashboard=False, log_to_driver=False, logging_level="error")
