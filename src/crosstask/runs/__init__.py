"""A run folder: the results of `run`, `demo` or an experiment, written once and read by the report, the viewer and the exports."""

from crosstask.runs.folder import RunFolder, open_run
from crosstask.runs.record import Run, RunVideo, scores_path
from crosstask.runs.writing import write_run

__all__ = ["Run", "RunFolder", "RunVideo", "open_run", "scores_path", "write_run"]
