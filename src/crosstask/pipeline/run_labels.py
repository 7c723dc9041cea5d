"""What a run learns from people: the labels in its folder, annotations of the corpus where asked for, and videos judged irrelevant."""

import logging
import shutil
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from crosstask.datasets import write_step_intervals
from crosstask.model.training import annotated_labels
from crosstask.pipeline.media import contents_of, media_of
from crosstask.records import Corpus, StepLabel, Video, VideoKey
from crosstask.runs import LabelStore, RunLabel, known_contents, open_run, remove_labels_of_replaced
from crosstask.runs.relevance import IRRELEVANT, change_relevance, read_relevance
from crosstask.viewer.annotations import AnnotationStore

log = logging.getLogger(__name__)
_NAMED = 5  # videos that a warning lists
BEFORE = "before_learning"  # in the run folder: the files that the last accepted proposal replaced (`relearning.py`)


def with_run_labels(corpus: Corpus, out: Path, use_annotations: Iterable[str] | str | None = None) -> Corpus:
    """The corpus with hard labels: those in the run folder, then, for steps without one, the annotations of the videos that are named."""
    in_corpus = {video.key: video for video in corpus.videos}
    remove_labels_of_replaced(out, contents_of(corpus))
    followed = follow_renamed_videos(corpus, out)
    store = LabelStore(out, corpus.tasks)
    if unused := store.without_step():
        log.warning(
            "%d labels are kept but not used, as their task or step is gone or has another name: %s",
            len(unused),
            ", ".join(unused[:_NAMED]),
        )
    given = store.step_labels()
    if absent := sorted(str(key) for key in given if key not in in_corpus and key not in followed):
        log.warning("labels of %d videos that the corpus does not have are not used: %s", len(absent), ", ".join(absent[:_NAMED]))
    inside = {key: _inside(corpus, in_corpus[key], labels) for key, labels in given.items() if key in in_corpus}
    in_run = {key: labels for key, labels in inside.items() if labels}
    annotated = annotated_labels(corpus, use_annotations)
    return replace(
        corpus,
        labels={**corpus.labels, **{key: merged(annotated.get(key, ()), in_run.get(key, ())) for key in {**annotated, **in_run}}},
    )


def follow_renamed_videos(corpus: Corpus, out: Path) -> set[VideoKey]:
    """Copy what people said of NAME to TASK-NAME, the id that a video has while another task has a video of its name, and back.

    The later word holds, where both ids have one. Returns the former keys of the videos.
    """
    renamed = _renamed_videos(corpus, out)
    store = LabelStore(out, corpus.tasks)
    for key, before in sorted(renamed.items()):
        labels, changes = store.labels(), store.changes()
        said = {
            name: max((c.id for c in changes if c.key == name), default=0 if name in labels else -1) for name in (key, before)
        }
        if said[before] > said[key] and (before in labels or key in labels):
            gone = [
                RunLabel(step, one.name, None) for step, one in labels.get(key, {}).items() if step not in labels.get(before, {})
            ]
            store.append(key, [*gone, *labels.get(before, {}).values()], f"labels of {before}")
    judged = {before: key for key, before in renamed.items() if before in read_relevance(out)}
    if judged:
        change_relevance(out, lambda videos: {judged.get(key, key): relevance for key, relevance in videos.items()})
    return set(renamed.values())


def _renamed_videos(corpus: Corpus, out: Path) -> dict[VideoKey, VideoKey]:
    """Key now -> key in an earlier run, of videos that another task's video of the same name has renamed; known by their content, where it is known."""
    present, then, now = {video.key for video in corpus.videos}, known_contents(out), contents_of(corpus)
    renamed = {}
    for key, path in media_of(corpus).items():
        for former in (path.stem, f"{key.task}-{path.stem}"):
            before = VideoKey(key.task, former)
            unknown = key not in now or before not in then
            if before not in present and (former == path.stem if unknown else then[before] == now[key]):
                renamed[key] = before
    return renamed


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
