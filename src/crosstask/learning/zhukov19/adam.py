"""Exact lazy Adam: a parameter row without gradient is updated only when it is next needed, in closed form.

After s steps without gradient a dense Adam would have done, for j = 1..s at times n + j,

    m <- b1^s m,  v <- b2^s v,
    w <- w - lr * sum_j c_j m / (sqrt(v) / u_j + eps),     c_j = b1^j / (1 - b1^(n+j)),   u_j = sqrt((1 - b2^(n+j)) / b2^j)
       = w - lr * m * sum_j c_j u_j / (sqrt(v) + eps u_j).

The sum has no closed form because of eps. But it is the integral of a smooth function of u against the discrete measure that puts c_j at u_j,
the same for all elements of a row. Where eps is negligible the function is linear in u, where eps dominates it is constant, and both
are exact with one node; a Gauss rule of two nodes is exact to single precision in between, at any size of gradient.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from crosstask.inference.compiled import compiled_with_reordered_sums

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8  # Kingma and Ba, as in the published code
_NEGLIGIBLE_STEPS = 170  # 0.9^170 < 2e-8: later steps without gradient change nothing in single precision
Floats = npt.NDArray[np.float32]


class AdamState(NamedTuple):
    """Moments (M, D + 1), the step each row is up to date with (M,), and the number of steps taken, (1,)."""

    first: Floats
    second: Floats
    current: npt.NDArray[np.int64]
    taken: npt.NDArray[np.int64]


def fresh_adam(shape: tuple[int, int]) -> AdamState:
    """The state before the first step."""
    return AdamState(
        np.zeros(shape, np.float32), np.zeros(shape, np.float32), np.zeros(shape[0], np.int64), np.zeros(1, np.int64)
    )


@compiled_with_reordered_sums
def gauss_rule(n: int, s: int, nodes: npt.NDArray[np.float64], weights: npt.NDArray[np.float64]) -> None:
    """The two-node Gauss rule of the measure {c_j at u_j}, j = 1..s, after n steps, from its first four moments."""
    power1, power2 = 1.0, 1.0
    late1, late2 = BETA1**n, BETA2**n
    total, m1, m2, m3 = 0.0, 0.0, 0.0, 0.0
    centre = np.sqrt((1 - late2 * BETA2) / BETA2)  # u_1: moments about it do not cancel
    for _ in range(min(s, _NEGLIGIBLE_STEPS)):
        power1 *= BETA1
        power2 *= BETA2
        c = power1 / (1 - late1 * power1)
        away = np.sqrt((1 - late2 * power2) / power2) - centre
        total += c
        m1 += c * away
        m2 += c * away * away
        m3 += c * away * away * away
    m1, m2, m3 = m1 / total, m2 / total, m3 / total
    spread = m2 - m1 * m1
    if spread <= 1e-14 * centre * centre:  # one place: one node is exact
        nodes[0], nodes[1] = centre + m1, centre + m1
        weights[0], weights[1] = total, 0.0
        return
    skew = (m3 - 3 * m1 * m2 + 2 * m1**3) / spread
    reach = np.sqrt(skew * skew + 4 * spread)
    nodes[0], nodes[1] = centre + m1 + 0.5 * (skew - reach), centre + m1 + 0.5 * (skew + reach)
    weights[1] = total * (0.5 - 0.5 * skew / reach)
    weights[0] = total - weights[1]


@compiled_with_reordered_sums
def catch_up(
    w: Floats,
    first: Floats,
    second: Floats,
    s: int,
    nodes: npt.NDArray[np.float64],
    weights: npt.NDArray[np.float64],
    rate: float,
) -> None:
    """Apply s steps without gradient to one row, given their Gauss rule."""
    a0, a1 = np.float32(rate * weights[0] * nodes[0]), np.float32(rate * weights[1] * nodes[1])
    e0, e1 = np.float32(EPSILON * nodes[0]), np.float32(EPSILON * nodes[1])
    decay1, decay2 = np.float32(BETA1**s), np.float32(BETA2**s)
    for d in range(w.size):
        root = np.sqrt(second[d])
        r0, r1 = root + e0, root + e1
        w[d] -= first[d] * (a0 * r1 + a1 * r0) / (r0 * r1)  # a0 / r0 + a1 / r1 with one division
        first[d] *= decay1
        second[d] *= decay2


@compiled_with_reordered_sums
def adam_row(w: Floats, first: Floats, second: Floats, gradient: Floats, n: int, learning_rate: float) -> None:
    """Step n (counted from 1) of Adam on one row that is up to date with step n - 1."""
    rate = np.float32(learning_rate * np.sqrt(1 - BETA2**n) / (1 - BETA1**n))
    eps = np.float32(EPSILON * np.sqrt(1 - BETA2**n))
    b1, b2 = np.float32(BETA1), np.float32(BETA2)
    r1, r2 = np.float32(1 - BETA1), np.float32(1 - BETA2)
    for d in range(w.size):
        g = gradient[d]
        m = b1 * first[d] + r1 * g
        v = b2 * second[d] + r2 * g * g
        first[d] = m
        second[d] = v
        w[d] -= rate * m / (np.sqrt(v) + eps)


@compiled_with_reordered_sums
def bring_up_to_date(parameters: Floats, state: AdamState, rows: npt.NDArray[np.int64], learning_rate: float) -> None:
    """Catch some rows up with all the steps that were taken without them; rows left at the same step share a rule."""
    nodes = np.empty(2)
    weights = np.empty(2)
    n = state.taken[0]
    ruled = -1
    for row in rows:
        since = state.current[row]
        if since < n and since > 0:  # before its first gradient a row has nothing to decay
            if since != ruled:
                gauss_rule(since, n - since, nodes, weights)
                ruled = since
            catch_up(parameters[row], state.first[row], state.second[row], n - since, nodes, weights, learning_rate)
        if since > 0:
            state.current[row] = n
