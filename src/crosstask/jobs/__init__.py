"""One function applied to many jobs: in this process, in several processes, or on Ray."""

from crosstask.jobs.pool import Job, finished_result, run_all

__all__ = ["Job", "finished_result", "run_all"]
