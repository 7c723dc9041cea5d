import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crosstask.inference import BadCost, concatenated, decode_once_batch, separated
from inference.costs import costs


@given(st.lists(costs(fits=False), max_size=5))
def test_concatenated_and_separated_round_trip(matrices):
    back = separated(*concatenated(matrices))
    assert len(back) == len(matrices)
    for before, after in zip(matrices, back, strict=True):
        assert before.shape == after.shape
        assert (before == after).all()


def test_an_empty_batch():
    assert decode_once_batch(*concatenated([])).tolist() == []


def test_inconsistent_sizes_are_rejected():
    with pytest.raises(BadCost, match="a batch of 5 costs and no names for 2 videos with 6 cells"):
        decode_once_batch(np.zeros(5), [2, 2], [2, 1])


def test_errors_after_empty_videos_name_the_right_one():
    flat = np.array([0.0, np.nan])
    with pytest.raises(BadCost, match="segment 1, step 0 in video c"):
        decode_once_batch(flat, [0, 0, 2], [1, 1, 1], names=["a", "b", "c"])
