"""A run folder: the results of `run`, `demo` or an experiment, written once and read by the report, the viewer and the exports."""

from crosstask.runs.claim import EXPERIMENT_KIND, claim_run_folder, refuse_place_of_run
from crosstask.runs.corrected import StepCounts, answer_is_right, confirmed, label_of
from crosstask.runs.folder import RunFolder, note_replaced_videos, open_run
from crosstask.runs.label_changes import Change, RunLabel
from crosstask.runs.labels import LABELS_FILE, LabelStore
from crosstask.runs.record import Run, RunVideo, inside, refuse_links_out, refuse_outside, scores_path
from crosstask.runs.writing import write_localizations, write_run

__all__ = [
    "EXPERIMENT_KIND",
    "LABELS_FILE",
    "Change",
    "LabelStore",
    "Run",
    "RunFolder",
    "RunLabel",
    "RunVideo",
    "StepCounts",
    "answer_is_right",
    "claim_run_folder",
    "confirmed",
    "inside",
    "label_of",
    "note_replaced_videos",
    "open_run",
    "refuse_links_out",
    "refuse_outside",
    "refuse_place_of_run",
    "scores_path",
    "write_localizations",
    "write_run",
]
