import numpy as np
import pytest

from crosstask.features.pooling import pool_to_seconds
from crosstask.records import InputError


@pytest.mark.parametrize("rate", [0.3, 0.5, 1.0, 1.5, 15.0, 29.97])
def test_pooling_keeps_duration_and_mean(rate):
    rows = np.ones((300, 2), np.float16)
    pooled = pool_to_seconds(rows, rate)
    assert len(pooled) == int(np.ceil(300 / rate - 1e-9)) and pooled.dtype == np.float16 and (pooled == 1).all()
    for bad in (0, -1, float("nan"), 1e9, 1e-9):
        with pytest.raises(InputError, match="rate"):
            pool_to_seconds(rows, bad)
