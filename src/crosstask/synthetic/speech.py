"""What is said in a planted video, and the windows a text localiser would get from it.

A window lies where the step is named. Most narrators name it too early, too late, or in passing, so most shown steps lie
outside their window; the windows of all steps are in order, as the localiser's assignment makes them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crosstask.records import Cue, Interval, Narration, StepInterval, Word
from crosstask.synthetic.step_lists import PREPOSITIONS

Floats = npt.NDArray[np.float64]
MEAN_WINDOW_S = 9.15  # paper, Sec. 4.2: 9 s; a little is cut off at the ends of the videos
SHORTEST_WINDOW_S = 3.0
NEAR = 0.5  # of the misplaced mentions, how many are just early or late
NEAR_S = 20.0  # by how much, on average
SECONDS_PER_WORD = 0.38
WANTED_PER_OUTSIDE = 1.12  # order forbids some timely mentions and makes others by accident: calibrated to `outside` itself
TALKATIVE = 0.8  # of the pauses between mentions, how many are talked through
ALSO_NAMED = 0.35  # chance that a step is also named where it is shown, or once more anywhere
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
    """Where the localiser heard each step: one moment a step, increasing by at least a second, and a window around it."""

    moments: Floats  # (K,)
    windows: tuple[StepInterval, ...]


def draw_mentions(
    timeline: Sequence[StepInterval], n_steps: int, n_seconds: int, outside: float, rng: np.random.Generator, early: float = 0.5
) -> Mentions:
    """A moment and a window for every step of the list, shown or not; about `outside` of the shown steps lie outside theirs.

    Of those that are named just before or after their step, `early` are named before.
    """
    lengths = SHORTEST_WINDOW_S + rng.gamma(2.0, (MEAN_WINDOW_S - SHORTEST_WINDOW_S) / 2.0, size=n_steps)
    moments = _draw_moments(timeline, n_steps, n_seconds, outside, early, rng)
    before = lengths * rng.uniform(0.3, 0.7, size=n_steps)
    windows = tuple(
        StepInterval(k, Interval(round(max(0.0, float(moments[k] - before[k])), 2), round(_end(moments[k], before[k], lengths[k], n_seconds), 2)))
        for k in range(n_steps)
    )  # fmt: skip
    return Mentions(moments, windows)


def _end(moment: float, before: float, length: float, n_seconds: int) -> float:
    return float(min(n_seconds, moment - before + length))


def _draw_moments(
    timeline: Sequence[StepInterval], n_steps: int, n_seconds: int, outside: float, early: float, rng: np.random.Generator
) -> Floats:
    """(K,) increasing moments: timely ones first, the others between them."""
    timely = _timely_moments(timeline, n_steps, outside, rng)
    moments = np.empty(n_steps)
    for k in range(n_steps):
        if np.isfinite(timely[k]):
            moments[k] = timely[k]
            continue
        low = moments[k - 1] if k else 0.0
        later = timely[k + 1 :][np.isfinite(timely[k + 1 :])]
        high = float(later[0]) if len(later) else float(n_seconds)
        moments[k] = _misplaced(k, timeline, low, max(low, high), n_steps - k, early, rng)
    return _a_second_apart(moments, n_seconds)


def _timely_moments(timeline: Sequence[StepInterval], n_steps: int, outside: float, rng: np.random.Generator) -> Floats:
    """(K,) moments inside a showing of the step, for as many steps as are named in time and in order; NaN for the others."""
    timely = np.full(n_steps, np.nan)
    last = 0.0
    for k in range(n_steps):
        showings = [shown.interval for shown in timeline if shown.step == k]
        wanted, where = rng.random() >= outside * WANTED_PER_OUTSIDE, rng.random()
        if wanted and showings:
            chosen = showings[int(rng.integers(len(showings)))]
            moment = chosen.start_s + where * chosen.length_s
            if moment >= last:
                timely[k] = last = moment
    return timely


def _misplaced(
    k: int, timeline: Sequence[StepInterval], low: float, high: float, n_left: int, early: float, rng: np.random.Generator
) -> float:
    """A moment in [low, high] for a step that is not named in time: early, late, or anywhere that leaves room for the others."""
    showings = [shown.interval for shown in timeline if shown.step == k]
    anywhere = low + (high - low) * rng.beta(1.0, max(1.0, n_left))
    before, delay = rng.random() < early, rng.exponential(NEAR_S)
    if showings and rng.random() < NEAR:
        moment = showings[0].start_s - 4 - delay if before else showings[-1].end_s + 4 + delay
        if low <= moment <= high:
            return float(moment)
    return float(anywhere)


def _a_second_apart(moments: Floats, n_seconds: int) -> Floats:
    """The moments pushed apart to lie in different seconds of the video, in order."""
    steps = np.arange(len(moments))
    pushed = np.maximum.accumulate(moments - steps) + steps
    latest = n_seconds - 0.5 - (len(moments) - 1 - steps)
    apart: Floats = np.minimum(pushed, latest)
    return apart


def draw_narration(
    steps: Sequence[str], timeline: Sequence[StepInterval], mentions: Mentions, n_seconds: int, rng: np.random.Generator
) -> Narration:
    """The timed words of a video: each step named at its mention, some once more, and talk in between."""
    said = [(float(moment), _phrase(steps[k], rng)) for k, moment in enumerate(mentions.moments)]
    for shown in timeline:
        if rng.random() < ALSO_NAMED and shown.step < len(steps):
            said.append((rng.uniform(shown.interval.start_s, shown.interval.end_s), _phrase(steps[shown.step], rng)))
    for step in steps:
        if rng.random() < ALSO_NAMED:
            said.append((rng.uniform(0, n_seconds), _phrase(step, rng)))
    return _spoken(sorted(said), n_seconds, rng)


def _phrase(step: str, rng: np.random.Generator) -> list[str]:
    """A step as people say it: 'now pour the milk into the cup'."""
    verb, *others = step.split()
    words = [*OPENINGS[int(rng.integers(len(OPENINGS)))].split(), *verb.split("_")]
    for word in others:
        words += ["the", word] if word not in PREPOSITIONS else word.split("_")
    return words


def _spoken(said: Sequence[tuple[float, list[str]]], n_seconds: int, rng: np.random.Generator) -> Narration:
    """The phrases one after another, each as near to its moment as the speaker can, and fillers in the pauses."""
    words: list[Word] = []
    cues: list[Cue] = []
    clock = 0.0
    for moment, phrase in [*said, (float(n_seconds), [])]:
        start_s = max(clock, moment - SECONDS_PER_WORD * len(phrase) / 2)
        while start_s - clock > 4.0:
            filler = FILLERS[int(rng.integers(len(FILLERS)))].split()
            if rng.random() < TALKATIVE and clock + SECONDS_PER_WORD * len(filler) < start_s:
                _say(filler, clock, words, cues)
            clock += SECONDS_PER_WORD * len(filler) + 0.3
        start_s = max(clock, start_s)
        if phrase and start_s + SECONDS_PER_WORD * len(phrase) <= n_seconds:
            _say(phrase, start_s, words, cues)
            clock = start_s + SECONDS_PER_WORD * len(phrase) + 0.1
    return Narration(tuple(words), tuple(cues), "en")


def _say(phrase: Sequence[str], start_s: float, words: list[Word], cues: list[Cue]) -> None:
    edges = [round(start_s + SECONDS_PER_WORD * i, 3) for i in range(len(phrase) + 1)]
    cues.append(Cue(len(words), len(words) + len(phrase), edges[0], edges[-1]))
    words.extend(Word(text, edges[i], edges[i + 1]) for i, text in enumerate(phrase))


def webvtt_text(narration: Narration) -> str:
    """The narration as WebVTT with the time of every word inside its line."""
    blocks = ["WEBVTT\nKind: captions\nLanguage: en\n"]
    for cue in narration.cues:
        first, *others = narration.words[cue.first_word : cue.last_word]
        line = first.text + "".join(f"<{_stamp(word.start_s)}> {word.text}" for word in others)
        blocks.append(f"{_stamp(cue.start_s)} --> {_stamp(cue.end_s)}\n{line}\n")
    return "\n".join(blocks)


def _stamp(seconds: float) -> str:
    """Hours, minutes, seconds and thousandths.

    >>> _stamp(3725.5)
    '01:02:05.500'
    """
    thousandths = round(seconds * 1000)
    minutes, rest = divmod(thousandths, 60_000)
    return f"{minutes // 60:02d}:{minutes % 60:02d}:{rest // 1000:02d}.{rest % 1000:03d}"
