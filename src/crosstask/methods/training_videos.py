"""A corpus as the arrays that learning reads: which videos can train, where their steps may lie, and which are skipped."""

import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from crosstask.inference import NoOrderedAnswer, decode_once
from crosstask.learning.zhukov19.alternation import Progress
from crosstask.learning.zhukov19.training_set import (
    TaskArrays,
    TaskOfSteps,
    TrainingVideo,
    VideoArrays,
    task_arrays,
    video_arrays,
)
from crosstask.records import Corpus, InputError, StepInterval, Video, VideoKey, largest_value, unlike_others
from crosstask.text import Vocabulary

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class TrainingArrays:
    """Rows (R, D), videos and tasks for the kernels, and which video each entry is."""

    rows: npt.NDArray[np.floating]
    videos: VideoArrays
    tasks: TaskArrays
    keys: tuple[VideoKey, ...]
    checksums: Mapping[str, int] | None = None  # of the rows by video id, if they are packed


@dataclass
class Notices:
    """Videos that are left out or trained without windows, by reason."""

    too_short: list[str] = field(default_factory=list)
    no_features: list[str] = field(default_factory=list)
    no_windows: list[str] = field(default_factory=list)
    impossible_windows: list[str] = field(default_factory=list)
    unlike_others: list[str] = field(default_factory=list)

    def report(self, narrated: bool) -> None:
        """Log a warning for each reason."""
        _warn(self.no_features, "without features, left out")
        _warn(self.too_short, "with fewer segments than steps, left out")
        _warn(
            self.unlike_others,
            "with far larger features than the others, which makes the model worse for all; scale or extract again",
        )
        _warn(self.impossible_windows, "whose windows allow no ordered answer, trained with order alone")
        if narrated:
            _warn(self.no_windows, "without windows, trained with order alone")


def _warn(names: list[str], what: str) -> None:
    if names:
        shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
        log.warning("%d video%s %s: %s", len(names), "" if len(names) == 1 else "s", what, shown)
        for name in names[5:]:
            log.info("%s: %s", what, name)


def videos_to_train_on(corpus: Corpus) -> list[Video]:
    """Every video that is not for validation and has features; a warning names the others."""
    listed = [video for video in corpus.videos if video.key not in corpus.validation]
    found = [video for video in listed if video.id in corpus.features]
    if found:
        _warn([str(video.key) for video in listed if video.id not in corpus.features], "without features, left out")
    return found


def trainable_videos(corpus: Corpus, notices: Notices) -> list[Video]:
    """The videos that have features and at least as many segments as steps, sorted by task and id."""
    usable = []
    for video in sorted(corpus.videos, key=lambda video: video.key):
        if video.id not in corpus.features:
            notices.no_features.append(str(video.key))
        elif corpus.features.length(video.id) < len(corpus.task_of(video).steps):
            notices.too_short.append(str(video.key))
        else:
            usable.append(video)
    if not corpus.videos:
        raise InputError(f"corpus '{corpus.name}': no videos are listed; expected videos/TASK/NAME.mp4, or rows in videos.csv")
    if not usable:
        raise InputError(
            f"corpus '{corpus.name}': no video can train ({len(notices.no_features)} without features, "
            f"{len(notices.too_short)} with fewer segments than steps); see `crosstask validate`"
        )
    reasons = unlike_others(_largest_values(corpus, usable))
    notices.unlike_others = [f"{video} ({reason})" for video, reason in reasons.items()]
    return usable


def _largest_values(corpus: Corpus, videos: list[Video]) -> dict[str, float]:
    """Video id -> its largest feature; features that are not finite, or of another width than those before, are an error."""
    largest: dict[str, float] = {}
    width = None
    for video in videos:
        rows = corpus.features.rows(video.id)
        width = rows.shape[1] if width is None else width
        if rows.shape[1] != width:
            raise InputError(f"video {video.id}: features of {rows.shape[1]} columns; the videos before it have {width}")
        largest[video.id] = largest_value(rows)
        if not math.isfinite(largest[video.id]):
            raise InputError(f"video {video.id}: its features contain NaN or infinity; extract them again")
    return largest


