"""What a run learns from people: the labels in its folder, annotations of the corpus where asked for, and videos judged irrelevant."""

import shutil
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from crosstask.model.training import annotated_labels
from crosstask.records import Corpus, StepLabel, Video, VideoKey
from crosstask.runs import LabelStore
from crosstask.runs.relevance import IRRELEVANT, read_relevance

BEFORE = "before_learning"  # in the run folder: the files that the last accepted proposal replaced (`relearning.py`)


def with_run_labels(corpus: Corpus, out: Path, use_annotations: Iterable[str] | str | None = None) -> Corpus:
    """The corpus with hard labels: those in the run folder, then, for steps without one, the annotations of the videos that are named."""
    in_corpus = {video.key for video in corpus.videos}
    in_run = {key: labels for key, labels in LabelStore(out, corpus.tasks).step_labels().items() if key in in_corpus}
    annotated = annotated_labels(corpus, use_annotations)
    return replace(
        corpus,
        labels={**corpus.labels, **{key: merged(annotated.get(key, ()), in_run.get(key, ())) for key in {**annotated, **in_run}}},
    )


def merged(labels: Iterable[StepLabel], first: Iterable[StepLabel]) -> tuple[StepLabel, ...]:
    """Labels of the steps of one video, at most one a step; those of `first` take precedence.

    >>> [label.kind for label in merged([StepLabel(0), StepLabel(1)], [StepLabel(1, moment_s=3.0)])]
    ['not shown', 'moment']
    """
    by_step = {label.step: label for label in labels} | {label.step: label for label in first}
    return tuple(by_step[step] for step in sorted(by_step))


def relevant_videos(videos: Iterable[Video], out: Path) -> list[Video]:
    """The videos without those that a person judged irrelevant in a run folder."""
    irrelevant = {key for key, relevance in read_relevance(out).items() if relevance == IRRELEVANT}
    return [video for video in videos if video.key not in irrelevant]


def remove_learning_backup(out: Path) -> None:
    """Remove the files that `undo_learning` would restore: a new run replaces them."""
    shutil.rmtree(out / BEFORE, ignore_errors=True)


def labels_of(corpus: Corpus, videos: Iterable[Video]) -> dict[VideoKey, tuple[StepLabel, ...]]:
    """The labels of some videos of a corpus."""
    return {video.key: corpus.labels[video.key] for video in videos if video.key in corpus.labels}
