"""A corpus as the arrays that EM reads: whitened features, masks of windows, and what a person labelled."""

from collections.abc import Sequence
from dataclasses import dataclass
from threading import Event
from typing import Any

import numpy as np
import numpy.typing as npt

from crosstask.learning.hmm.known_steps import KnownSteps
from crosstask.learning.hmm.whitening import Whitening
from crosstask.methods.threads import in_threads
from crosstask.records import Corpus, FeatureRows, InputError, StepLabel, Video, segment_at
from crosstask.storage import derived_folder, scratch_rows

LARGEST_WINDOW = 0.5  # share of the video; a longer window says nothing about when


@dataclass(frozen=True)
class RowsOfVideos(Sequence[npt.NDArray[np.floating]]):
    """Rows (T, D) of some videos, each read when it is asked for: the files of a corpus need not fit into memory together."""

    features: FeatureRows
    video_ids: Sequence[str]

    def __len__(self) -> int:
        """Number of videos."""
        return len(self.video_ids)

    def __getitem__(self, number: Any) -> Any:
        """(T, D) of one video."""
        return self.features.rows(self.video_ids[number])


def whitened_features(corpus: Corpus, video_ids: Sequence[str], whitening: Whitening) -> dict[str, npt.NDArray[np.float32]]:
    """(T, d) of each video; those of a large corpus are kept in an unlinked temporary file beside its pack."""
    folder = derived_folder(corpus.folder) if corpus.folder is not None else None
    lengths = [corpus.features.length(video_id) for video_id in video_ids]
    buffer = scratch_rows(sum(lengths), whitening.width, folder)
    ends = np.cumsum(lengths)
    whitened = {video_id: buffer[end - n : end] for video_id, n, end in zip(video_ids, lengths, ends, strict=True)}

    def fill(video_id: str) -> None:
        whitened[video_id][:] = whitening.transform(corpus.features.rows(video_id))
        if not np.isfinite(whitened[video_id]).all():
            raise InputError(f"video {video_id}: its features are too large to train on; extract or scale them again")

    in_threads(fill, video_ids, Event())
    return whitened


def window_mask(corpus: Corpus, video: Video) -> npt.NDArray[np.bool_]:
    """(T, K): True inside the window of the step; a window over most of the video is left out."""
    n_segments = corpus.features.length(video.id)
    mask = np.zeros((n_segments, len(corpus.task_of(video).steps)), dtype=np.bool_)
    for window in corpus.windows_of(video):
        segments = window.interval.segments(n_segments)
        mask[segments.start : segments.stop, window.step] = True
    mask[:, mask.mean(axis=0) > LARGEST_WINDOW] = False
    return mask


def labels_of(corpus: Corpus, video: Video) -> KnownSteps | None:
    """What a person labelled in a training video; None where nothing is labelled."""
    labels = corpus.labels.get(video.key, ())
    return known_steps(labels, corpus.features.length(video.id), len(corpus.task_of(video).steps)) if labels else None


def known_steps(labels: Sequence[StepLabel], n_segments: int, n_steps: int) -> KnownSteps:
    """Labels of a video as segments; intervals and "not shown" say where the step is not, a moment does not."""
    inside = np.zeros((n_segments, n_steps), dtype=np.bool_)
    outside, labelled = np.zeros_like(inside), np.zeros(n_steps, dtype=np.bool_)
    for label in labels:
        if not 0 <= label.step < n_steps:
            raise InputError(f"a label names step {label.step + 1}; the task has {n_steps}, numbered from 1")
        labelled[label.step] = True
        if label.moment_s is not None:
            inside[segment_at(label.moment_s, n_segments), label.step] = True
            continue
        for interval in label.intervals:
            segments = interval.segments(n_segments)
            inside[segments.start : segments.stop, label.step] = True
        outside[:, label.step] = ~inside[:, label.step]
    return KnownSteps(inside, outside, labelled)
