import numpy as np
import pytest

from crosstask.metrics.matched_f1 import MatchedF1


def test_f1_matches_steps_one_to_one_whatever_their_numbers():
    measure = MatchedF1()
    truth = np.array([[1, 0], [0, 1], [0, 0]], bool)
    measure.add("a", np.array([1, 0]), truth)  # numbered the other way round: all right after matching
    assert measure.by_task() == {"a": 1.0}
    measure.add("b", np.array([0, 0]), truth)  # both in step 0: only one can be matched
    assert measure.by_task()["b"] == pytest.approx(2 * 1 / (2 + 2))


def test_f1_with_more_predicted_than_true_steps():
    measure = MatchedF1()
    measure.add("a", np.array([0, 1, 2]), np.array([[1], [0], [0]], bool))
    assert measure.by_task() == {"a": pytest.approx(2 * 1 / (3 + 1))}
