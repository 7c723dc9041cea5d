"""The second planted world, `measured`: looks whose likeness was counted on real features before any method was scored on it.

The first world (appearance.py) had its looks by judgement. Here the same hidden picture of 128 numbers is

    z_t = scene(task) + style(video) + sum of the looks of what is shown + sum of objects lying about + slow_t + fast_t
    look of a step in a video = weighted mean of (direction of each word + this video's own way with that word) + the step's own direction

with strengths for which planted rows on the timelines of Breakfast give the figures of Breakfast's features
(results/planted-measures.json). A step's look fades in and out over two seconds. Breakfast's features see motion: what they
say of verbs is taken for things as well, in the columns that see objects.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.signal import lfilter

from crosstask.records import StepInterval
from crosstask.synthetic.appearance import Camera, TaskLook, kind_of_word, take_rows, unit
from crosstask.synthetic.random_streams import generator

Floats = npt.NDArray[np.float32]
N_PART = 64  # numbers of z that hold motion; as many hold objects
N_HIDDEN = 2 * N_PART
WEIGHT = {"verb": 1.0, "thing": 1.0, "preposition": 0.3}
FADE = np.array([0.15, 0.2, 0.3, 0.2, 0.15], dtype=np.float32)  # likeness one and two seconds outside a step: 0.36 and 0.15
FAST = np.array([1.0, 1.0, 0.2], dtype=np.float32)  # what changes from second to second is half like the second before
SLOW_SECONDS = 8.0
GRAIN = 0.1  # noise of single columns, beside columns of deviation 1
NEARNESS = np.array([2.5, 1.0, 0.8, 0.6, 0.5])  # how much oftener real talk names a thing so many seconds from its use
NEARNESS_EDGES_S = np.array([10, 20, 40, 80])
BLOCK_SHARE = (0.32, 0.64)  # of the columns: motion, picture; sound has the rest
BLOCK_SCALE = (0.3, 0.5, 0.8)
BLOCK_GAINS = ((1.0, 0.5), (0.5, 1.0), (0.5, 0.5))  # how well a block sees motion and objects


@dataclass(frozen=True)
class MeasuredDifficulty:
    """How much of what is seen tells the steps apart. Strengths are lengths of vectors beside a step's shared look of length 1."""

    name: str
    shared_look: float = 1.0  # by definition the unit
    own_look: float = 0.2  # what a step shares with no step of the same name in another task
    video_look: float = 2.1  # how far one video's way with a word is from another's
    scene: float = 1.0  # constant within a task
    video_style: float = 0.8  # constant within a video
    lying_look: float = 0.7  # an object in view although nothing is done with it: as long as in a step of a verb and a thing
    lying_share: float = 0.25  # of the time, for each object, more near its use; set by the supervised fit
    slow: float = 1.0  # length of what changes over seconds, whatever is done
    fast: float = 3.5  # length of what changes from second to second
    irrelevant_related: float = 0.44  # paper, supplement
    outside: float = 0.61  # paper, supplement
    early: float = 0.95  # of the misplaced mentions that are near, how many come before their step


_DEFAULT = MeasuredDifficulty("measured-default")
MEASURED: Mapping[str, MeasuredDifficulty] = {
    difficulty.name: difficulty
    for difficulty in (
        replace(_DEFAULT, name="measured-clear", fast=0.75 * _DEFAULT.fast),
        _DEFAULT,
        replace(_DEFAULT, name="measured-noisy", fast=1.25 * _DEFAULT.fast),
        replace(_DEFAULT, name="measured-cluttered", lying_share=2 * _DEFAULT.lying_share),
        replace(_DEFAULT, name="measured-idiosyncratic", shared_look=0.8, own_look=0.67),  # as telling in sum, less of it shared
    )
}


def measured_direction(word: str, kind: str, seed: int) -> Floats:
    """(128,) of length one: a verb is motion, a thing is an object, a preposition both; 'fold_in' looks much like 'fold'."""
    direction = unit(generator(seed, "measured word", word).normal(size=N_HIDDEN) * _part_of(kind))
    if "_" in word and kind == "verb":
        direction = unit(direction + measured_direction(word.split("_")[0], kind, seed))
    return direction


def _part_of(kind: str) -> npt.NDArray[np.bool_]:
    """(128,): where of z a word of that kind is seen."""
    motion = np.arange(N_HIDDEN) < N_PART
    return {"verb": motion, "thing": ~motion, "preposition": np.ones(N_HIDDEN, dtype=np.bool_)}[kind]


def measured_look(task_id: str, steps: Sequence[str], seed: int) -> TaskLook:
    """How a task looks under a seed."""
    kinds = dict(sorted((word, kind_of_word(word, place)) for step in steps for place, word in enumerate(step.split())))
    weights = np.zeros((len(steps), len(kinds)), dtype=np.float32)
    for k, step in enumerate(steps):
        for column, (word, kind) in enumerate(kinds.items()):
            weights[k, column] = WEIGHT[kind] * (word in step.split())
    rng = generator(seed, "measured look", task_id)
    return TaskLook(
        words=np.stack([measured_direction(word, kind, seed) for word, kind in kinds.items()]),
        is_thing=np.array([kind == "thing" for kind in kinds.values()]),
        words_of_step=unit(weights),
        own=unit(rng.normal(size=(len(steps), N_HIDDEN))),
        scene=unit(rng.normal(size=N_HIDDEN)),
    )


