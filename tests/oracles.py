"""Slow, obviously right twins of what the package computes fast."""

from collections.abc import Iterator
from itertools import combinations

import numpy as np

# ---- ordering: every answer there is, one by one -------------------------------------------------------------------------


def all_increasing_times(T: int, K: int) -> Iterator[tuple[int, ...]]:
    """Every choice of K strictly increasing times out of T, in lexicographic order."""
    return combinations(range(T), K)


def cost_of_times(cost: np.ndarray, times: tuple[int, ...]) -> float:
    return float(sum(cost[t, k] for k, t in enumerate(times)))


def best_times_by_enumeration(cost: np.ndarray) -> tuple[int, ...] | None:
    """The lexicographically first of the cheapest increasing times; None when all are forbidden or there are none."""
    choices = [(cost_of_times(cost, times), times) for times in all_increasing_times(*cost.shape)]
    least = min(choices, default=(np.inf, ()))
    return least[1] if least[0] < np.inf else None


def once_marginals_by_enumeration(cost: np.ndarray) -> tuple[np.ndarray, float]:
    """Marginals (T, K) and the sum Z of the weights exp(-cost), from every increasing placement in turn."""
    total = np.zeros(cost.shape)
    Z = 0.0
    for times in all_increasing_times(*cost.shape):
        weight = np.exp(-cost_of_times(cost, times))
        Z += weight
        for k, t in enumerate(times):
            total[t, k] += weight
    return total / Z, Z
