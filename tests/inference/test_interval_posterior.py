"""The posterior of anchored intervals against enumeration of every path."""

from itertools import pairwise, product

import numpy as np
import pytest

from crosstask.inference.interval_posterior import interval_posterior


def enumerated(L, R, mean_duration, background_self_transition, p_background, presence):
    """Inside, anchors, log-likelihood by summing over all placements of intervals and anchors."""
    T, K = R.shape
    stay = 1 - 2 / np.maximum(np.asarray(mean_duration) + 1, 2.02)
    inside, anchors, total = np.zeros((T, K)), np.zeros((T, K)), 0.0
    spans = [None] + [(a, b) for a in range(T) for b in range(a + 1, T + 1)]
    for choice in product(spans, repeat=K):
        shown = [(k, *span) for k, span in enumerate(choice) if span is not None]
        if any(first[2] > second[1] for first, second in pairwise(shown)):
            continue
        weight = prior_of(shown, T, K, stay, background_self_transition, p_background, presence)
        labels = np.full(T, K)
        for k, a, b in shown:
            labels[a:b] = k
        weight *= np.exp(L[np.arange(T), labels].sum())
        for where in product(*[range(a, b) for _, a, b in shown]):
            w = weight * np.exp(sum(R[t, k] for t, (k, _, _) in zip(where, shown, strict=True)))
            total += w
            for t, (k, a, b) in zip(where, shown, strict=True):
                inside[a:b, k] += w
                anchors[t, k] += w
    return inside / total, anchors / total, np.log(total)


def prior_of(shown, T, K, stay, background_self_transition, p_background, presence):
    """Probability of the path, an anchor in one given second of each interval."""
    p, at, after = 1.0, 0, 0
    for n, (k, a, b) in enumerate(shown):
        gap = a - at
        p *= p_background if gap else 1 - p_background
        if gap:
            p *= background_self_transition ** (gap - 1) * (1 - background_self_transition)
        p *= np.prod([1 - presence[j] for j in range(after, k)]) * presence[k]
        p *= stay[k] ** (b - a - 1) * (1 - stay[k])
        if b < T or n + 1 < len(shown):
            p *= 1 - stay[k]
        at, after = b, k + 1
    skipped = np.prod([1 - presence[j] for j in range(after, K)])
    if at < T:
        p *= p_background * background_self_transition ** (T - at - 1)
    return p * skipped


@pytest.mark.parametrize("seed", range(4))
def test_equals_enumeration(seed):
    rng = np.random.default_rng(seed)
    T, K = 5, 2
    L, R = rng.normal(size=(T, K + 1)), rng.normal(size=(T, K))
    setting = (L, R, [2.0, 3.0], 0.6, 0.4, np.array([0.7, 0.5]))
    found, expected = interval_posterior(*setting), enumerated(*setting)
    np.testing.assert_allclose(found.in_step, expected[0], atol=1e-9)
    np.testing.assert_allclose(found.anchors, expected[1], atol=1e-9)
    assert found.log_likelihood == pytest.approx(expected[2], abs=1e-9)


def test_a_window_counts_once_however_long_the_interval():
    T = 40
    L = np.zeros((T, 2))
    for length in (3.0, 20.0):
        flat = interval_posterior(L, np.zeros((T, 1)), [length], 0.9, 0.5, [0.5])
        narrated = interval_posterior(L, np.full((T, 1), 2.0), [length], 0.9, 0.5, [0.5])
        odds = [p.p_shown[0] / (1 - p.p_shown[0]) for p in (flat, narrated)]
        assert odds[1] / odds[0] == pytest.approx(np.exp(2.0), rel=1e-6)


def test_refuses_shapes_that_do_not_fit():
    with pytest.raises(ValueError, match="do not fit 2 steps"):
        interval_posterior(np.zeros((5, 3)), np.zeros((5, 1)), [1.0, 1.0], 0.5, 0.5, [0.5, 0.5])
    with pytest.raises(ValueError, match="NaN"):
        interval_posterior(np.zeros((5, 2)), np.full((5, 1), np.nan), [1.0], 0.5, 0.5, [0.5])
