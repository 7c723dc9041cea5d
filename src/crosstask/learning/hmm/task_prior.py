"""When steps happen in the videos of a task, and for how long, as far as the labels so far tell: the prior of the run model."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.floating]
N_BINS = 20
_SMOOTH_BINS = 1.5
_PSEUDO_VIDEOS = 10.0  # how many videos the first guess weighs
_FIRST_PRESENCE, _FIRST_BACKGROUND = 0.7, 0.3
PAUSE = 0.5  # after a step comes background, or the next step at once


class PositionWeight(NamedTuple):
    """What the place in the video counts for: of one step's share of a video, T / K seconds, so many count as one; at most `largest`."""

    seconds: float
    largest: float


LEARNING = PositionWeight(4.0, 0.3)  # more would keep the first guess of where steps lie alive
FINDING = PositionWeight(10.0, 0.5)  # what was learnt of places may be used to the full
FINDING_UNSEEN = PositionWeight(10.0, 1.0)  # of a task never trained, position is most of what is known


@dataclass(frozen=True)
class TaskPrior:
    """Of one task: where each class lies in relative time (bins, K + 1), run lengths and background length as shares of T, and presence."""

    position: Floats
    length: Floats
    background_length: float
    presence: Floats
    trained: bool = True

    def position_log_ratios(self, n_segments: int, counts: PositionWeight = LEARNING) -> Floats:
        """(T, K + 1) log-ratios from the place in the video alone, weighed down as seconds are not independent."""
        at = (np.arange(n_segments) + 0.5) / n_segments * N_BINS - 0.5
        low = np.clip(np.floor(at).astype(int), 0, N_BINS - 1)
        high = np.clip(low + 1, 0, N_BINS - 1)
        share = np.clip(at - low, 0, 1)[:, None]
        weight = min(counts.largest, counts.seconds * len(self.length) / n_segments)
        return weight * np.log((1 - share) * self.position[low] + share * self.position[high])

    def stay(self, n_segments: int) -> Floats:
        """(K,) probability that a run goes on for another segment."""
        return 1 - 1 / np.maximum(self.length * n_segments, 1.01)

    def background_self_transition(self, n_segments: int) -> float:
        """Probability that background goes on for another segment."""
        return 1 - 1 / max(self.background_length * n_segments, 1.01)


def initial_prior(n_steps: int) -> TaskPrior:
    """Before anything is known: steps at even distances, each place blurred."""
    at = (np.arange(N_BINS) + 0.5) / N_BINS
    centres = (np.arange(n_steps) + 0.5) / n_steps
    bumps = np.exp(-0.5 * ((at[:, None] - centres) / (0.5 / np.sqrt(n_steps))) ** 2)
    bumps = np.hstack([bumps, np.ones((N_BINS, 1))])
    return TaskPrior(
        position=bumps / bumps.mean(axis=0) + 1e-3,
        length=np.full(n_steps, (1 - _FIRST_BACKGROUND) / n_steps / _FIRST_PRESENCE),
        background_length=2 * _FIRST_BACKGROUND / (n_steps + 1),
        presence=np.full(n_steps, _FIRST_PRESENCE),
    )


@dataclass
class PriorCounts:
    """Soft labels of a task's videos, gathered: time by bin (bins, K + 1), runs begun (K,), videos."""

    histogram: Floats
    begun: Floats
    videos: int = 0

    def add(self, labels: Floats, begun: Floats) -> None:
        """Count one video: labels (T, K + 1) with background last, expected number of runs of each step (K,)."""
        n_segments = len(labels)
        bins = np.minimum((np.arange(n_segments) + 0.5) / n_segments * N_BINS, N_BINS - 1).astype(int)
        np.add.at(self.histogram, bins, labels / n_segments)
        self.begun += begun
        self.videos += 1


def zero_counts(n_steps: int) -> PriorCounts:
    """Before the first video."""
    return PriorCounts(np.zeros((N_BINS, n_steps + 1)), np.zeros(n_steps))


def update_prior(counts: PriorCounts, before: TaskPrior) -> TaskPrior:
    """The habits that the labels show, leaning on the first guess where there are few videos."""
    if counts.videos == 0:
        return before
    n_steps = len(counts.begun)
    share_of_time = counts.histogram.sum(axis=0)
    smooth = _smoothed(counts.histogram)
    first_length = (1 - _FIRST_BACKGROUND) / n_steps / _FIRST_PRESENCE
    return replace(
        before,
        position=(smooth + 0.2 / N_BINS) / (smooth.sum(axis=0) + 0.2) * N_BINS,
        length=(share_of_time[:n_steps] + _PSEUDO_VIDEOS * first_length) / (counts.begun + _PSEUDO_VIDEOS),
        background_length=max(2 * share_of_time[n_steps] / counts.videos / (0.7 * n_steps + 1), 0.01),
        presence=np.clip((counts.begun + _PSEUDO_VIDEOS * _FIRST_PRESENCE) / (counts.videos + _PSEUDO_VIDEOS), 0.05, 0.98),
    )


def _smoothed(histogram: Floats) -> Floats:
    """Columns blurred over neighbouring bins, mirrored at the ends."""
    reach = int(3 * _SMOOTH_BINS)
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) / _SMOOTH_BINS) ** 2)
    padded = np.vstack([histogram[:reach][::-1], histogram, histogram[-reach:][::-1]])
    return np.array([np.convolve(column, kernel / kernel.sum(), "valid") for column in padded.T]).T
