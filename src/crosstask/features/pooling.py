"""Rows that do not come once a second, pooled to whole seconds: the mean of the rows whose middle lies in the second.

Row i of r rows a second covers [i / r, (i + 1) / r). A second without a row of its own (fewer rows than one a second) takes the row that covers
its middle.
"""

import math

import numpy as np
import numpy.typing as npt

from crosstask.records import InputError

HIGHEST_RATE = 1000.0


def pool_to_seconds(rows: npt.NDArray[np.floating], rate: float) -> npt.NDArray[np.floating]:
    """(ceil(n / rate), D) means over whole seconds of (n, D) rows that come `rate` a second; the type stays.

    >>> pool_to_seconds(np.array([[0.0], [2.0], [4.0], [6.0], [9.0]]), 2).ravel().tolist()
    [1.0, 5.0, 9.0]
    >>> pool_to_seconds(np.array([[1.0], [3.0]]), 0.5).ravel().tolist()
    [1.0, 1.0, 3.0, 3.0]
    """
    if not (math.isfinite(rate) and 0 < rate <= HIGHEST_RATE):
        raise InputError(f"rate {rate}: expected rows a second, above 0 and at most {HIGHEST_RATE:g}")
    n_seconds = max(1, math.ceil(len(rows) / rate - 1e-9))
    if n_seconds > 1_000_000:
        raise InputError(
            f"rate {rate}: {len(rows)} rows would last {n_seconds} seconds; expected rows a second, not seconds a row"
        )
    second = np.minimum(((np.arange(len(rows)) + 0.5) / rate + 1e-9).astype(np.int64), n_seconds - 1)
    counts = np.bincount(second, minlength=n_seconds)
    sums = np.zeros((n_seconds, rows.shape[1]))
    np.add.at(sums, second, np.asarray(rows, dtype=np.float64))
    pooled = sums / np.maximum(counts, 1)[:, None]
    empty = np.flatnonzero(counts == 0)
    pooled[empty] = rows[np.minimum(((empty + 0.5) * rate).astype(np.int64), len(rows) - 1)]
    return pooled.astype(rows.dtype)
