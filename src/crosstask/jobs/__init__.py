"""One function over many jobs: here, in processes, on Ray. Knows no videos."""

from crosstask.jobs.pool import Job, finished_result, run_all

__all__ = ["Job", "finished_result", "run_all"]
