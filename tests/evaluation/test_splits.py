from dataclasses import replace

import numpy as np
import pytest

from crosstask.evaluation.splits import group_of, group_split, inner_split, paper_split, validation_videos, without_shared_videos
from tiny import tiny_corpus


def test_the_papers_split_of_the_release(real_release):
    for seed in range(5):
        split = paper_split(real_release, np.random.default_rng(seed))
        assert len(split.test) == 1850
        assert len(split.train) == 18 * 30 + 1950
        assert not {v.key for v in split.train} & {v.key for v in split.test}
        assert not {v.key for v in (*split.train, *split.test)} & real_release.validation


def test_dropped_shared_videos_never_train(real_release):
    split = paper_split(real_release, np.random.default_rng(0))
    dropped = without_shared_videos(split, real_release)
    held_out = {v.id for v in dropped.test} | {key.video for key in real_release.validation}
    assert not {v.id for v in dropped.train} & held_out
    assert 0 < len(split.train) - len(dropped.train) <= 93


@pytest.mark.parametrize("per_task", [1, 2, 100])
def test_all_videos_of_small_tasks_are_used_for_training(per_task):
    corpus = tiny_corpus()
    split = paper_split(corpus, np.random.default_rng(0), per_task)
    assert len(split.train) + len(split.test) == len(corpus.videos) - len(corpus.validation)
    assert all(corpus.task_of(v).primary for v in split.test)
    assert validation_videos(corpus) == [corpus.videos[0]]


@pytest.mark.parametrize("seed", range(5))
def test_training_test_and_validation_groups_are_disjoint(seed):
    tiny = tiny_corpus(videos_per_task=9)
    videos = tuple(replace(v, id=f"P{i % 9}_{v.id}") for i, v in enumerate(tiny.videos))
    corpus = replace(tiny, videos=videos, validation=frozenset())
    split = group_split(corpus, np.random.default_rng(seed), train_videos_per_task=4)
    inner = inner_split(corpus, split, np.random.default_rng(seed))
    tested, trained, validated = ({group_of(v) for v in side} for side in (split.test, inner.train, inner.test))
    assert len(tested) == 3 and trained and validated
    assert not tested & trained and not tested & validated and not trained & validated
    assert set(inner.train) | set(inner.test) <= set(split.train)
    assert all(corpus.task_of(v).primary for v in (*split.test, *inner.test))
