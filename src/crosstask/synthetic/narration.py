"""Narration of a synthetic video, and the windows that a text localiser would derive from it.

A window lies where a step is mentioned. Many mentions come too early, too late, or without relation to the step, so many shown steps lie
outside their window. The windows of all steps are in order, as the localiser's assignment makes them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crosstask.records import Cue, Interval, Narration, StepInterval, Word
from crosstask.synthetic.step_lists import PREPOSITIONS

Floats = npt.NDArray[np.float64]
MEAN_WINDOW_S = 9.15  # paper, Sec. 4.2: 9 s; the ends of the videos cut off a little
SHORTEST_WINDOW_S = 3.0  # chosen
WINDOW_BEFORE = (0.3, 0.7)  # chosen: share of a window that lies before the mention
NEAR_RATE = 0.5  # of the mentions outside their step, how many are shortly before or after it; as real windows are distributed
NEAR_S = 20.0  # their mean distance from the step, beyond `NEAR_OFFSET_S`
NEAR_OFFSET_S = 4.0
# The order of mentions makes some timely ones impossible and others timely by chance; this factor corrects the rate for both.
MISSED_RATE_CORRECTION = 1.12
SECONDS_PER_WORD = 0.38  # chosen: usual speaking rate
FILLER_RATE = 0.8  # chosen: share of the pauses between mentions that are filled
SHORTEST_PAUSE_S = 4.0  # pauses shorter than this stay silent
AFTER_FILLER_S, AFTER_PHRASE_S = 0.3, 0.1
EXTRA_MENTION_RATE = 0.35  # chosen: chance that a step is also mentioned where it is shown, or once more anywhere
OPENINGS = ("now", "then", "next", "so we", "and i", "go ahead and", "you want to", "after that", "before you")
FILLERS = (
    "hello everyone and welcome back to the channel",
    "if you like this video please leave a comment below",
    "this is something my grandmother showed me years ago",
    "it really does not matter how you do this part",
    "i have tried many ways and this one works best for me",
    "you can find all of this at any store near you",
    "take your time because there is no need to hurry",
    "as you can see it looks pretty good so far",
    "that is about it for this part",
    "let me show you what i mean by that",
    "do not worry if yours looks a little different",
    "thanks for watching and see you next time",
)


@dataclass(frozen=True)
class Mentions:
    """Where each step is mentioned: one moment per step, at least a second apart, and a window around it."""

    moments_s: Floats  # (K,) increasing
    windows: tuple[StepInterval, ...]


def draw_mentions(
    timeline: Sequence[StepInterval],
    n_steps: int,
    n_seconds: int,
    missed_rate: float,
    early_rate: float,
    rng: np.random.Generator,
) -> Mentions:
    """A moment and a window for every step of the list, shown or not.

    About `missed_rate` of the shown steps lie outside their window. Of the mentions shortly before or after their step, `early_rate`
    are before it.
    """
    lengths = SHORTEST_WINDOW_S + rng.gamma(2.0, (MEAN_WINDOW_S - SHORTEST_WINDOW_S) / 2.0, size=n_steps)
    moments = _draw_moments(timeline, n_steps, n_seconds, missed_rate, early_rate, rng)
    before = lengths * rng.uniform(*WINDOW_BEFORE, size=n_steps)
    starts, ends = moments - before, np.minimum(n_seconds, moments - before + lengths)
    windows = tuple(
        StepInterval(k, Interval(round(max(0.0, float(starts[k])), 2), round(float(ends[k]), 2))) for k in range(n_steps)
    )
    return Mentions(moments, windows)


def _draw_moments(
    timeline: Sequence[StepInterval],
    n_steps: int,
    n_seconds: int,
    missed_rate: float,
    early_rate: float,
    rng: np.random.Generator,
) -> Floats:
    """(K,) increasing moments: first those inside their step, then the others between them."""
    timely = _timely_moments(timeline, n_steps, missed_rate, rng)
    moments = np.empty(n_steps)
    for k in range(n_steps):
        if np.isfinite(timely[k]):
            moments[k] = timely[k]
            continue
        low = moments[k - 1] if k else 0.0
        later = timely[k + 1 :][np.isfinite(timely[k + 1 :])]
        high = float(later[0]) if len(later) else float(n_seconds)
        moments[k] = _misplaced_moment(k, timeline, low, max(low, high), n_steps - k, early_rate, rng)
    return _a_second_apart(moments, n_seconds)


def _timely_moments(timeline: Sequence[StepInterval], n_steps: int, missed_rate: float, rng: np.random.Generator) -> Floats:
    """(K,) moments inside an interval of the step, for those steps that are mentioned in time and in order; NaN for the others."""
    timely = np.full(n_steps, np.nan)
    last = 0.0
    for k in range(n_steps):
        intervals = [part.interval for part in timeline if part.step == k]
        wanted, position = rng.random() >= missed_rate * MISSED_RATE_CORRECTION, rng.random()
        if wanted and intervals:
            chosen = intervals[int(rng.integers(len(intervals)))]
            moment = chosen.start_s + position * chosen.length_s
            if moment >= last:
                timely[k] = last = moment
    return timely


def _misplaced_moment(
    k: int, timeline: Sequence[StepInterval], low: float, high: float, n_left: int, early_rate: float, rng: np.random.Generator
) -> float:
    """A moment in [low, high] outside the step: shortly before or after it, or anywhere that leaves space for the later steps."""
    intervals = [part.interval for part in timeline if part.step == k]
    anywhere = low + (high - low) * rng.beta(1.0, max(1.0, n_left))
    early, delay = rng.random() < early_rate, rng.exponential(NEAR_S)
    if intervals and rng.random() < NEAR_RATE:
        moment = intervals[0].start_s - NEAR_OFFSET_S - delay if early else intervals[-1].end_s + NEAR_OFFSET_S + delay
        if low <= moment <= high:
            return float(moment)
    return float(anywhere)


def _a_second_apart(moments: Floats, n_seconds: int) -> Floats:
    """(K,) the moments moved apart so that they lie in different seconds of the video, in order."""
    k = np.arange(len(moments))
    moved = np.maximum.accumulate(moments - k) + k
    latest = n_seconds - 0.5 - (len(moments) - 1 - k)
    apart: Floats = np.minimum(moved, latest)
    return apart


def draw_narration(
    steps: Sequence[str], timeline: Sequence[StepInterval], mentions: Mentions, n_seconds: int, rng: np.random.Generator
) -> Narration:
    """The timed words of a video: each step is named at its mention, some once more, with filler sentences in between."""
    spoken = [(float(moment), _phrase(steps[k], rng)) for k, moment in enumerate(mentions.moments_s)]
    for shown in timeline:
        if rng.random() < EXTRA_MENTION_RATE and shown.step < len(steps):
            spoken.append((rng.uniform(shown.interval.start_s, shown.interval.end_s), _phrase(steps[shown.step], rng)))
    for step in steps:
        if rng.random() < EXTRA_MENTION_RATE:
            spoken.append((rng.uniform(0, n_seconds), _phrase(step, rng)))
    return _with_fillers(sorted(spoken), n_seconds, rng)


def _phrase(step: str, rng: np.random.Generator) -> list[str]:
    """The words of a sentence that names a step, e.g. 'now pour the milk into the cup'."""
    verb, *others = step.split()
    words = [*OPENINGS[int(rng.integers(len(OPENINGS)))].split(), *verb.split("_")]
    for word in others:
        words += ["the", word] if word not in PREPOSITIONS else word.split("_")
    return words


def _with_fillers(phrases: Sequence[tuple[float, list[str]]], n_seconds: int, rng: np.random.Generator) -> Narration:
    """The phrases one after another, each as near to its moment as possible, and filler sentences in the pauses."""
    words: list[Word] = []
    cues: list[Cue] = []
    now_s = 0.0
    for moment, phrase in [*phrases, (float(n_seconds), [])]:
        start_s = max(now_s, moment - SECONDS_PER_WORD * len(phrase) / 2)
        while start_s - now_s > SHORTEST_PAUSE_S:
            filler = FILLERS[int(rng.integers(len(FILLERS)))].split()
            if rng.random() < FILLER_RATE and now_s + SECONDS_PER_WORD * len(filler) < start_s:
                _append(filler, now_s, words, cues)
            now_s += SECONDS_PER_WORD * len(filler) + AFTER_FILLER_S
        start_s = max(now_s, start_s)
        if phrase and start_s + SECONDS_PER_WORD * len(phrase) <= n_seconds:
            _append(phrase, start_s, words, cues)
            now_s = start_s + SECONDS_PER_WORD * len(phrase) + AFTER_PHRASE_S
    return Narration(tuple(words), tuple(cues), "en")


def _append(phrase: Sequence[str], start_s: float, words: list[Word], cues: list[Cue]) -> None:
    """Append a phrase to the words and cues of a narration."""
    edges = [round(start_s + SECONDS_PER_WORD * i, 3) for i in range(len(phrase) + 1)]
    cues.append(Cue(len(words), len(words) + len(phrase), edges[0], edges[-1]))
    words.extend(Word(text, edges[i], edges[i + 1]) for i, text in enumerate(phrase))
