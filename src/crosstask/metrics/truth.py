"""Annotation as a matrix of segments and steps, with which predictions are compared."""

import logging

import numpy as np
import numpy.typing as npt

from crosstask.records import TOLERATED_OVERSHOOT_S, Corpus, InputError, Video

log = logging.getLogger(__name__)
Truth = npt.NDArray[np.bool_]


def true_segments(corpus: Corpus, video: Video) -> Truth:
    """(T, K): True where segment t lies in a true interval of step k; starts are rounded down, ends up."""
    if video.key not in corpus.annotations:
        raise InputError(f"video {video.key}: no annotation; expected annotations/{video.key}.csv")
    n_segments = corpus.n_segments(video)
    truth = np.zeros((n_segments, len(corpus.task_of(video).steps)), dtype=np.bool_)
    for annotated in corpus.annotation_of(video):
        interval = annotated.interval
        if interval.end_s > n_segments + TOLERATED_OVERSHOOT_S:
            raise InputError(
                f"annotation of {video.key}: step {annotated.step + 1} ends at {interval.end_s:g} s, but the video has {n_segments} "
                "seconds; check that annotation and features belong together (`crosstask validate` lists all such)"
            )
        if interval.end_s > n_segments:
            log.debug("annotation of %s ends %.2f s after the video: clipped", video.key, interval.end_s - n_segments)
        segments = interval.segments(n_segments)
        truth[segments.start : segments.stop, annotated.step] = True
    return truth


def annotated_videos(corpus: Corpus) -> list[Video]:
    """The primary, non-validation videos that have an annotation, in corpus order."""
    return [
        video
        for video in corpus.videos
        if corpus.task_of(video).primary and video.key not in corpus.validation and video.key in corpus.annotations
    ]
