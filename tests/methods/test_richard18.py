import numpy as np

from crosstask.methods.richard18 import Richard18
from tiny import tiny_corpus


def test_richard18_uses_neither_order_nor_windows():
    corpus = tiny_corpus()
    task, rows = corpus.tasks["1"], corpus.features.rows("-v1_2")
    first, free = (Richard18().fit(c, np.random.default_rng(0)) for c in (corpus, corpus.without_windows()))
    assert np.array_equal(first.score(task, rows), free.score(task, rows))
