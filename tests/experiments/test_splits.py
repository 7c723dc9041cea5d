import numpy as np
import pytest

from crosstask.experiments.splits import paper_split, validation_videos, without_shared_videos
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
    judged = {v.id for v in dropped.test} | {key.video for key in real_release.validation}
    assert not {v.id for v in dropped.train} & judged
    assert 0 < len(split.train) - len(dropped.train) <= 93


@pytest.mark.parametrize("per_task", [1, 2, 100])
def test_small_tasks_train_whole(per_task):
    corpus = tiny_corpus()
    split = paper_split(corpus, np.random.default_rng(0), per_task)
    assert len(split.train) + len(split.test) == len(corpus.videos) - len(corpus.validation)
    assert all(corpus.task_of(v).primary for v in split.test)
    assert validation_videos(corpus) == [corpus.videos[0]]
