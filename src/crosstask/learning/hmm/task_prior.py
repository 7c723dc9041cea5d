"""The prior of a task's hidden Markov model: where in a video each step tends to lie, how long it lasts, and how often it occurs.

Times are relative to the video's length T, so that videos of different lengths share one prior.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.floating]
N_BINS = 20  # of relative time, for the position histogram
_SMOOTHING_BINS = 1.5  # deviation of the Gaussian that smooths it
_PSEUDO_VIDEOS = 10.0  # weight of the initial prior, in videos
INITIAL_PRESENCE = 0.7  # 31 % of the steps are missing in CrossTask (paper, Table S2)
_INITIAL_BACKGROUND = 0.3  # share of a video
_INITIAL_SPREAD = 0.5  # deviation of a step's initial position, in units of 1 / sqrt(K) of the video; chosen
_SPACING_DEVIATION = 0.5  # of the Gaussians of even spacing, in parts T / K; chosen
_PRESENCE_RANGE = (0.05, 0.98)  # no step is certain or impossible
_SHORTEST_BACKGROUND = 0.01  # mean duration of a background interval, as a share of T
_POSITION_PSEUDO_COUNT = 0.2  # videos' worth of uniform position
_POSITION_FLOOR = 1e-3  # added to the initial density, so that no position is impossible
_SHORTEST_DURATION = 1.01  # segments; keeps self-transitions positive
P_BACKGROUND = 0.5  # probability that background, rather than the next step, follows a step
P_BACKWARD = 0.05  # in loose order, probability that an earlier step of the list follows; 0.02 to 0.2 score alike
BACKWARD_REACH = 0.5  # an earlier step one place farther back is so many times as likely; 0.8 scores alike


class PositionWeight(NamedTuple):
    """How much the position prior counts against the features, whose seconds are correlated.

    The log-density of the position is multiplied by min(largest, segments * K / T): of a step's share of the video, T / K segments,
    `segments` count as independent.
    """

    segments: float
    largest: float


TRAINING_WEIGHT = PositionWeight(4.0, 0.3)  # a larger weight would keep the labels near the initial even spacing
DECODING_WEIGHT = PositionWeight(10.0, 0.5)  # the positions are estimated by now
UNSEEN_TASK_WEIGHT = PositionWeight(10.0, 1.0)  # for a task without training videos, position is most of what is known


@dataclass(frozen=True)
class TaskPrior:
    """Of one task: density of each class over relative time (bins, K + 1), mean durations as shares of T, and presence (K,)."""

    position: Floats
    duration: Floats
    background_duration: float
    presence: Floats
    trained: bool = True

    def position_log_ratios(self, n_segments: int, weight: PositionWeight = TRAINING_WEIGHT) -> Floats:
        """(T, K + 1) weighted log-density of each class at each segment, interpolated between bins."""
        low, high, share = _neighbouring_bins(n_segments)
        factor = min(weight.largest, weight.segments * len(self.duration) / n_segments)
        return factor * np.log((1 - share) * self.position[low] + share * self.position[high])

    def self_transition(self, n_segments: int) -> Floats:
        """(K,) probability that a step lasts for another segment, in a video of T segments."""
        return 1 - 1 / np.maximum(self.duration * n_segments, _SHORTEST_DURATION)

    def background_self_transition(self, n_segments: int) -> float:
        """Probability that background lasts for another segment."""
        return 1 - 1 / max(self.background_duration * n_segments, _SHORTEST_DURATION)


@lru_cache(maxsize=4096)  # lengths; a video has the same one in every iteration
def _neighbouring_bins(n_segments: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Of each of T segments: the bins whose middles are next to its middle (T,) twice, and the share of the second one (T, 1)."""
    at = (np.arange(n_segments) + 0.5) / n_segments * N_BINS - 0.5
    low = np.clip(np.floor(at).astype(np.int64), 0, N_BINS - 1)
    return low, np.clip(low + 1, 0, N_BINS - 1), np.clip(at - low, 0, 1)[:, None]


