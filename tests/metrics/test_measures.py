import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score

from crosstask.metrics.average_precision import FrameAveragePrecision, average_precision
from crosstask.metrics.matched_f1 import MatchedF1
from crosstask.metrics.recall import StepRecall, mean_over_tasks, step_recall


def test_recall_by_hand():
    truth = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0]], bool)  # the third step is not shown
    recall = step_recall(
        [("a", np.array([0, 2, 2]), truth), ("a", np.array([2, 0, 1]), truth), ("b", np.array([1, 1, 0]), truth)]
    )
    assert recall.by_task() == {"a": 2 / 4, "b": 1 / 2}
    assert mean_over_tasks(recall.by_task()) == 0.5
    assert recall.by_step()["a"] == [0.5, 0.5, None]


def test_a_step_that_was_not_found_is_a_miss():
    recall = StepRecall()
    recall.add("a", np.array([-1, 1]), np.ones((2, 2), bool))
    assert recall.by_task() == {"a": 0.5}


@settings(deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 4)), min_size=1, max_size=40).filter(lambda x: any(p for p, _ in x)))
def test_average_precision_is_scikit_learns_ties_included(pairs):
    positive, scores = np.array([p for p, _ in pairs]), np.array([s for _, s in pairs], float)
    assert average_precision(positive, scores) == pytest.approx(average_precision_score(positive, scores))


def test_map_leaves_out_and_counts_steps_without_positives():
    measure = FrameAveragePrecision()
    measure.add("a", np.array([[0.9, 1], [0.1, 2]]), np.array([[1, 0], [0, 0]], bool))
    assert measure.by_task() == {"a": 1.0} and measure.unjudged_steps() == 1


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
