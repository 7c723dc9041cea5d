"""The component model, Eq. (1): a step scores the average of its components.

    g(x) = W x + b                        (M,)   one linear classifier per component
    f(x) = Â g(x)                         (K,)   Â = A with rows divided by their sums
    F_tk = -log softmax(f(x_t))_k         (T, K) the cost of giving segment t to step k, Eq. (3)

Parameters are one array (M, D + 1): W with b as its last column, so that a component is a row.
"""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.floating]


def initial_parameters(n_components: int, n_dimensions: int, rng: np.random.Generator) -> npt.NDArray[np.float32]:
    """(M, D + 1) uniform in +-1/sqrt(D), as the published code starts."""
    bound = 1 / np.sqrt(n_dimensions)
    return rng.uniform(-bound, bound, size=(n_components, n_dimensions + 1)).astype(np.float32)


def component_scores(features: Floats, parameters: Floats) -> Floats:
    """g: (T, D), (M, D + 1) -> (T, M)."""
    return features @ parameters[:, :-1].T + parameters[:, -1]


def step_scores(scores_of_components: Floats, components_of_step: Floats) -> Floats:
    """Eq. (1): a step scores the average of its components; (T, M), (K, M) -> (T, K).

    >>> step_scores(np.array([[1.0, 3.0]]), np.array([[1, 1], [0, 1]]))
    array([[2., 3.]])
    """
    A = components_of_step / np.maximum(components_of_step.sum(axis=1, keepdims=True), 1)  # (K, M), rows sum to 1
    return scores_of_components @ A.T  # (T, M)(M, K) -> (T, K)


def log_softmax(f: Floats) -> Floats:
    """(T, K) log-probabilities over the steps of each segment."""
    shifted = f - f.max(axis=1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


def gradient_norms(f: Floats, averaging: Floats, squared_norms: Floats) -> Floats:
    """Squared norm of the gradient of F_tk with respect to (W, b): (T, K).

    With p = softmax(f_t): ‖Âᵀ(p - e_k)‖² (‖x_t‖² + 1), and ‖Âᵀ(p - e_k)‖² = pᵀGp - 2 (Gp)_k + G_kk for G = ÂÂᵀ.
    """
    p = np.exp(log_softmax(f))
    G = averaging @ averaging.T  # (K, K)
    Gp = p @ G
    spread = (p * Gp).sum(axis=1, keepdims=True) - 2 * Gp + np.diag(G)
    return spread * (squared_norms + 1)[:, None]


def upper_bound_cost(f: Floats, averaging: Floats, squared_norms: Floats, learning_rate: float) -> Floats:
    """Eq. (17): F - delta/2 ‖grad F‖², the linear problem for Y; (T, K)."""
    return -log_softmax(f) - 0.5 * learning_rate * gradient_norms(f, averaging, squared_norms)
