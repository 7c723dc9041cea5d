"""How likely each piece of speech is the mention of each step, when steps come in order and any of them may go unmentioned.

    weight of an ordered choice = prod over mentioned steps of exp(s[l_k, k]) * prod over the others of exp(absent)
    R[l, k] = R[l-1, k] + exp(s[l, k]) D[l-1, k-1]            choices whose step k is mentioned, at l or before
    D[l, k] = exp(absent) D[l, k-1] + R[l, k]                 all choices for steps up to k in pieces up to l
    P[l, k] = exp(s[l, k]) D[l-1, k-1] D'[l+1, k+1] / D[L, K]

D' is D of the reversed problem. Everything is kept as logarithms; a column sums to the probability that the step is mentioned.
"""

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float64]


def mention_marginals(score: Matrix, absent: float) -> Matrix:
    """P (L, K) that piece l mentions step k; `absent` is the log weight of a step that is not mentioned.

    >>> mention_marginals(np.log([[3.0], [1.0]]), absent=np.log(1.0)).round(2).tolist()
    [[0.6], [0.2]]
    """
    s = np.asarray(score, dtype=np.float64)
    before = _totals(s, absent)  # (L + 1, K + 1)
    after = _totals(s[::-1, ::-1], absent)[::-1, ::-1]
    log_p: Matrix = s + before[:-1, :-1] + after[1:, 1:] - before[-1, -1]
    return np.exp(log_p)


def _totals(s: Matrix, absent: float) -> Matrix:
    """log D, (L + 1, K + 1): row l for the first l pieces, column k for the first k steps."""
    n_pieces, n_steps = s.shape
    totals = np.zeros((n_pieces + 1, n_steps + 1))
    for k in range(n_steps):
        totals[:, k + 1] = totals[:, k] + absent
        mentioned = np.logaddexp.accumulate(s[:, k] + totals[:-1, k])
        totals[1:, k + 1] = np.logaddexp(totals[1:, k + 1], mentioned)
    return totals
