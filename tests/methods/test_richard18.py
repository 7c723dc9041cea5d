import numpy as np
import pytest

from crosstask.methods.richard18 import Richard18, Richard18Linear, set_network_scorer_from
from crosstask.records import InputError, Task
from tiny import tiny_corpus


@pytest.mark.parametrize("method", [Richard18, Richard18Linear])
def test_neither_order_nor_windows_are_used(method):
    corpus = tiny_corpus()
    task, rows = corpus.tasks["1"], corpus.features.rows("-v1_2")
    first, free = (method().fit(c, np.random.default_rng(0)) for c in (corpus, corpus.without_windows()))
    assert np.array_equal(first.score(task, rows), free.score(task, rows))


def test_the_scorer_survives_its_arrays():
    corpus = tiny_corpus()
    scorer = Richard18().fit(corpus, np.random.default_rng(0))
    task, rows = corpus.tasks["1"], corpus.features.rows("-v1_2")
    again = set_network_scorer_from(*scorer.to_arrays())
    assert np.array_equal(again.score(task, rows), scorer.score(task, rows))
    arrays, values = scorer.to_arrays()
    with pytest.raises(InputError, match="do not fit its network"):
        set_network_scorer_from(arrays, {**values, "components": ["x"]})


def test_an_untrained_step_scores_alike_everywhere():
    scorer = Richard18().fit(tiny_corpus(), np.random.default_rng(0))
    task = Task("9", "New", ("pour milk", "sing"))
    scores = scorer.score(task, np.random.default_rng(1).standard_normal((5, 6)))
    assert np.ptp(scores[:, 1]) == 0 < np.ptp(scores[:, 0]) and scorer.unknown_steps(task) == ["sing"]
    with pytest.raises(InputError, match="trained on 6 columns"):
        scorer.score(task, np.zeros((5, 3)))