def initial_prior(n_steps: int) -> TaskPrior:
    """The prior without any video: steps evenly spaced, with Gaussian positions."""
    at = (np.arange(N_BINS) + 0.5) / N_BINS
    centres = (np.arange(n_steps) + 0.5) / n_steps
    density = np.exp(-0.5 * ((at[:, None] - centres) / (_INITIAL_SPREAD / np.sqrt(n_steps))) ** 2)
    density = np.hstack([density, np.ones((N_BINS, 1))])
    return TaskPrior(
        position=density / density.mean(axis=0) + _POSITION_FLOOR,
        duration=np.full(n_steps, _initial_duration(n_steps)),
        background_duration=_INITIAL_BACKGROUND / (P_BACKGROUND * (n_steps + 1)),
        presence=np.full(n_steps, INITIAL_PRESENCE),
    )


def even_spacing(n_segments: int, n_steps: int) -> Floats:
    """(T, K) probabilities of even spacing: Gaussians around the middles of the K parts of a video, with a deviation of half a part.

    >>> even_spacing(6, 2).argmax(axis=0).tolist()
    [1, 4]
    """
    middles = (np.arange(n_steps) + 0.5) * n_segments / n_steps
    distance = (np.arange(n_segments)[:, None] + 0.5 - middles) / (_SPACING_DEVIATION * n_segments / n_steps)
    density = np.exp(-0.5 * distance**2)
    return density / np.maximum(density.sum(axis=1, keepdims=True), 1)


def _initial_duration(n_steps: int) -> float:
    """Mean duration of a step as a share of T, when K steps of equal presence fill all but the background."""
    return (1 - _INITIAL_BACKGROUND) / n_steps / INITIAL_PRESENCE


@dataclass
class PriorCounts:
    """Sufficient statistics of a task's soft labels: time by bin (bins, K + 1), expected number of step intervals (K,), videos."""

    histogram: Floats
    starts: Floats
    videos: int = 0

    def add(self, labels: Floats, starts: Floats) -> None:
        """Add one video: labels (T, K + 1) with background last, and the expected number of intervals of each step (K,)."""
        n_segments = len(labels)
        bins = np.minimum((np.arange(n_segments) + 0.5) / n_segments * N_BINS, N_BINS - 1).astype(int)
        in_bin = (np.arange(N_BINS)[:, None] == bins).astype(np.float64)  # (bins, T)
        self.histogram += in_bin @ labels / n_segments
        self.starts += starts
        self.videos += 1


def zero_counts(n_steps: int) -> PriorCounts:
    """The counts of no video."""
    return PriorCounts(np.zeros((N_BINS, n_steps + 1)), np.zeros(n_steps))


def update_prior(counts: PriorCounts, before: TaskPrior) -> TaskPrior:
    """The prior estimated from soft labels, shrunk towards the initial one where there are few videos; `before` where there is none."""
    if counts.videos == 0:
        return before
    n_steps = len(counts.starts)
    time_in_class = counts.histogram.sum(axis=0)
    smooth = _smoothed(counts.histogram)
    n_background_intervals = P_BACKGROUND * (
        INITIAL_PRESENCE * n_steps + 1
    )  # expected: before, between and after the steps shown
    presence = (counts.starts + _PSEUDO_VIDEOS * INITIAL_PRESENCE) / (counts.videos + _PSEUDO_VIDEOS)
    return replace(
        before,
        position=(smooth + _POSITION_PSEUDO_COUNT / N_BINS) / (smooth.sum(axis=0) + _POSITION_PSEUDO_COUNT) * N_BINS,
        duration=(time_in_class[:n_steps] + _PSEUDO_VIDEOS * _initial_duration(n_steps)) / (counts.starts + _PSEUDO_VIDEOS),
        background_duration=max(time_in_class[n_steps] / counts.videos / n_background_intervals, _SHORTEST_BACKGROUND),
        presence=np.clip(presence, *_PRESENCE_RANGE),
    )


def _smoothed(histogram: Floats) -> Floats:
    """Columns convolved with a Gaussian over neighbouring bins, mirrored at the ends."""
    reach = int(3 * _SMOOTHING_BINS)
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) / _SMOOTHING_BINS) ** 2)
    padded = np.vstack([histogram[:reach][::-1], histogram, histogram[-reach:][::-1]])
    return np.array([np.convolve(column, kernel / kernel.sum(), "valid") for column in padded.T]).T
