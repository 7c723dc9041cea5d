import numpy as np
import pytest

from crosstask.learning.zhukov19.adam import BETA1, BETA2, EPSILON, adam_row, bring_up_to_date, fresh_adam


def dense_adam(w, gradients, learning_rate):
    """Adam as its paper writes it, in double precision."""
    w, m, v = w.astype(np.float64), np.zeros_like(w, np.float64), np.zeros_like(w, np.float64)
    for n, g in enumerate(gradients, start=1):
        m, v = BETA1 * m + (1 - BETA1) * g, BETA2 * v + (1 - BETA2) * g * g
        w = w - learning_rate * (m / (1 - BETA1**n)) / (np.sqrt(v / (1 - BETA2**n)) + EPSILON)
    return w, m, v


@pytest.mark.parametrize("size", [1.0, 1e-4, 1e-7, 1e-8, 1e-9, 1e-11])
def test_lazy_rows_end_where_dense_adam_does(size):
    """1,000 steps, each touching few of the rows, at ordinary and tiny gradients."""
    rng = np.random.default_rng(0)
    n_rows, n_columns, rate = 6, 17, 1e-3
    w0 = rng.standard_normal((n_rows, n_columns)).astype(np.float32)
    gradients, touched = np.zeros((1000, n_rows, n_columns)), []
    chance = np.array([0.9, 0.5, 0.2, 0.05, 0.01, 0.002])
    for n in range(1000):
        rows = np.flatnonzero(rng.random(n_rows) < chance)
        touched.append(rows)
        gradients[n, rows] = size * rng.standard_normal((len(rows), n_columns)) * 10 ** rng.uniform(-2, 1, n_columns)
    lazy, state = w0.copy(), fresh_adam(w0.shape)
    for n in range(1000):
        bring_up_to_date(lazy, state, touched[n], rate)
        state.taken[0] += 1
        for row in touched[n]:
            adam_row(lazy[row], state.first[row], state.second[row], gradients[n, row].astype(np.float32), n + 1, rate)
            state.current[row] = n + 1
    bring_up_to_date(lazy, state, np.arange(n_rows), rate)
    dense, m, v = dense_adam(w0, gradients, rate)
    moved = np.abs(dense - w0).max(axis=1)
    assert (np.abs(lazy - dense).max(axis=1) <= 1e-5 * np.maximum(np.abs(dense).max(axis=1), moved)).all()
    assert np.allclose(state.first, m, rtol=1e-4, atol=1e-6 * size)
    normal = v > 1e-36  # below that, single precision itself has little left
    assert np.allclose(state.second[normal], v[normal], rtol=1e-3, atol=0)


def test_a_row_never_touched_never_moves():
    w, state = np.ones((2, 3), np.float32), fresh_adam((2, 3))
    state.taken[0] = 500
    bring_up_to_date(w, state, np.arange(2), 0.1)
    assert np.array_equal(w, np.ones((2, 3)))
