import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from crosstask.inference import BadCost, ordered_ceiling
from oracles import ordered_ceiling_by_enumeration

truths = st.tuples(st.integers(1, 6), st.integers(1, 4)).flatmap(lambda shape: arrays(np.bool_, shape))


@given(truths)
def test_equals_enumeration(truth):
    assert ordered_ceiling(truth) == (ordered_ceiling_by_enumeration(truth), truth.any(axis=0).sum())


def test_example_of_the_paper():
    assert ordered_ceiling(np.eye(3)[[1, 0, 2]]) == (2, 3)  # 2 -> 1 -> 3 is two thirds in order


def test_any_interval_of_a_step_will_do():
    assert ordered_ceiling([[0, 1], [1, 0], [0, 1]]) == (2, 2)


def test_one_segment_serves_one_step():
    assert ordered_ceiling([[1, 1, 1]]) == (1, 3)


def test_absent_steps_need_no_segment():
    assert ordered_ceiling([[1, 0, 0], [0, 0, 1]]) == (2, 2)


def test_nothing_annotated():
    assert ordered_ceiling(np.zeros((5, 3))) == (0, 0)


def test_other_shapes_are_rejected():
    with pytest.raises(BadCost, match=r"truth of shape \(3,\)"):
        ordered_ceiling([1, 0, 1])
