"""Which videos are trained on and which are tested: folds over groups (people, kitchens), and sets of tasks that have few videos in turn.

Every group is tested in exactly one fold, so that every video is tested once. A task is evaluated in a fold if it has a test video there and enough
training videos for the largest number asked for: the tasks are the same at every number. The evaluated tasks are divided into sets. Each set in turn
is the one with few videos, alone or beside all training videos of all other tasks.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from crosstask.records import Corpus, InputError, Video

_PARTITIONS = (
    200  # random partitions of the groups, of which the one that evaluates most tasks is taken; labels are not looked at
)


@dataclass(frozen=True)
class Fold:
    """Groups that are tested, and the tasks evaluated on them."""

    test_groups: tuple[str, ...]
    tasks: tuple[str, ...]


def group_of(video: Video, part: int = 1) -> str:
    """The group of a video: the N-th part of its id, separated by '_'; the first is the person in several data sets.

    >>> group_of(Video("1", "P1_E2_1_28"), 2)
    'E2'
    """
    parts = video.id.split("_")
    return parts[part - 1] if part <= len(parts) else ""


def part_of_split(split_by: str) -> int:
    """The part of the id that `--split-by` names: group or group:N.

    >>> part_of_split("group"), part_of_split("group:2")
    (1, 2)
    """
    name, colon, number = split_by.partition(":")
    if name == "group" and (not colon or (number.isdecimal() and 1 <= int(number[:4]) <= 99)):
        return int(number) if colon else 1
    raise InputError(f"--split-by {split_by}: expected group, or group:2 for the second part of the video's id")


def usable_videos(corpus: Corpus) -> list[Video]:
    """The videos with features and annotation, validation videos excepted."""
    return [
        v for v in corpus.videos if v.id in corpus.features and v.key in corpus.annotations and v.key not in corpus.validation
    ]


def draw_folds(corpus: Corpus, n_folds: int, part: int, fewest: int, seed: int) -> list[Fold]:
    """Folds that evaluate as many (task, fold) pairs as a partition of the groups allows; `fewest` training videos per task."""
    videos = usable_videos(corpus)
    groups = sorted({group_of(video, part) for video in videos})
    if len(groups) < n_folds:
        raise InputError(
            f"corpus '{corpus.name}': {len(groups)} groups ({', '.join(groups[:5])}) for {n_folds} folds; expected video ids such as "
            "PERSON_NUMBER with several people, or fewer --folds"
        )
    rng = np.random.default_rng([seed, 5])
    best: list[Fold] = []
    for _ in range(_PARTITIONS):
        order = [groups[i] for i in rng.permutation(len(groups))]
        folds = [_fold(corpus, videos, tuple(sorted(order[i::n_folds])), part, fewest) for i in range(n_folds)]
        if not best or sum(len(f.tasks) for f in folds) > sum(len(f.tasks) for f in best):
            best = folds
    if not any(fold.tasks for fold in best):
        raise InputError(
            f"corpus '{corpus.name}': no task has {fewest} training videos beside a test video of another group; use smaller --counts"
        )
    return best


def _fold(corpus: Corpus, videos: Sequence[Video], test_groups: tuple[str, ...], part: int, fewest: int) -> Fold:
    tasks = []
    for task in corpus.primary_tasks():
        of_task = [group_of(v, part) in test_groups for v in videos if v.task == task.id]
        if any(of_task) and len(of_task) - sum(of_task) >= fewest:
            tasks.append(task.id)
    return Fold(test_groups, tuple(tasks))


def task_sets(folds: Sequence[Fold], n_sets: int, seed: int) -> list[tuple[str, ...]]:
    """The evaluated tasks of all folds in sets of about equal size, drawn at random."""
    tasks = sorted({task for fold in folds for task in fold.tasks})
    order = [tasks[i] for i in np.random.default_rng([seed, 6]).permutation(len(tasks))]
    return [tuple(sorted(order[i::n_sets])) for i in range(min(n_sets, len(tasks)))]


def training_videos(
    corpus: Corpus,
    held_out: Sequence[str],
    few: Sequence[str],
    count: int | None,
    beside: bool,
    part: int,
    seed: int,
    most: int,
) -> list[Video]:
    """`count` videos (None: all) of each task of `few` and, if `beside`, all videos of all other tasks; none of a held-out group.

    "All" is at most `most` videos per primary task. Videos are drawn in one order per task, so that larger numbers contain smaller ones.
    """
    chosen: set[Video] = set()
    free = [v for v in usable_videos(corpus) if group_of(v, part) not in held_out]
    for number, task in enumerate(corpus.tasks.values()):
        if not beside and task.id not in few:
            continue
        videos = [v for v in free if v.task == task.id]
        order = np.random.default_rng([seed, 7, number]).permutation(len(videos))
        limit = count if task.id in few and count is not None else most if task.primary else len(videos)
        chosen.update(videos[i] for i in order[:limit])
    return [video for video in corpus.videos if video in chosen]


def inner_groups(corpus: Corpus, held_out: Sequence[str], part: int, seed: int) -> tuple[str, ...]:
    """A third of the training groups, at least one, on which settings are chosen."""
    groups = sorted({group_of(v, part) for v in usable_videos(corpus)} - set(held_out))
    if len(groups) < 2:
        raise InputError(f"corpus '{corpus.name}': {len(groups)} group to train on; settings are chosen on another one")
    order = np.random.default_rng([seed, 8]).permutation(len(groups))
    return tuple(sorted(groups[i] for i in order[: max(1, round(len(groups) / 3))]))
