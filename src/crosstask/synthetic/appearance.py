"""Features of a synthetic video: a linear model of latent appearance vectors, projected to D non-negative columns.

Each second t of a video has a latent vector z_t of 128 numbers, half for motion and half for objects:

    z_t = task offset + video offset + sum of the appearances of the shown steps + sum of distractor objects + slow noise_t + fast noise_t
    appearance of a step in a video = weighted sum of (general direction + this video's variation) of its words + task-specific direction

A step's appearance fades in and out over two seconds. A feature row is x_t = s * max(0, z_t P + b + e_t) in three blocks of different
scale s, as networks for motion, images and sound give them: non-negative and correlated; e_t is independent noise of single columns.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.signal import lfilter

from crosstask.records import StepInterval
from crosstask.synthetic.random_streams import APPEARANCE_STREAM, PROJECTION_STREAM, WORD_STREAM, generator
from crosstask.synthetic.settings import Difficulty
from crosstask.synthetic.step_lists import PREPOSITIONS

Floats = npt.NDArray[np.float32]
N_MOTION = 64  # latent dimensions for motion; as many are for objects
N_LATENT = 2 * N_MOTION
WORD_WEIGHT = {"verb": 1.0, "object": 1.0, "preposition": 0.3}  # chosen: prepositions are hardly visible
FADE = np.array(
    [0.15, 0.2, 0.3, 0.2, 0.15], dtype=np.float32
)  # Breakfast: similarity 0.36 and 0.15 one and two seconds outside a step
FAST_NOISE_FILTER = np.array([1.0, 1.0, 0.2], dtype=np.float32)  # Breakfast: correlation of about one half with the second before
SLOW_NOISE_S = 8.0  # Breakfast: decay time of the slow correlation, seconds
COLUMN_NOISE = 0.1  # standard deviation of the noise of single columns, next to columns of deviation 1
DISTRACTOR_S = 10  # seconds for which a distractor object stays in view
# Transcripts of two tasks of the release mention an object more often near its use: relative rate by distance, seconds.
DISTRACTOR_RATE_BY_DISTANCE = np.array([2.5, 1.0, 0.8, 0.6, 0.5])
DISTANCE_EDGES_S = np.array([10, 20, 40, 80])
FAR_S = 10**6  # distance to an object that is never used, seconds
BLOCK_SHARE = (0.32, 0.64)  # of the columns: motion and image as 1024 and 2048 of the release's 3200; sound has the rest
BLOCK_SCALE = (0.3, 0.5, 0.8)  # chosen: blocks differ in scale
BLOCK_GAINS = ((1.0, 0.5), (0.5, 1.0), (0.5, 0.5))  # chosen: how strongly a block sees motion and objects


@dataclass(frozen=True)
class TaskAppearance:
    """Latent directions of a task's words and steps, before the variation of a single video."""

    words: Floats  # (w, 128) unit vectors
    is_object: npt.NDArray[np.bool_]  # (w,)
    words_of_step: Floats  # (K, w) weights; the squares of a row sum to one
    task_specific: Floats  # (K, 128) unit vectors, one for each step
    task_offset: Floats  # (128,)


def unit(vectors: npt.NDArray[np.floating]) -> Floats:
    """The vectors (..., n) scaled to length one."""
    scaled: Floats = (vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)).astype(np.float32)
    return scaled


def kind_of_word(word: str, position: int) -> str:
    """'verb', 'object' or 'preposition', by the word and its position in the step name."""
    if position == 0:
        return "verb"
    return "preposition" if word in PREPOSITIONS else "object"


def word_direction(word: str, kind: str, seed: int) -> Floats:
    """(128,) unit vector: verbs are motion, objects are objects, prepositions both; 'fold_in' is similar to 'fold'."""
    direction = unit(generator(seed, WORD_STREAM, word).normal(size=N_LATENT) * _latent_part(kind))
    if "_" in word and kind == "verb":
        direction = unit(direction + word_direction(word.split("_")[0], kind, seed))
    return direction


def _latent_part(kind: str) -> npt.NDArray[np.bool_]:
    """(128,) mask of the latent dimensions in which a word of that kind is visible."""
    motion = np.arange(N_LATENT) < N_MOTION
    return {"verb": motion, "object": ~motion, "preposition": np.ones(N_LATENT, dtype=np.bool_)}[kind]


def appearance_of_task(task_id: str, steps: Sequence[str], seed: int) -> TaskAppearance:
    """The appearance of a task, a function of its steps and the seed."""
    kinds = dict(sorted((word, kind_of_word(word, i)) for step in steps for i, word in enumerate(step.split())))
    weights = np.zeros((len(steps), len(kinds)), dtype=np.float32)
    for k, step in enumerate(steps):
        for column, (word, kind) in enumerate(kinds.items()):
            weights[k, column] = WORD_WEIGHT[kind] * (word in step.split())
    rng = generator(seed, APPEARANCE_STREAM, task_id)
    return TaskAppearance(
        words=np.stack([word_direction(word, kind, seed) for word, kind in kinds.items()]),
        is_object=np.array([kind == "object" for kind in kinds.values()]),
        words_of_step=unit(weights),
        task_specific=unit(rng.normal(size=(len(steps), N_LATENT))),
        task_offset=unit(rng.normal(size=N_LATENT)),
    )


