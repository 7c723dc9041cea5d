"""Timelines of synthetic videos: which steps are shown, in which order, when and for how long. Most of a video is background.

The constants were measured on the annotations of the release unless they say otherwise.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crosstask.records import Interval, StepInterval
from crosstask.synthetic.random_streams import TIMING_STREAM, generator
from crosstask.synthetic.settings import Shape

Floats = npt.NDArray[np.float64]
MISSING_BETA = (1.06, 2.36)  # beta distribution over steps of the share of videos without the step: mean 0.31, deviation 0.22
MISSING_RANGE = (0.01, 0.9)  # chosen: no step is always or never missing
REPEAT_RATE = 0.32  # probability of one more interval; a shown step then has 1.47 intervals
MAX_INTERVALS = 8  # of one step in a video
LOG_DURATION = 1.73  # mean over all annotated intervals, log seconds
LOG_DURATION_BETWEEN_STEPS = 0.49  # standard deviation
LOG_DURATION_WITHIN_STEP = 0.85  # standard deviation
SHORTEST_S = 0.5  # of an interval
REFERENCE_S = 280.0  # video length at which the durations hold; longer videos have longer steps
MAX_FOREGROUND = 0.8  # share of a video
ORDER_NOISE = 1.2  # standard deviation of a step's position, in steps; gives an order consistency of 0.86
ORDER_NOISE_BETWEEN_TASKS = 0.45  # standard deviation of its logarithm
REPEAT_NOISE = 2.2  # standard deviation, in steps, of a repeated interval's position from the first one's
LEAD_BETA = (2.0, 4.3)  # share of the background before the first step
TAIL_BETA = (1.8, 4.2)  # share of the remaining background after the last step
GAP_CONCENTRATION = 0.6  # Dirichlet parameter of the gaps between steps: many short, some long


@dataclass(frozen=True)
class TaskTiming:
    """Parameters of the timelines of one task."""

    log_seconds: float  # shift of the mean log length of its videos
    missing: Floats  # (K,) probability that a step is missing
    log_duration: Floats  # (K,)
    order_noise: float


def timing_of_task(task_id: str, n_steps: int, shape: Shape, seed: int) -> TaskTiming:
    """The timing parameters of a task under a seed."""
    rng = generator(seed, TIMING_STREAM, task_id)
    return TaskTiming(
        log_seconds=float(rng.normal(0, shape.task_deviation_log_seconds)),
        missing=np.clip(rng.beta(*MISSING_BETA, size=n_steps), *MISSING_RANGE),
        log_duration=rng.normal(LOG_DURATION, LOG_DURATION_BETWEEN_STEPS, size=n_steps),
        order_noise=float(ORDER_NOISE * np.exp(rng.normal(0, ORDER_NOISE_BETWEEN_TASKS))),
    )


def draw_n_seconds(timing: TaskTiming, shape: Shape, rng: np.random.Generator) -> int:
    """T, the length of a video in seconds."""
    mean = shape.mean_log_seconds + timing.log_seconds
    return int(np.clip(np.exp(rng.normal(mean, shape.video_deviation_log_seconds)), shape.shortest_s, shape.longest_s))


def draw_timeline(timing: TaskTiming, n_seconds: int, rng: np.random.Generator) -> tuple[StepInterval, ...]:
    """The annotated intervals of a video, sorted by their start; they do not overlap."""
    sequence = _draw_sequence(timing, rng)
    durations = _draw_durations(timing.log_duration[sequence], n_seconds, rng)
    gaps = _draw_gaps(n_seconds - durations.sum(), len(sequence), rng)
    starts = np.cumsum(gaps) + np.concatenate([[0.0], np.cumsum(durations)[:-1]])
    return tuple(
        StepInterval(int(step), Interval(round(float(start), 2), round(min(float(start + length), n_seconds), 2)))
        for step, start, length in zip(sequence, starts, durations, strict=True)
    )


def _draw_sequence(timing: TaskTiming, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """(n,) steps in the order in which they are shown; at least one is shown."""
    shown = rng.random(len(timing.missing)) >= timing.missing
    shown[np.argmin(timing.missing)] |= not shown.any()
    positions: list[tuple[float, int]] = []
    for step in np.flatnonzero(shown).tolist():
        first = step + timing.order_noise * float(rng.normal())
        n_intervals = min(int(rng.geometric(1 - REPEAT_RATE)), MAX_INTERVALS)
        positions += [(first, step), *((first + REPEAT_NOISE * float(rng.normal()), step) for _ in range(n_intervals - 1))]
    return np.array([step for _, step in sorted(positions)], dtype=np.int64)


def _draw_durations(log_durations: Floats, n_seconds: int, rng: np.random.Generator) -> Floats:
    """(n,) seconds, shortened where they would exceed the largest foreground."""
    drawn = np.exp(rng.normal(log_durations, LOG_DURATION_WITHIN_STEP)) * np.sqrt(n_seconds / REFERENCE_S)
    durations: Floats = np.maximum(drawn, SHORTEST_S)
    durations *= min(1.0, MAX_FOREGROUND * n_seconds / durations.sum())
    return durations


def _draw_gaps(background_s: float, n_intervals: int, rng: np.random.Generator) -> Floats:
    """(n,) seconds of background before each interval; the rest of the background follows the last one."""
    lead = rng.beta(*LEAD_BETA)
    tail = (1 - lead) * rng.beta(*TAIL_BETA)
    inner = rng.dirichlet(np.full(n_intervals - 1, GAP_CONCENTRATION)) if n_intervals > 1 else np.empty(0)
    return np.concatenate([[lead], (1 - lead - tail) * inner]) * background_s
