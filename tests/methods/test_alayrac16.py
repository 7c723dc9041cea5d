import numpy as np

from crosstask.evaluation.evaluate import evaluate_videos
from crosstask.learning.baselines.discriminative_clustering import DiffracSettings
from crosstask.methods.alayrac16 import Alayrac16
from crosstask.methods.order_only import Uniform
from crosstask.metrics.truth import annotated_videos
from tiny import tiny_corpus


def recall(corpus, scorer):
    return evaluate_videos(corpus, scorer, annotated_videos(corpus)).to_json()["recall"]["mean"]


def test_alayrac16_finds_steps_that_stand_out():
    corpus = tiny_corpus(videos_per_task=12)
    gaps = []
    scorer = Alayrac16(DiffracSettings(ridge=0.1), lambda found: gaps.append(found.gaps)).fit(corpus, np.random.default_rng(0))
    assert recall(corpus, scorer) > 0.9 > recall(corpus, Uniform())
    assert len(gaps) == 3 and all(of_task[-1] <= of_task[0] for of_task in gaps)


def test_alayrac16_depends_on_windows_and_on_no_generator():
    corpus = tiny_corpus()
    task, rows = corpus.tasks["1"], corpus.features.rows("-v1_2")
    first, again, free = (
        Alayrac16().fit(c, np.random.default_rng(seed)) for c, seed in ((corpus, 0), (corpus, 1), (corpus.without_windows(), 0))
    )
    assert np.array_equal(first.score(task, rows), again.score(task, rows))
    assert not np.allclose(first.score(task, rows), free.score(task, rows))