def draw_latents(
    task: TaskAppearance, timeline: Sequence[StepInterval], n_seconds: int, difficulty: Difficulty, rng: np.random.Generator
) -> Floats:
    """(T, 128): the latent vector z_t of every second of a video."""
    variation = unit(rng.normal(size=task.words.shape) * (task.words != 0))  # motion stays motion, objects stay objects
    words = difficulty.shared_norm * task.words + difficulty.video_variation_norm * variation  # (w, 128)
    steps = task.words_of_step @ words + difficulty.task_specific_norm * task.task_specific  # (K, 128)
    shown = _visibility(timeline, n_seconds, len(steps))
    z = shown @ steps  # (T, 128)
    z += difficulty.distractor_norm * _distractors(task, shown, difficulty.distractor_rate, rng) @ words[task.is_object]
    z += difficulty.task_norm * task.task_offset + difficulty.video_norm * unit(rng.normal(size=N_LATENT))
    z += difficulty.slow_noise_norm * _slow_noise(n_seconds, rng)
    z += difficulty.fast_noise_norm * _fast_noise(n_seconds, rng)
    return z.astype(np.float32)


def _visibility(timeline: Sequence[StepInterval], n_seconds: int, n_steps: int) -> Floats:
    """(T, K): one where a step is shown, falling to zero within two seconds outside."""
    shown = np.zeros((n_seconds + 4, n_steps), dtype=np.float32)
    for part in timeline:
        segments = part.interval.segments(n_seconds)
        shown[segments.start + 2 : segments.stop + 2, part.step] = 1
    faded: Floats = sum(FADE[i] * shown[i : i + n_seconds] for i in range(len(FADE)))
    return faded


def _distractors(task: TaskAppearance, shown: Floats, rate: float, rng: np.random.Generator) -> Floats:
    """(T, n): one while an object is in view although no step uses it."""
    used = shown @ (task.words_of_step[:, task.is_object] > 0) > 0.5  # (T, n)
    n_seconds, n_objects = used.shape
    last = n_seconds // DISTRACTOR_S + 1
    t = np.arange(n_seconds)[:, None]
    period = np.minimum((t + rng.integers(0, DISTRACTOR_S, size=n_objects)) // DISTRACTOR_S, last)  # (T, n)
    drawn = np.take_along_axis(rng.random((last + 1, n_objects)), period, axis=0)
    chance = rate * DISTRACTOR_RATE_BY_DISTANCE[np.digitize(_seconds_from_use(used), DISTANCE_EDGES_S)]
    return ((drawn < chance) & ~used).astype(np.float32)


def _seconds_from_use(used: npt.NDArray[np.bool_]) -> Floats:
    """(T, n): seconds to the nearest second in which an object is used."""
    t = np.arange(len(used))[:, None]
    since = t - np.maximum.accumulate(np.where(used, t, -FAR_S), axis=0)
    until = np.minimum.accumulate(np.where(used, t, FAR_S)[::-1], axis=0)[::-1] - t
    seconds: Floats = np.minimum(since, until).astype(np.float32)
    return seconds


def _slow_noise(n_seconds: int, rng: np.random.Generator) -> Floats:
    """(T, 128): an autoregressive process of about unit length with decay time `SLOW_NOISE_S`."""
    keep = np.exp(-1 / SLOW_NOISE_S)
    fresh = rng.standard_normal((n_seconds, N_LATENT), dtype=np.float32) / np.float32(np.sqrt(N_LATENT))
    fresh[1:] *= np.float32(np.sqrt(1 - keep**2))
    walk: Floats = lfilter([1.0], [1.0, -keep], fresh, axis=0).astype(np.float32)
    return walk


def _fast_noise(n_seconds: int, rng: np.random.Generator) -> Floats:
    """(T, 128): a moving average of white noise, of about unit length."""
    c, fresh = FAST_NOISE_FILTER, rng.standard_normal((n_seconds + 2, N_LATENT), dtype=np.float32)
    mixed: Floats = c[0] * fresh[2:] + c[1] * fresh[1:-1] + c[2] * fresh[:-2]
    mixed /= np.float32(np.sqrt((c**2).sum() * N_LATENT))
    return mixed


@dataclass(frozen=True)
class Projection:
    """The map from latent vectors to feature rows."""

    matrix: Floats  # (128, D)
    offset: Floats  # (D,)
    scale: Floats  # (D,)


def draw_projection(n_dimensions: int, difficulty: Difficulty, seed: int) -> Projection:
    """The projection of a corpus; columns have standard deviation of about one before they are rectified and scaled."""
    rng = generator(seed, PROJECTION_STREAM, n_dimensions)
    n_motion, n_image = (round(share * n_dimensions) for share in BLOCK_SHARE)
    block = np.repeat([0, 1, 2], [n_motion, n_image, n_dimensions - n_motion - n_image])  # (D,)
    gains = np.repeat(np.array(BLOCK_GAINS)[block], N_MOTION, axis=1).T  # (128, D)
    gains /= np.sqrt((gains**2).mean(axis=0))
    norms = (
        difficulty.fast_noise_norm,
        difficulty.slow_noise_norm,
        difficulty.task_norm,
        difficulty.video_norm,
        difficulty.shared_norm,
        difficulty.video_variation_norm,
    )
    matrix = rng.standard_normal((N_LATENT, n_dimensions)) * gains / np.sqrt(sum(norm**2 for norm in norms))
    return Projection(
        matrix.astype(np.float32),
        rng.normal(-0.3, 0.5, size=n_dimensions).astype(np.float32),  # chosen: more than half of the values are zero
        np.array(BLOCK_SCALE, dtype=np.float32)[block],
    )


def draw_features(latents: Floats, projection: Projection, rng: np.random.Generator) -> npt.NDArray[np.float16]:
    """(T, D) non-negative float16 features of latent vectors (T, 128)."""
    features = rng.standard_normal((len(latents), len(projection.scale)), dtype=np.float32)
    features *= np.float32(COLUMN_NOISE)
    features += latents @ projection.matrix
    features += projection.offset
    np.maximum(features, 0, out=features)
    features *= projection.scale
    return features.astype(np.float16)
