"""What a run learns from people: the labels in its folder, annotations of the corpus where asked for, and videos judged irrelevant."""

import logging
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from crosstask.datasets import write_step_intervals
from crosstask.model.training import annotated_labels
from crosstask.pipeline.media import contents_of
from crosstask.records import Corpus, StepLabel, Video, VideoKey
from crosstask.runs import LabelStore, note_replaced_videos, open_run
from crosstask.runs.relevance import IRRELEVANT, read_relevance
from crosstask.viewer.annotations import AnnotationStore

log = logging.getLogger(__name__)
_NAMED = 5  # videos that a warning lists
BEFORE = "before_learning"  # in the run folder: the files that the last accepted proposal replaced (`relearning.py`)


def with_run_labels(corpus: Corpus, out: Path, use_annotations: Iterable[str] | str | None = None) -> Corpus:
    """The corpus with hard labels: those in the run folder, then, for steps without one, the annotations of the videos that are named."""
    in_corpus = {video.key: video for video in corpus.videos}
    contents = contents_of(corpus)
    store = LabelStore(out, corpus.tasks, {key: contents.get(key) for key in in_corpus})
    note_replaced_videos(out, store)
    if unused := store.unused():
        log.warning(
            "%d labels are kept but not used, as their task, step or video is gone, or has another name or content: %s",
            len(unused),
            ", ".join(unused[:_NAMED]),
        )
    inside = {key: _inside(corpus, in_corpus[key], labels) for key, labels in store.step_labels().items()}
    in_run = {key: labels for key, labels in inside.items() if labels}
    annotated = annotated_labels(corpus, use_annotations)
    return replace(
        corpus,
        labels={**corpus.labels, **{key: merged(annotated.get(key, ()), in_run.get(key, ())) for key in {**annotated, **in_run}}},
    )


def refresh_annotations(out: Path) -> None:
    """Rewrite the annotation files that the viewer saved in a run folder: their steps have the numbers of an earlier list, or their labels are gone."""
    if (out / "annotations").is_dir():
        AnnotationStore(open_run(out), write_step_intervals).refresh_all()


def _inside(corpus: Corpus, video: Video, labels: tuple[StepLabel, ...]) -> tuple[StepLabel, ...]:
    """The labels that lie in the video; a warning says how many do not, as when it was replaced by a shorter one."""
    if not corpus.knows_length(video):
        return labels
    kept = tuple(label for label in labels if label.fits(corpus.n_segments(video)))
    if n_late := len(labels) - len(kept):
        log.warning(
            "%s: %d labels lie after its end, at %d s, and are not used: was the video replaced?",
            video.key,
            n_late,
            corpus.n_segments(video),
        )
    return kept


def merged(labels: Iterable[StepLabel], first: Iterable[StepLabel]) -> tuple[StepLabel, ...]:
    """Labels of the steps of one video, at most one a step; those of `first` take precedence.

    >>> [label.kind for label in merged([StepLabel(0), StepLabel(1)], [StepLabel(1, moment_s=3.0)])]
    ['not shown', 'moment']
    """
    by_step = {label.step: label for label in labels} | {label.step: label for label in first}
    return tuple(by_step[step] for step in sorted(by_step))


def relevant_videos(videos: Iterable[Video], out: Path, contents: Mapping[VideoKey, str]) -> list[Video]:
    """The videos without those that a person judged irrelevant in a run folder; `contents` are the digests of their files."""
    videos = list(videos)
    judged = read_relevance(out, contents, {video.task for video in videos})
    return [video for video in videos if judged.get(video.key) != IRRELEVANT]


def remove_learning_backup(out: Path) -> None:
    """Remove the files that `undo_learning` would restore: a new run replaces them."""
    shutil.rmtree(out / BEFORE, ignore_errors=True)


def labels_of(corpus: Corpus, videos: Iterable[Video]) -> dict[VideoKey, tuple[StepLabel, ...]]:
    """The labels of some videos of a corpus."""
    return {video.key: corpus.labels[video.key] for video in videos if video.key in corpus.labels}
