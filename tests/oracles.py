"""Slow, obviously right twins of what the package computes fast."""

from collections.abc import Iterator
from itertools import combinations, permutations, product

import numpy as np

# ---- inference: by enumeration -------------------------------------------------------------------------


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


def all_orders_with_swaps(K: int) -> Iterator[tuple[int, ...]]:
    """Every order of K steps that differs from the list by disjoint swaps of neighbours."""
    for order in permutations(range(K)):
        if all(order[k] == k or (abs(order[k] - k) == 1 and order[order[k]] == k) for k in range(K)):
            yield order


def best_swapped_times_by_enumeration(cost: np.ndarray) -> tuple[int, ...] | None:
    """The cheapest times up to swaps; among equals, from the last placement back: the earlier, then the listed order."""
    T, K = cost.shape
    choices = []
    for order in all_orders_with_swaps(K):
        for moments in all_increasing_times(T, K):
            times = tuple(moments[order.index(k)] for k in range(K))
            tie = [(moments[i], order[i] < i) for i in reversed(range(K))]  # a step that comes late closes a swap
            choices.append((cost_of_times(cost, times), tie, times))
    least = min(choices, default=(np.inf, [], ()))
    return least[2] if least[0] < np.inf else None


def best_paying_times_by_enumeration(cost: np.ndarray, absence: np.ndarray) -> tuple[int, ...] | None:
    """The cheapest times with -1 for absent steps; among equals the smallest read from the last step."""
    T, K = cost.shape
    choices = []
    for times in product(range(-1, T), repeat=K):
        placed = [t for t in times if t >= 0]
        if placed == sorted(set(placed)):
            price = sum(cost[t, k] if t >= 0 else absence[k] for k, t in enumerate(times))
            choices.append((float(price), times[::-1]))
    least = min(choices)
    return least[1][::-1] if least[0] < np.inf else None


def ordered_ceiling_by_enumeration(truth: np.ndarray) -> int:
    """The most hits over every subset of steps and every choice of increasing times for it."""
    T, K = truth.shape
    return max(
        sum(int(truth[t, k]) for k, t in zip(steps, times, strict=True))
        for size in range(min(T, K) + 1)
        for steps in combinations(range(K), size)
        for times in combinations(range(T), size)
    )
