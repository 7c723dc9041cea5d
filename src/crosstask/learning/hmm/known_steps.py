"""Hard labels in the hidden Markov model: what a person says about some steps of a video is certain, the rest stays hidden.

A label enters the emissions as evidence that no feature outweighs: in a segment that certainly lies in a step all other states are excluded, and a step is
excluded from segments where it certainly is not. The posterior of the remaining steps is then conditional on the labels. Labels may contradict the order
of the list, or repeat a step; then the posterior is that of loose order (`inference/loose_order_posterior.py`).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.floating]
_EXCLUDED = -60.0  # log-ratio of an excluded state; beyond the floor of the emissions nothing changes


@dataclass(frozen=True)
class KnownSteps:
    """Of one video: segments certainly in a step (T, K), segments certainly not in a step (T, K), and which steps have a label (K,)."""

    inside: npt.NDArray[np.bool_]
    outside: npt.NDArray[np.bool_]
    labelled: npt.NDArray[np.bool_]

    @cached_property
    def complete(self) -> npt.NDArray[np.bool_]:
        """(K,) steps of which every segment is known."""
        return np.asarray((self.inside | self.outside).all(axis=0))

    @cached_property
    def log_ratios(self) -> npt.NDArray[np.float64]:
        """(T, K + 1) evidence of the labels, background last."""
        decided = self.inside.any(axis=1, keepdims=True)
        excluded = self.outside | (decided & ~self.inside)
        return np.where(np.hstack([excluded, decided]), _EXCLUDED, 0.0)

    @cached_property
    def in_order(self) -> bool:
        """True if the labels can be explained by steps in list order, each as one interval."""
        previous_end = -1
        for step in np.flatnonzero(self.inside.any(axis=0)):
            segments = np.flatnonzero(self.inside[:, step])
            if segments[0] < previous_end or self.outside[segments[0] : segments[-1] + 1, step].any():
                return False
            previous_end = segments[-1]
        return True

    def impose(self, in_step: Floats) -> npt.NDArray[np.float64]:
        """Probabilities (T, K) with the certain segments set to 1 and 0; segments that two steps share are divided between them."""
        imposed = np.where(self.outside, 0.0, in_step)
        decided = self.inside.any(axis=1)
        imposed[decided] = self.inside[decided]
        return np.asarray(imposed / np.maximum(imposed.sum(axis=1, keepdims=True), 1))


def start_probabilities(known: KnownSteps, starts: Floats) -> npt.NDArray[np.float64]:
    """(K,) probability that each step is shown: 1 or 0 where a label says so, otherwise `starts`."""
    return np.where(known.labelled, known.inside.any(axis=0), starts).astype(np.float64)