def allowed_segments(windows: tuple[StepInterval, ...], n_segments: int, n_steps: int) -> npt.NDArray[np.bool_]:
    """(T, K): where the windows let each step lie; a step without a window inside the video is free.

    >>> from crosstask.records import Interval
    >>> allowed_segments((StepInterval(0, Interval(1.5, 2.5)),), 4, 2).astype(int).tolist()
    [[0, 1], [1, 1], [1, 1], [0, 1]]
    """
    allowed = np.zeros((n_segments, n_steps), dtype=np.bool_)
    for window in windows:
        segments = window.interval.segments(n_segments)
        allowed[segments.start : segments.stop, window.step] = True
    allowed[:, ~allowed.any(axis=0)] = True
    return allowed


def _allowed_in(corpus: Corpus, video: Video, notices: Notices) -> npt.NDArray[np.bool_] | None:
    """Where the windows of a video let its steps lie; None for everywhere."""
    if video.key not in corpus.windows:
        notices.no_windows.append(str(video.key))
        return None
    n_steps = len(corpus.task_of(video).steps)
    allowed = allowed_segments(corpus.windows_of(video), corpus.features.length(video.id), n_steps)
    try:
        decode_once(np.where(allowed, 0.0, np.inf))
    except NoOrderedAnswer:
        notices.impossible_windows.append(str(video.key))
        return None
    return allowed


def raise_if_diverged(progress: Progress, arrays: TrainingArrays) -> None:
    """Raise an InputError, naming the video with the largest features, if the last loss or a parameter is not finite."""
    if math.isfinite(progress.losses[-1]) and np.isfinite(progress.parameters).all():
        return
    videos = arrays.videos
    largest = [
        float(np.abs(arrays.rows[first : first + n]).max()) for first, n in zip(videos.first_row, videos.n_segments, strict=True)
    ]
    worst = int(np.argmax(largest))
    name = f"video {arrays.keys[worst]}" if arrays.keys else "a video"
    raise InputError(
        f"training diverged in epoch {progress.epochs_done}: its loss or parameters are not finite; {name} has the largest "
        f"features ({largest[worst]:.3g}): extract or scale them again, or lower the learning rate"
    )


def training_arrays(corpus: Corpus, vocabulary: Vocabulary) -> TrainingArrays:
    """The corpus for weakly supervised learning."""
    notices = Notices()
    videos = trainable_videos(corpus, notices)
    narrated = any(video.key in corpus.windows for video in videos)
    allowed = [_allowed_in(corpus, video, notices) for video in videos]
    notices.report(narrated)
    return _arrays(corpus, vocabulary, videos, allowed)


def supervised_arrays(corpus: Corpus, vocabulary: Vocabulary, truths: dict[VideoKey, npt.NDArray[np.bool_]]) -> TrainingArrays:
    """The corpus for full supervision: true segments are the labels."""
    notices = Notices()
    videos = [video for video in trainable_videos(corpus, notices) if video.key in truths]
    notices.report(narrated=False)
    if not videos:
        raise InputError(f"corpus '{corpus.name}': no training video is annotated; full supervision needs annotations")
    return _arrays(corpus, vocabulary, videos, [truths[video.key] for video in videos])


def _arrays(
    corpus: Corpus, vocabulary: Vocabulary, videos: list[Video], allowed: list[npt.NDArray[np.bool_] | None]
) -> TrainingArrays:
    task_ids = sorted({video.task for video in videos})
    number = {task: i for i, task in enumerate(task_ids)}
    parts = [vocabulary.components_of(corpus.tasks[task]) for task in task_ids]
    tasks = task_arrays([TaskOfSteps(part.numbers, part.averaging) for part in parts])
    rows, first_row = corpus.features.stack(sorted({video.id for video in videos}))
    entries = [
        TrainingVideo(number[video.task], first_row[video.id], corpus.features.length(video.id), places)
        for video, places in zip(videos, allowed, strict=True)
    ]
    checksum_of = getattr(corpus.features, "checksum", None)
    checksums = None if checksum_of is None else {video.id: int(checksum_of(video.id)) for video in videos}
    return TrainingArrays(rows, video_arrays(entries, tasks), tasks, tuple(video.key for video in videos), checksums)
