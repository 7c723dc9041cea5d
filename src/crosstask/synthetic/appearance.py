"""What a planted video looks like: rows of features that are built from words.

Each second has a hidden picture z of 128 numbers, half motion, half objects:

    z_t = scene(task) + style(video) + drift_t + sum of the looks of what is shown + sum of objects lying about + noise_t
    look of a step = weighted mean of its words' directions (each word as this video shows it) + the step's own direction

and a row is x_t = max(0, z_t P + offset) in three blocks of different scale, as motion, picture and sound networks give them: not
negative, correlated, and as telling at 64 dimensions as at 3200 but for what the projection P loses.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from crosstask.records import StepInterval
from crosstask.synthetic.random_streams import generator
from crosstask.synthetic.settings import Difficulty
from crosstask.synthetic.step_lists import PREPOSITIONS

Floats = npt.NDArray[np.float32]
N_MOTION, N_OBJECT = 48, 80
N_HIDDEN = N_MOTION + N_OBJECT
WEIGHT = {"verb": 1.0, "thing": 1.2, "preposition": 0.3}  # things are easier to see than what is done with them
IN_OWN_PART = {"verb": 0.9, "thing": 0.9, "preposition": 0.7}  # of a direction's length, how much lies in its own part of z
GRAIN = 0.3  # noise of single columns, beside columns of deviation 1
BLOCK_SHARE = (0.32, 0.64)  # of the columns: motion, picture; sound has the rest (1024, 2048 and 128 of 3200)
BLOCK_SCALE = (0.3, 0.5, 0.8)
BLOCK_GAINS = ((1.0, 0.6), (0.5, 1.0), (0.3, 0.3))  # how well a block sees motion and objects


def unit(vectors: npt.NDArray[np.floating]) -> Floats:
    """The vectors (..., n), each of length one."""
    of_length_one: Floats = (vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)).astype(np.float32)
    return of_length_one


def kind_of_word(word: str, place: int) -> str:
    """Verb, thing or preposition, by the word and its place in the step."""
    if place == 0:
        return "verb"
    return "preposition" if word in PREPOSITIONS else "thing"


def direction_of_word(word: str, kind: str, seed: int) -> Floats:
    """(128,) of length one: how a word looks, whatever the task; 'fold_in' looks much like 'fold'."""
    rng = generator(seed, "word", word)
    own, other = IN_OWN_PART[kind], np.sqrt(1 - IN_OWN_PART[kind] ** 2)
    motion, thing = unit(rng.normal(size=N_MOTION)), unit(rng.normal(size=N_OBJECT))
    parts = (other * motion, own * thing) if kind == "thing" else (own * motion, other * thing)
    direction = np.concatenate(parts)
    if "_" in word and kind == "verb":
        direction = 0.7 * direction + 0.7 * direction_of_word(word.split("_")[0], kind, seed)
    return unit(direction)


@dataclass(frozen=True)
class TaskLook:
    """How the steps of a task look in general."""

    words: Floats  # (w, 128) directions
    is_thing: npt.NDArray[np.bool_]  # (w,)
    words_of_step: Floats  # (K, w) weights; the squares of a row sum to one
    own: Floats  # (K, 128) directions of each step's own
    scene: Floats  # (128,)


def look_of_task(task_id: str, steps: Sequence[str], seed: int) -> TaskLook:
    """How a task looks under a seed."""
    placed = [(word, kind_of_word(word, place)) for step in steps for place, word in enumerate(step.split())]
    kinds = dict(sorted(placed))
    column = {word: i for i, word in enumerate(kinds)}
    weights = np.zeros((len(steps), len(kinds)), dtype=np.float32)
    for k, step in enumerate(steps):
        for word in step.split():
            weights[k, column[word]] = WEIGHT[kinds[word]]
    rng = generator(seed, "look", task_id)
    return TaskLook(
        words=np.stack([direction_of_word(word, kind, seed) for word, kind in kinds.items()]),
        is_thing=np.array([kind == "thing" for kind in kinds.values()]),
        words_of_step=unit(weights),
        own=unit(rng.normal(size=(len(steps), N_HIDDEN))),
        scene=unit(rng.normal(size=N_HIDDEN)),
    )


def draw_pictures(
    look: TaskLook, timeline: Sequence[StepInterval], n_seconds: int, difficulty: Difficulty, rng: np.random.Generator
) -> Floats:
    """(T, 128): the hidden picture of every second of a video."""
    words = look.words + difficulty.showing_look * unit(rng.normal(size=look.words.shape))  # (w, 128)
    steps = difficulty.shared_look * look.words_of_step @ words + difficulty.own_look * look.own  # (K, 128)
    z = _shown(timeline, n_seconds, len(steps), difficulty.in_view, rng) @ steps  # (T, 128)
    z += _lying_about(n_seconds, int(look.is_thing.sum()), difficulty, rng) @ words[look.is_thing]
    z += difficulty.scene * look.scene + difficulty.video_style * unit(rng.normal(size=N_HIDDEN))
    z += difficulty.drift * _drift(n_seconds, rng)
    z += difficulty.noise * _noise(n_seconds, rng)
    return z


def _shown(timeline: Sequence[StepInterval], n_seconds: int, n_steps: int, in_view: float, rng: np.random.Generator) -> Floats:
    """(T, K): one where a step is done and in view."""
    shown = np.zeros((n_seconds, n_steps), dtype=np.float32)
    for part in timeline:
        segments = part.interval.segments(n_seconds)
        shown[segments.start : segments.stop, part.step] = 1
    shown *= (rng.random(n_seconds) < in_view)[:, None]
    return shown


def _lying_about(n_seconds: int, n_things: int, difficulty: Difficulty, rng: np.random.Generator) -> Floats:
    """(T, n): strength of objects in view while nothing is done with them, each for stretches of about ten seconds."""
    n_stretches = n_seconds // 10 + 2
    there = rng.random((n_stretches, n_things)) < difficulty.distractor_share
    seconds = (np.arange(n_seconds)[:, None] + rng.integers(0, 10, size=n_things)) // 10  # (T, n)
    return (difficulty.distractor_look * np.take_along_axis(there, seconds, axis=0)).astype(np.float32)


def _drift(n_seconds: int, rng: np.random.Generator) -> Floats:
    """(T, 128): a slow walk whose length is about one."""
    walk = np.cumsum(rng.standard_normal((n_seconds, N_HIDDEN), dtype=np.float32), axis=0)
    walk -= walk.mean(axis=0)
    walk /= np.sqrt((walk**2).sum(axis=1).mean() + 1e-12)
    return walk


def _noise(n_seconds: int, rng: np.random.Generator) -> Floats:
    """(T, 128) of length about one, each second half like the one before."""
    fresh = rng.standard_normal((n_seconds + 1, N_HIDDEN), dtype=np.float32)
    return (fresh[1:] + fresh[:-1]) / np.float32(np.sqrt(2 * N_HIDDEN))


@dataclass(frozen=True)
class Camera:
    """How pictures become rows: P (128, D), offset (D,) and scale (D,)."""

    projection: Floats
    offset: Floats
    scale: Floats


def camera(n_dimensions: int, difficulty: Difficulty, seed: int) -> Camera:
    """The camera of a world; columns have deviation about one before they are cut at zero and scaled."""
    rng = generator(seed, "camera", n_dimensions)
    n_motion, n_picture = (round(share * n_dimensions) for share in BLOCK_SHARE)
    block = np.repeat([0, 1, 2], [n_motion, n_picture, n_dimensions - n_motion - n_picture])  # (D,)
    gains = np.repeat(np.array(BLOCK_GAINS)[block], [N_MOTION, N_OBJECT], axis=1).T  # (128, D)
    length = np.sqrt(
        1 + sum(v**2 for v in (difficulty.noise, difficulty.scene, difficulty.video_style, difficulty.drift, difficulty.own_look))
    )
    projection = rng.standard_normal((N_HIDDEN, n_dimensions)) * gains / length
    return Camera(
        projection.astype(np.float32),
        rng.normal(-0.3, 0.5, size=n_dimensions).astype(np.float32),
        np.array(BLOCK_SCALE, dtype=np.float32)[block],
    )


def take_rows(pictures: Floats, through: Camera, rng: np.random.Generator, grain: float = GRAIN) -> npt.NDArray[np.float16]:
    """(T, D) float16 rows of features, none negative."""
    rows = rng.standard_normal((len(pictures), len(through.scale)), dtype=np.float32)
    rows *= np.float32(grain)
    rows += pictures @ through.projection
    rows += through.offset
    np.maximum(rows, 0, out=rows)
    rows *= through.scale
    return rows.astype(np.float16)
