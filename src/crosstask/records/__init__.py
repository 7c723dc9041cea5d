"""Frozen data types that every other package uses."""

from crosstask.records.arguments import (
    choice_argument,
    corpus_argument,
    flag_argument,
    list_argument,
    number_argument,
    path_argument,
    text_argument,
    videos_argument,
    whole_argument,
)
from crosstask.records.corpus import Array, Corpus, FeatureRows, NoFeatures, stack_rows
from crosstask.records.feature_sizes import largest_value, unlike_others
from crosstask.records.installation import install_command
from crosstask.records.interval import MAX_VIDEO_S, TOLERATED_OVERSHOOT_S, Interval, StepInterval, segment_at
from crosstask.records.label import StepLabel, labels_from_annotation
from crosstask.records.localization import MACHINE, PERSON, FoundStep, Localization, localization_from_json
from crosstask.records.narration import Cue, Narration, Word
from crosstask.records.problem import InputError, MissingExtra, Problem, at_line
from crosstask.records.progress import Progress, no_progress
from crosstask.records.ranges import Range
from crosstask.records.task import Task, task_from_steps
from crosstask.records.text_side import TextSide
from crosstask.records.video import Video, VideoKey, folded_name, parse_video_key, refuse_escaping_id, refuse_unfit_key

__all__ = [
    "MACHINE",
    "MAX_VIDEO_S",
    "PERSON",
    "TOLERATED_OVERSHOOT_S",
    "Array",
    "Corpus",
    "Cue",
    "FeatureRows",
    "FoundStep",
    "InputError",
    "Interval",
    "Localization",
    "MissingExtra",
    "Narration",
    "NoFeatures",
    "Problem",
    "Progress",
    "Range",
    "StepInterval",
    "StepLabel",
    "Task",
    "TextSide",
    "Video",
    "VideoKey",
    "Word",
    "at_line",
    "choice_argument",
    "corpus_argument",
    "flag_argument",
    "folded_name",
    "install_command",
    "labels_from_annotation",
    "largest_value",
    "list_argument",
    "localization_from_json",
    "no_progress",
    "number_argument",
    "parse_video_key",
    "path_argument",
    "refuse_escaping_id",
    "refuse_unfit_key",
    "segment_at",
    "stack_rows",
    "task_from_steps",
    "text_argument",
    "unlike_others",
    "videos_argument",
    "whole_argument",
]
