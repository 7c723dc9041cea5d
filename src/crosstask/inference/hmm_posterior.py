"""How likely each segment lies in each step, when steps come in order, each at most once as one run, with background before, between and after.

A walk over the segments: background or a step. A run of step k goes on with probability `stay[k]`; a stretch of background goes on with
`background_self_transition`; after a run comes background with probability `pause`, else the next step at once. At every junction the steps that may come
next are tried in order: step k is shown with probability `presence[k]`, else passed over. Evidence is a log-likelihood ratio per segment
and state. Forward-backward with scaling, O(KT).
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from crosstask.inference.compiled import compiled
from crosstask.inference.validation import Floats

_LEAST = 1e-30  # no segment rules a state out for good
_TINY = 1e-290  # evidence so contradictory that nothing is left of any state


class HmmPosterior(NamedTuple):
    """P(segment in step) (T, K), P(a run of the step starts here) (T, K), and the log-likelihood ratio of the video."""

    inside: npt.NDArray[np.float64]
    starts: npt.NDArray[np.float64]
    log_likelihood: float

    @property
    def shown(self) -> npt.NDArray[np.float64]:
        """Probability that each step is shown at all, (K,)."""
        return self.starts.sum(axis=0)


def hmm_posterior(
    evidence: npt.ArrayLike, stay: npt.ArrayLike, background_self_transition: float, pause: float, presence: npt.ArrayLike
) -> HmmPosterior:
    """The posterior of ordered runs; evidence (T, K + 1) has background last, stay and presence are (K,) probabilities.

    >>> clear = np.full((6, 3), -5.0)
    >>> clear[[1, 2], 0] = clear[4, 1] = clear[[0, 3, 5], 2] = 5.0
    >>> hmm_posterior(clear, [0.5, 0.5], 0.5, 0.5, [0.7, 0.7]).inside.round().astype(int).argmax(axis=0).tolist()
    [1, 4]
    """
    L = np.ascontiguousarray(evidence, dtype=np.float64)
    stay, presence = np.asarray(stay, dtype=np.float64), np.asarray(presence, dtype=np.float64)
    if L.ndim != 2 or L.shape[1] != len(stay) + 1 or len(stay) != len(presence) or len(L) == 0:
        raise ValueError(f"evidence {L.shape} does not fit {len(stay)} steps; expected (T, {len(stay) + 1}) with T at least 1")
    if np.isnan(L).any():
        raise ValueError("evidence holds NaN")
    inside, starts, log_likelihood = hmm_posterior_kernel(L, stay, background_self_transition, pause, presence)
    return HmmPosterior(inside, starts, float(log_likelihood))


@compiled
def hmm_posterior_kernel(
    L: Floats, stay: Floats, background_self_transition: float, pause: float, presence: Floats
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64], float]:
    """Inside (T, K), starts (T, K), log-likelihood; for compiled callers, nothing is checked."""
    T, K = L.shape[0], L.shape[1] - 1
    E, log_likelihood = _likelihoods(L)
    step, rest = np.zeros((T, K)), np.zeros((T, K + 1))  # forward: in a run of k; in background after k steps
    junction, scale = np.zeros((T, K + 1)), np.zeros(T)
    for t in range(T):
        at_junction = 1 - pause if t == 0 else 0.0
        for k in range(K + 1):
            if t == 0:
                resting = pause if k == 0 else 0.0
            else:
                ended = step[t - 1, k - 1] * (1 - stay[k - 1]) if k > 0 else 0.0
                resting = rest[t - 1, k] * background_self_transition + ended * pause
                at_junction += rest[t - 1, k] * (1 - background_self_transition) + ended * (1 - pause)
            rest[t, k] = resting * E[t, K]
            scale[t] += rest[t, k]
            junction[t, k] = at_junction
            if k < K:
                arriving = at_junction * presence[k] + (step[t - 1, k] * stay[k] if t > 0 else 0.0)
                step[t, k] = arriving * E[t, k]
                scale[t] += step[t, k]
                at_junction *= 1 - presence[k]
        for k in range(K + 1):
            rest[t, k] /= scale[t]
        for k in range(K):
            step[t, k] /= scale[t]
        log_likelihood += np.log(scale[t])
    step_after, rest_after = _backward(E, stay, background_self_transition, pause, presence)
    ending = 0.0
    for k in range(K + 1):
        ending += rest[T - 1, k] * rest_after[T - 1, k]
    for k in range(K):
        ending += step[T - 1, k] * step_after[T - 1, k]
    starts = np.zeros((T, K))
    for t in range(T):
        total = 0.0
        for k in range(K + 1):
            total += rest[t, k] * rest_after[t, k]
        for k in range(K):
            total += step[t, k] * step_after[t, k]
        total = max(total, _TINY)
        for k in range(K):
            starts[t, k] = junction[t, k] * presence[k] * E[t, k] * step_after[t, k] / scale[t] / total
            step[t, k] *= step_after[t, k] / total
    return step, starts, log_likelihood + np.log(max(ending, _TINY))


@compiled
def _likelihoods(L: Floats) -> tuple[npt.NDArray[np.float64], float]:
    """Evidence as numbers of at most 1 per segment, and the log of what was divided out."""
    E = np.empty(L.shape)
    taken_out = 0.0
    for t in range(L.shape[0]):
        highest = L[t].max()
        taken_out += highest
        for k in range(L.shape[1]):
            E[t, k] = np.exp(L[t, k] - highest) + _LEAST
    return E, taken_out


@compiled
def _backward(
    E: Floats, stay: Floats, background_self_transition: float, pause: float, presence: Floats
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """What is still to come, from a run of each step (T, K) and from background after k steps (T, K + 1), each segment up to a factor."""
    T, K = E.shape[0], E.shape[1] - 1
    step, rest = np.zeros((T, K)), np.zeros((T, K + 1))
    onward = np.zeros(K + 1)
    rest[T - 1, K] = 1.0
    for k in range(K - 1, -1, -1):  # the video may end when all remaining steps are passed over
        rest[T - 1, k] = rest[T - 1, k + 1] * (1 - presence[k])
    for k in range(K):
        step[T - 1, k] = rest[T - 1, k + 1]
    for t in range(T - 2, -1, -1):
        onward[K] = 0.0
        for k in range(K - 1, -1, -1):
            onward[k] = presence[k] * E[t + 1, k] * step[t + 1, k] + (1 - presence[k]) * onward[k + 1]
        for k in range(K + 1):
            rest[t, k] = background_self_transition * E[t + 1, K] * rest[t + 1, k] + (1 - background_self_transition) * onward[k]
        for k in range(K):
            left = pause * E[t + 1, K] * rest[t + 1, k + 1] + (1 - pause) * onward[k + 1]
            step[t, k] = stay[k] * E[t + 1, k] * step[t + 1, k] + (1 - stay[k]) * left
        largest = max(rest[t].max(), step[t].max(), _TINY)
        for k in range(K + 1):
            rest[t, k] /= largest
        for k in range(K):
            step[t, k] /= largest
    return step, rest
