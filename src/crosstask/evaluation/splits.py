"""Training and test splits of a corpus.

The paper's split: without the validation videos, 30 training videos are drawn from every primary task and all others are tested; all
videos of the related tasks are used for training.
"""

from dataclasses import dataclass

import numpy as np

from crosstask.records import Corpus, Video


@dataclass(frozen=True)
class Split:
    """Training and test videos of one run, both in corpus order."""

    train: tuple[Video, ...]
    test: tuple[Video, ...]


def paper_split(corpus: Corpus, rng: np.random.Generator, train_videos_per_task: int = 30) -> Split:
    """A random split as in the paper; all videos of a task with too few of them are used for training."""
    train: set[Video] = set()
    for task in corpus.tasks.values():
        videos = [video for video in corpus.videos_of(task.id) if video.key not in corpus.validation]
        if not task.primary or len(videos) <= train_videos_per_task:
            train.update(videos)
            continue
        drawn = rng.choice(len(videos), size=train_videos_per_task, replace=False)
        train.update(videos[i] for i in drawn)
    usable = [video for video in corpus.videos if video.key not in corpus.validation]
    test = (video for video in usable if corpus.task_of(video).primary and video not in train)
    return Split(tuple(video for video in usable if video in train), tuple(test))


def without_shared_videos(split: Split, corpus: Corpus) -> Split:
    """The split without training rows whose video is a test or validation video under any task."""
    held_out = {video.id for video in split.test} | {key.video for key in corpus.validation}
    return Split(tuple(video for video in split.train if video.id not in held_out), split.test)


def validation_videos(corpus: Corpus) -> list[Video]:
    """The videos on which settings are tuned, in corpus order."""
    return [video for video in corpus.videos if video.key in corpus.validation]


def group_split(corpus: Corpus, rng: np.random.Generator, train_videos_per_task: int = 30, test_share: float = 1 / 3) -> Split:
    """A split by group, the part of a video's id before the first '_' (a person, a channel): no group is in both parts.

    A third of the groups is tested; of the others, 30 videos of every primary task and all videos of related tasks are used for
    training.
    """
    usable = [video for video in corpus.videos if video.key not in corpus.validation]
    groups = sorted({group_of(video) for video in usable})
    test_groups = {groups[i] for i in rng.permutation(len(groups))[: max(1, round(test_share * len(groups)))]}
    train: set[Video] = set()
    for task in corpus.tasks.values():
        videos = [v for v in usable if v.task == task.id and group_of(v) not in test_groups]
        if task.primary and len(videos) > train_videos_per_task:
            videos = [videos[i] for i in rng.choice(len(videos), size=train_videos_per_task, replace=False)]
        train.update(videos)
    test = (v for v in usable if corpus.task_of(v).primary and group_of(v) in test_groups)
    return Split(tuple(v for v in usable if v in train), tuple(test))


def group_of(video: Video) -> str:
    """The group of a video: its id up to the first '_'.

    >>> group_of(Video("200", "P16_cam01_P16_cereals"))
    'P16'
    """
    return video.id.partition("_")[0]


def inner_split(corpus: Corpus, split: Split, rng: np.random.Generator, validation_share: float = 1 / 3) -> Split:
    """The training part of a split by group, split by group again, for tuning where a corpus lists no validation videos.

    A third of the training groups is the test part of the result, the others its training part; no test group is used.
    """
    groups = sorted({group_of(video) for video in split.train})
    validation_groups = {groups[i] for i in rng.permutation(len(groups))[: max(1, round(validation_share * len(groups)))]}
    train = tuple(v for v in split.train if group_of(v) not in validation_groups)
    return Split(train, tuple(v for v in split.train if group_of(v) in validation_groups and corpus.task_of(v).primary))
