"""Posterior probability that each unit of speech mentions each step, when steps are mentioned in order and any may be left out.

    weight of an ordered choice = prod over mentioned steps of exp(s[l_k, k]) * prod over the others of exp(absent)
    R[l, k] = R[l-1, k] + exp(s[l, k]) D[l-1, k-1]            choices in which step k is mentioned, at unit l or before
    D[l, k] = exp(absent) D[l, k-1] + R[l, k]                 all choices for steps up to k in units up to l
    P[l, k] = exp(s[l, k]) D[l-1, k-1] D'[l+1, k+1] / D[L, K]

D' is D of the reversed problem. All values are logarithms; a column sums to the probability that the step is mentioned.
"""

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float64]


def mention_posterior(score: Matrix, absent: float) -> Matrix:
    """P (L, K) that unit l mentions step k; `absent` is the log weight of a step that is not mentioned.

    >>> mention_posterior(np.log([[3.0], [1.0]]), absent=np.log(1.0)).round(2).tolist()
    [[0.6], [0.2]]
    """
    s = np.asarray(score, dtype=np.float64)
    forward = _log_totals(s, absent)  # (L + 1, K + 1)
    backward = _log_totals(s[::-1, ::-1], absent)[::-1, ::-1]
    log_p: Matrix = s + forward[:-1, :-1] + backward[1:, 1:] - forward[-1, -1]
    return np.exp(log_p)


def _log_totals(s: Matrix, absent: float) -> Matrix:
    """log D, (L + 1, K + 1): row l for the first l units, column k for the first k steps."""
    n_units, n_steps = s.shape
    totals = np.zeros((n_units + 1, n_steps + 1))
    for k in range(n_steps):
        totals[:, k + 1] = totals[:, k] + absent
        mentioned = np.logaddexp.accumulate(s[:, k] + totals[:-1, k])
        totals[1:, k + 1] = np.logaddexp(totals[1:, k + 1], mentioned)
    return totals
