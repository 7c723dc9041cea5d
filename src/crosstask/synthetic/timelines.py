"""When the steps of a planted video happen: missing, swapped, repeated, and mostly not at all.

The constants were measured on the annotations of the release.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crosstask.records import Interval, StepInterval
from crosstask.synthetic.random_streams import generator
from crosstask.synthetic.settings import Shape

Floats = npt.NDArray[np.float64]
MISSING_BETA = (1.06, 2.36)  # over steps: mean 0.31, deviation 0.22
SHOWN_AGAIN = 0.32  # a shown step is shown 1.47 times
MOST_SHOWINGS = 8
LOG_DURATION = 1.73  # mean over all annotated intervals
LOG_DURATION_BETWEEN_STEPS = 0.49
LOG_DURATION_WITHIN_STEP = 0.85
USUAL_SECONDS = 280.0  # length at which the durations hold; longer videos show longer steps
MOST_FOREGROUND = 0.8  # of a video
ORDER_NOISE = 1.2  # steps by which a showing strays from its place; gives an order consistency of 0.86
ORDER_NOISE_BETWEEN_TASKS = 0.45  # deviation of its logarithm
AGAIN_NOISE = 2.2  # steps by which a repeated showing strays from the first
LEAD_BETA = (2.0, 4.3)  # share of the background before the first step
TAIL_BETA = (1.8, 4.2)  # share of the other background after the last step
GAP_SHAPE = 0.6  # gaps between steps: many short, some long


@dataclass(frozen=True)
class Habits:
    """What the videos of one task have in common in time."""

    log_seconds: float  # shift of the mean log length
    missing: Floats  # (K,)
    log_duration: Floats  # (K,)
    order_noise: float


def habits_of(task_id: str, n_steps: int, shape: Shape, seed: int) -> Habits:
    """The habits of a task under a seed."""
    rng = generator(seed, "habits", task_id)
    return Habits(
        log_seconds=float(rng.normal(0, shape.task_deviation_log_seconds)),
        missing=np.clip(rng.beta(*MISSING_BETA, size=n_steps), 0.01, 0.9),
        log_duration=rng.normal(LOG_DURATION, LOG_DURATION_BETWEEN_STEPS, size=n_steps),
        order_noise=float(ORDER_NOISE * np.exp(rng.normal(0, ORDER_NOISE_BETWEEN_TASKS))),
    )


def draw_seconds(habits: Habits, shape: Shape, rng: np.random.Generator) -> int:
    """T, the length of a video."""
    mean = shape.mean_log_seconds + habits.log_seconds
    return int(np.clip(np.exp(rng.normal(mean, shape.video_deviation_log_seconds)), shape.shortest_s, shape.longest_s))


def draw_timeline(habits: Habits, n_seconds: int, rng: np.random.Generator) -> tuple[StepInterval, ...]:
    """The annotated intervals of a video, by their start."""
    sequence = _draw_sequence(habits, rng)
    durations = _draw_durations(habits.log_duration[sequence], n_seconds, rng)
    gaps = _draw_gaps(n_seconds - durations.sum(), len(sequence), rng)
    starts = np.cumsum(gaps) + np.concatenate([[0.0], np.cumsum(durations)[:-1]])
    return tuple(
        StepInterval(int(step), Interval(round(float(start), 2), round(min(float(start + length), n_seconds), 2)))
        for step, start, length in zip(sequence, starts, durations, strict=True)
    )


def _draw_sequence(habits: Habits, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """(n,) steps in the order of their showing; at least one is shown."""
    shown = rng.random(len(habits.missing)) >= habits.missing
    shown[np.argmin(habits.missing)] |= not shown.any()
    places: list[tuple[float, int]] = []
    for step in np.flatnonzero(shown).tolist():
        first = step + habits.order_noise * float(rng.normal())
        times = min(int(rng.geometric(1 - SHOWN_AGAIN)), MOST_SHOWINGS)
        places += [(first, step), *((first + AGAIN_NOISE * float(rng.normal()), step) for _ in range(times - 1))]
    return np.array([step for _, step in sorted(places)], dtype=np.int64)


def _draw_durations(log_durations: Floats, n_seconds: int, rng: np.random.Generator) -> Floats:
    """(n,) seconds, shrunk where they would fill the video."""
    drawn = np.exp(rng.normal(log_durations, LOG_DURATION_WITHIN_STEP)) * np.sqrt(n_seconds / USUAL_SECONDS)
    durations: Floats = np.maximum(drawn, 0.5)
    durations *= min(1.0, MOST_FOREGROUND * n_seconds / durations.sum())
    return durations


def _draw_gaps(background_s: float, n_showings: int, rng: np.random.Generator) -> Floats:
    """(n,) seconds of background before each showing; the rest of it follows the last."""
    lead = rng.beta(*LEAD_BETA)
    tail = (1 - lead) * rng.beta(*TAIL_BETA)
    inner = rng.dirichlet(np.full(n_showings - 1, GAP_SHAPE)) if n_showings > 1 else np.empty(0)
    return np.concatenate([[lead], (1 - lead - tail) * inner]) * background_s
