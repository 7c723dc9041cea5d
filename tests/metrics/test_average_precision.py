import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score

from crosstask.metrics.average_precision import FrameAveragePrecision, average_precision


@settings(deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 4)), min_size=1, max_size=40).filter(lambda x: any(p for p, _ in x)))
def test_average_precision_equals_scikit_learn_also_with_ties(pairs):
    positive, scores = np.array([p for p, _ in pairs]), np.array([s for _, s in pairs], float)
    assert average_precision(positive, scores) == pytest.approx(average_precision_score(positive, scores))


def test_map_leaves_out_and_counts_steps_without_positives():
    measure = FrameAveragePrecision()
    measure.add("a", np.array([[0.9, 1], [0.1, 2]]), np.array([[1, 0], [0, 0]], bool))
    assert measure.by_task() == {"a": 1.0} and measure.steps_without_positives() == 1
