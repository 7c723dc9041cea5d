"""Who trains and who is tested.

The paper's split: validation videos aside, 30 training videos drawn from every primary task, all others tested; every video of the related tasks trains.
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
    """A random split as the paper draws it; a task with too few videos trains on all and tests on none."""
    train: set[Video] = set()
    for task in corpus.tasks.values():
        videos = [video for video in corpus.videos_of(task.id) if video.key not in corpus.validation]
        if not task.primary or len(videos) <= train_videos_per_task:
            train.update(videos)
            continue
        drawn = rng.choice(len(videos), size=train_videos_per_task, replace=False)
        train.update(videos[i] for i in drawn)
    open_to_all = [video for video in corpus.videos if video.key not in corpus.validation]
    tested = (video for video in open_to_all if corpus.task_of(video).primary and video not in train)
    return Split(tuple(video for video in open_to_all if video in train), tuple(tested))


def without_shared_videos(split: Split, corpus: Corpus) -> Split:
    """The split with every training row dropped whose video is tested or validated under some task."""
    judged = {video.id for video in split.test} | {key.video for key in corpus.validation}
    return Split(tuple(video for video in split.train if video.id not in judged), split.test)


def validation_videos(corpus: Corpus) -> list[Video]:
    """The videos on which settings may be chosen, in corpus order."""
    return [video for video in corpus.videos if video.key in corpus.validation]


def group_split(corpus: Corpus, rng: np.random.Generator, train_videos_per_task: int = 30, test_share: float = 1 / 3) -> Split:
    """A split by group, the part of a video's id before the first '_' (a person, a channel): a group trains or is tested, never both.

    A third of the groups is tested; of the others, 30 videos of every primary task train, and all videos of related tasks.
    """
    open_to_all = [video for video in corpus.videos if video.key not in corpus.validation]
    groups = sorted({group_of(video) for video in open_to_all})
    tested_groups = {groups[i] for i in rng.permutation(len(groups))[: max(1, round(test_share * len(groups)))]}
    train: set[Video] = set()
    for task in corpus.tasks.values():
        videos = [v for v in open_to_all if v.task == task.id and group_of(v) not in tested_groups]
        if task.primary and len(videos) > train_videos_per_task:
            videos = [videos[i] for i in rng.choice(len(videos), size=train_videos_per_task, replace=False)]
        train.update(videos)
    tested = (v for v in open_to_all if corpus.task_of(v).primary and group_of(v) in tested_groups)
    return Split(tuple(v for v in open_to_all if v in train), tuple(tested))


def group_of(video: Video) -> str:
    """The group a video belongs to: its id up to the first '_'.

    >>> group_of(Video("200", "P16_cam01_P16_cereals"))
    'P16'
    """
    return video.id.partition("_")[0]


def inner_split(corpus: Corpus, split: Split, rng: np.random.Generator, judged_share: float = 1 / 3) -> Split:
    """The training side of a split by group, split by group again: for choosing settings where a corpus lists no validation videos.

    A third of the training groups is judged, the others train; nothing of the tested groups is touched.
    """
    groups = sorted({group_of(video) for video in split.train})
    judged = {groups[i] for i in rng.permutation(len(groups))[: max(1, round(judged_share * len(groups)))]}
    train = tuple(v for v in split.train if group_of(v) not in judged)
    return Split(train, tuple(v for v in split.train if group_of(v) in judged and corpus.task_of(v).primary))