def draw_measured_pictures(
    look: TaskLook, timeline: Sequence[StepInterval], n_seconds: int, difficulty: MeasuredDifficulty, rng: np.random.Generator
) -> Floats:
    """(T, 128): the hidden picture of every second of a video."""
    own_way = unit(rng.normal(size=look.words.shape) * (look.words != 0))  # a verb is done, and a thing made, otherwise
    words = difficulty.shared_look * look.words + difficulty.video_look * own_way  # (w, 128)
    steps = look.words_of_step @ words + difficulty.own_look * look.own  # (K, 128)
    shown = _fading(timeline, n_seconds, len(steps))
    z = shown @ steps  # (T, 128)
    z += difficulty.lying_look * _lying_about(look, shown, difficulty.lying_share, rng) @ words[look.is_thing]
    z += difficulty.scene * look.scene + difficulty.video_style * unit(rng.normal(size=N_HIDDEN))
    z += difficulty.slow * _slow(n_seconds, rng)
    z += difficulty.fast * _fast(n_seconds, rng)
    return z.astype(np.float32)


def _fading(timeline: Sequence[StepInterval], n_seconds: int, n_steps: int) -> Floats:
    """(T, K): one where a step is done, less and less up to two seconds from it."""
    shown = np.zeros((n_seconds + 4, n_steps), dtype=np.float32)
    for part in timeline:
        segments = part.interval.segments(n_seconds)
        shown[segments.start + 2 : segments.stop + 2, part.step] = 1
    faded: Floats = sum(FADE[i] * shown[i : i + n_seconds] for i in range(len(FADE)))
    return faded


def _lying_about(look: TaskLook, shown: Floats, share: float, rng: np.random.Generator) -> Floats:
    """(T, n): one while an object is in view though nothing is done with it, for stretches of about ten seconds."""
    used = shown @ (look.words_of_step[:, look.is_thing] > 0) > 0.5  # (T, n)
    n_seconds, n_things = used.shape
    seconds = np.arange(n_seconds)[:, None]
    starts = np.minimum((seconds + rng.integers(0, 10, size=n_things)) // 10, n_seconds // 10 + 1)  # (T, n) number of the stretch
    drawn = np.take_along_axis(rng.random((n_seconds // 10 + 2, n_things)), starts, axis=0)
    chance = share * NEARNESS[np.digitize(_seconds_from_use(used), NEARNESS_EDGES_S)]
    return ((drawn < chance) & ~used).astype(np.float32)


def _seconds_from_use(used: npt.NDArray[np.bool_]) -> Floats:
    """(T, n) seconds to the nearest second in which an object is used; far where it never is."""
    steps = np.arange(len(used))[:, None]
    since = steps - np.maximum.accumulate(np.where(used, steps, -(10**6)), axis=0)
    until = np.minimum.accumulate(np.where(used, steps, 10**6)[::-1], axis=0)[::-1] - steps
    seconds: Floats = np.minimum(since, until).astype(np.float32)
    return seconds


def _slow(n_seconds: int, rng: np.random.Generator) -> Floats:
    """(T, 128) of length about one that forgets itself in some seconds."""
    keep = np.exp(-1 / SLOW_SECONDS)
    fresh = rng.standard_normal((n_seconds, N_HIDDEN), dtype=np.float32) / np.float32(np.sqrt(N_HIDDEN))
    fresh[1:] *= np.float32(np.sqrt(1 - keep**2))
    walk: Floats = lfilter([1.0], [1.0, -keep], fresh, axis=0).astype(np.float32)
    return walk


def _fast(n_seconds: int, rng: np.random.Generator) -> Floats:
    """(T, 128) of length about one, each second half like the one before."""
    fresh = rng.standard_normal((n_seconds + 2, N_HIDDEN), dtype=np.float32)
    mixed: Floats = FAST[0] * fresh[2:] + FAST[1] * fresh[1:-1] + FAST[2] * fresh[:-2]
    mixed /= np.float32(np.sqrt((FAST**2).sum() * N_HIDDEN))
    return mixed


def measured_camera(n_dimensions: int, difficulty: MeasuredDifficulty, seed: int) -> Camera:
    """The camera of a world; columns have deviation about one before they are cut at zero and scaled."""
    rng = generator(seed, "measured camera", n_dimensions)
    n_motion, n_picture = (round(share * n_dimensions) for share in BLOCK_SHARE)
    block = np.repeat([0, 1, 2], [n_motion, n_picture, n_dimensions - n_motion - n_picture])  # (D,)
    gains = np.repeat(np.array(BLOCK_GAINS)[block], N_PART, axis=1).T  # (128, D)
    gains /= np.sqrt((gains**2).mean(axis=0))
    strengths = (
        difficulty.fast,
        difficulty.slow,
        difficulty.scene,
        difficulty.video_style,
        difficulty.shared_look,
        difficulty.video_look,
    )
    projection = rng.standard_normal((N_HIDDEN, n_dimensions)) * gains / np.sqrt(sum(v**2 for v in strengths))
    return Camera(
        projection.astype(np.float32),
        rng.normal(-0.3, 0.5, size=n_dimensions).astype(np.float32),
        np.array(BLOCK_SCALE, dtype=np.float32)[block],
    )


def take_measured_rows(pictures: Floats, through: Camera, rng: np.random.Generator) -> npt.NDArray[np.float16]:
    """(T, D) float16 rows of features, none negative."""
    return take_rows(pictures, through, rng, GRAIN)
