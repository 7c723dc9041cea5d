"""Mean pooling of feature rows at any rate to one row per second.

At r rows per second, row i covers [i / r, (i + 1) / r). A second is the mean of the rows whose middle lies in it; a second without such a
row (r < 1) takes the row that covers its middle.
"""

import math

import numpy as np
import numpy.typing as npt

from crosstask.records import InputError

MAX_RATE = 1000.0  # rows per second; ours, above any video frame rate
_MAX_SECONDS = 1_000_000  # ours, eleven days: more means that the rate was given in seconds per row
_ROUNDING = 1e-9  # seconds; keeps a row that ends exactly on a second in that second


def pool_to_seconds(rows: npt.NDArray[np.floating], rate: float) -> npt.NDArray[np.floating]:
    """(ceil(n / rate), D) means over whole seconds of (n, D) rows at `rate` rows per second; the dtype is kept.

    >>> pool_to_seconds(np.array([[0.0], [2.0], [4.0], [6.0], [9.0]]), 2).ravel().tolist()
    [1.0, 5.0, 9.0]
    >>> pool_to_seconds(np.array([[1.0], [3.0]]), 0.5).ravel().tolist()
    [1.0, 1.0, 3.0, 3.0]
    """
    if not (math.isfinite(rate) and 0 < rate <= MAX_RATE):
        raise InputError(f"rate {rate}: expected rows per second, above 0 and at most {MAX_RATE:g}")
    n_seconds = max(1, math.ceil(len(rows) / rate - _ROUNDING))
    if n_seconds > _MAX_SECONDS:
        raise InputError(
            f"rate {rate}: {len(rows)} rows would last {n_seconds} seconds; expected rows per second, not seconds per row"
        )
    second = np.minimum(((np.arange(len(rows)) + 0.5) / rate + _ROUNDING).astype(np.int64), n_seconds - 1)
    counts = np.bincount(second, minlength=n_seconds)
    sums = np.zeros((n_seconds, rows.shape[1]))
    np.add.at(sums, second, np.asarray(rows, dtype=np.float64))
    pooled = sums / np.maximum(counts, 1)[:, None]
    empty = np.flatnonzero(counts == 0)
    pooled[empty] = rows[np.minimum(((empty + 0.5) * rate).astype(np.int64), len(rows) - 1)]
    return pooled.astype(rows.dtype)
