"""Adam, exact and lazy: rows without gradient are left alone and brought up to date when they are next needed.

After s steps without gradient a dense Adam would have done, for j = 1..s at times n + j,

    m <- b1^s m,  v <- b2^s v,
    w <- w - lr * sum_j c_j m / (sqrt(v) / u_j + eps),     c_j = b1^j / (1 - b1^(n+j)),   u_j = sqrt((1 - b2^(n+j)) / b2^j)
       = w - lr * m * sum_j c_j u_j / (sqrt(v) + eps u_j).

The sum has no closed form because of eps. But it is the integral of a smooth function of u against the discrete measure that puts c_j at u_j,
the same for all elements of a row: a Gauss rule of that measure with a few nodes gives it to single precision, at any size of gradient.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from crosstask.learning.arithmetic import compiled

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8  # Kingma and Ba, as in the published code
N_NODES = 4
_FORGOTTEN = 220  # 0.9^220 < 1e-10: what happened before that moves nothing
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


@compiled
def quiet_rule(n: int, s: int, nodes: npt.NDArray[np.float64], weights: npt.NDArray[np.float64]) -> int:
    """Gauss nodes and weights of the measure {c_j at u_j}, j = 1..s, after n steps; how many there are.

    Lanczos on the diagonal matrix of the u_j (the Stieltjes procedure), then the eigenvalues of a tiny tridiagonal matrix.
    """
    length = min(s, _FORGOTTEN)
    if length <= N_NODES:
        for j in range(length):
            nodes[j], weights[j] = quiet_term(n, j + 1)
        return length
    u = np.empty(length)
    c = np.empty(length)
    total = 0.0
    for j in range(length):
        u[j], c[j] = quiet_term(n, j + 1)
        total += c[j]
    tridiagonal = np.zeros((N_NODES, N_NODES))
    previous = np.zeros(length)
    polynomial = np.sqrt(c / total)
    beta = 0.0
    for i in range(N_NODES):
        image = u * polynomial - beta * previous
        alpha = np.sum(image * polynomial)
        image -= alpha * polynomial
        tridiagonal[i, i] = alpha
        beta = np.sqrt(np.sum(image * image))
        if i + 1 < N_NODES:
            if beta < 1e-13 * alpha:  # the nodes found so far are exact
                return _rule_of(tridiagonal[: i + 1, : i + 1].copy(), total, nodes, weights)
            tridiagonal[i, i + 1] = tridiagonal[i + 1, i] = beta
            previous = polynomial
            polynomial = image / beta
    return _rule_of(tridiagonal, total, nodes, weights)


@compiled
def quiet_term(n: int, j: int) -> tuple[float, float]:
    """(u_j, c_j) of the j-th step without gradient after n steps."""
    decay2 = BETA2**j
    return np.sqrt((1 - BETA2 ** (n + j)) / decay2), BETA1**j / (1 - BETA1 ** (n + j))


@compiled
def _rule_of(
    tridiagonal: npt.NDArray[np.float64], total: float, nodes: npt.NDArray[np.float64], weights: npt.NDArray[np.float64]
) -> int:
    values, vectors = np.linalg.eigh(tridiagonal)
    for i in range(values.size):
        nodes[i] = values[i]
        weights[i] = total * vectors[0, i] ** 2
    return values.size


@compiled
def catch_up(w: Floats, first: Floats, second: Floats, n: int, s: int, learning_rate: float) -> None:
    """Do to one row what s steps without gradient after step n would have done."""
    if s <= 0 or n == 0:  # before its first gradient a row has nothing to decay
        return
    nodes = np.empty(N_NODES)
    weights = np.empty(N_NODES)
    found = quiet_rule(n, s, nodes, weights)
    a = np.zeros(N_NODES, np.float32)
    e = np.zeros(N_NODES, np.float32)
    for i in range(found):
        a[i] = learning_rate * weights[i] * nodes[i]
        e[i] = EPSILON * nodes[i]
    for i in range(found, N_NODES):  # empty places of a short rule: nothing over something
        e[i] = 1
    a0, a1, a2, a3 = a[0], a[1], a[2], a[3]
    e0, e1, e2, e3 = e[0], e[1], e[2], e[3]
    decay1, decay2 = np.float32(BETA1**s), np.float32(BETA2**s)
    for d in range(w.size):
        root = np.sqrt(second[d])
        w[d] -= first[d] * (a0 / (root + e0) + a1 / (root + e1) + a2 / (root + e2) + a3 / (root + e3))
        first[d] *= decay1
        second[d] *= decay2


@compiled
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


@compiled
def bring_up_to_date(parameters: Floats, state: AdamState, row: int, learning_rate: float) -> None:
    """Catch one row up with all the steps that were taken without it."""
    n = state.taken[0]
    if state.current[row] < n:
        catch_up(parameters[row], state.first[row], state.second[row], state.current[row], n - state.current[row], learning_rate)
        state.current[row] = n


@compiled
def bring_all_up_to_date(parameters: Floats, state: AdamState, learning_rate: float) -> None:
    """Catch every row up: what a dense Adam would hold now."""
    for row in range(parameters.shape[0]):
        bring_up_to_date(parameters, state, row, learning_rate)
