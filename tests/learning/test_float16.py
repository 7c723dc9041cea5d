import numpy as np
import pytest

from crosstask.features.pack import all_finite
from crosstask.learning.float16 import as_float32, centred_scores, linear_scores


def test_every_float16_there_is_comes_back_exactly():
    every = np.arange(65536, dtype=np.uint16).view(np.float16)
    finite = every[np.isfinite(every)].reshape(-1, 1)
    assert as_float32(finite).tobytes() == finite.astype(np.float32).tobytes()
    np.testing.assert_array_equal(as_float32(every.reshape(256, 256)), every.reshape(256, 256).astype(np.float32))


@pytest.mark.parametrize(
    "rows",
    [
        np.ones((3, 2), np.float32),
        np.ones((3, 2)),
        np.ones((2, 3), np.float16).T,
        np.ones((4, 4), ">f2"),
        np.ones((0, 5), np.float16),
    ],
    ids=["float32", "float64", "Fortran", "big-endian", "empty"],
)
def test_other_rows_are_cast_as_ever(rows):
    wide = as_float32(rows)
    assert wide.dtype == np.float32
    np.testing.assert_array_equal(wide, rows.astype(np.float32))


@pytest.mark.parametrize("kind", ["<f2", "<f4", "<f8", ">f4"])
def test_scores_of_centred_rows_are_the_plain_product(kind):
    rng = np.random.default_rng(0)
    rows, weights = (rng.normal(size=(40, 33)) + 3).astype(kind), rng.normal(size=(5, 33)).astype(np.float32)
    plain = rows.astype(np.float64)
    np.testing.assert_allclose(centred_scores(rows, weights), (plain - plain.mean(axis=0)) @ weights.T, atol=1e-4)


@pytest.mark.parametrize("kind", ["<f2", "<f4", ">f2"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_one_number_that_is_none_is_found(kind, bad):
    rows = np.ones((20, 7), dtype=kind)
    assert all_finite(rows)
    rows[13, 5] = bad
    assert not all_finite(rows)


@pytest.mark.parametrize("kind", ["<f2", "<f4", ">f4"])
def test_linear_scores_are_the_plain_product_to_the_last_digits(kind):
    rng = np.random.default_rng(1)
    rows, weights = (rng.normal(size=(40, 33)) + 3).astype(kind), rng.normal(size=(5, 34))
    plain = rows.astype(np.float64) @ weights[:, :-1].T + weights[:, -1]
    np.testing.assert_allclose(linear_scores(rows, weights), plain, rtol=1e-13, atol=1e-13)
    assert linear_scores(rows[:0], weights).shape == (0, 5)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_scores_of_halves_that_are_not_finite_are_not_finite(bad):
    rows = np.ones((4, 3), np.float16)
    rows[2, 1] = bad
    assert not np.isfinite(centred_scores(rows, np.ones((2, 3), np.float32))).all()
    assert not np.isfinite(linear_scores(rows, np.ones((2, 4)))).all()
