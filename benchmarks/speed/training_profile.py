"""Where an epoch of the paper's training goes, part by part, per video. Run by `training.py --measure profile`.

Each part of the epoch kernel runs alone over the same synthetic problem (D = 3200, 8 steps, windows of about 9 s, float16 rows in a mapped file); the
fastest of five passes counts. The parts add up to about the epoch: what is missing from it is bookkeeping between them.
"""

import tempfile
from dataclasses import replace
from pathlib import Path
from time import perf_counter

import numpy as np
from benchmarks.speed.training import PAPER, epoch_pair, floor_seconds, our_seconds, random_arrays

from crosstask.inference.compiled import compiled_with_reordered_sums
from crosstask.inference.once import once_into
from crosstask.learning.zhukov19.adam import bring_up_to_date
from crosstask.learning.zhukov19.alternation import as_stored, begin, training_constants, workspace_for
from crosstask.learning.zhukov19.kernels import (
    ROWS_AT_ONCE,
    add_gradients,
    arrays_of,
    costs_of_row,
    form_step_weights,
    load_row,
    score_rows,
    step_adam,
)

N_VIDEOS, N_SEGMENTS, N_STEPS, N_DIMENSIONS, N_TASKS = 300, 300, 8, 3200, 83


@compiled_with_reordered_sums
def load_all(stored, videos, tasks, dropout, space):
    for v in range(videos.task.size):
        _, _, active, _ = arrays_of(v, videos, tasks)
        for i in range(active.size):
            load_row(stored, videos.first_row[v] + active[i], np.uint64(i), dropout, space.rows[0], space)


@compiled_with_reordered_sums
def score_all(videos, tasks, space):
    for v in range(videos.task.size):
        _, averaging, active, _ = arrays_of(v, videos, tasks)
        for i in range(0, active.size, ROWS_AT_ONCE):
            score_rows(space.step_weights, averaging.shape[0], space.rows, space.scores[i : i + ROWS_AT_ONCE])


@compiled_with_reordered_sums
def cost_all(videos, tasks, constants, space):
    for v in range(videos.task.size):
        _, averaging, active, allowed = arrays_of(v, videos, tasks)
        gram = averaging @ averaging.T
        for i in range(active.size):
            costs_of_row(
                space.scores[i, : averaging.shape[0]], allowed[i], gram, space.rows[0], constants, space.cost[i], space.value
            )


@compiled_with_reordered_sums
def place_all(videos, tasks, labels, space):
    for v in range(videos.task.size):
        _, averaging, active, _ = arrays_of(v, videos, tasks)
        K = averaging.shape[0]
        chosen = labels[videos.first_label[v] : videos.first_label[v + 1]]
        once_into(space.cost[: active.size, :K], space.value, space.placed[: active.size, :K], chosen)


@compiled_with_reordered_sums
def form_all(videos, tasks, parameters, space):
    for v in range(videos.task.size):
        numbers, averaging, _, _ = arrays_of(v, videos, tasks)
        form_step_weights(parameters, numbers, averaging, space.step_weights)


@compiled_with_reordered_sums
def gradient_all(stored, videos, tasks, constants, space):
    for v in range(videos.task.size):
        _, averaging, active, _ = arrays_of(v, videos, tasks)
        K = averaging.shape[0]
        at = videos.first_row[v] + active[:K].astype(np.int64)
        for first in range(0, K, ROWS_AT_ONCE):
            add_gradients(stored, at, np.arange(K), first, np.uint64(v), 1.0, K, constants.dropout, space)


@compiled_with_reordered_sums
def adam_all(videos, tasks, parameters, state, constants, space):
    for v in range(videos.task.size):
        numbers, averaging, _, _ = arrays_of(v, videos, tasks)
        bring_up_to_date(parameters, state, numbers, constants.learning_rate)
        step_adam(parameters, state, numbers, averaging, constants, space)


def fastest_ms(part, *arguments) -> float:
    """Milliseconds per video, the fastest of five passes after one that compiles."""
    part(*arguments)
    times = []
    for _ in range(5):
        begun = perf_counter()
        part(*arguments)
        times.append(perf_counter() - begun)
    return 1e3 * min(times) / N_VIDEOS


def profile() -> dict:
    """Milliseconds per video of each part of an epoch."""
    with tempfile.TemporaryDirectory() as folder:
        arrays = random_arrays(N_VIDEOS, N_SEGMENTS, N_STEPS, N_DIMENSIONS, N_TASKS, Path(folder) / "rows")
        videos, tasks = arrays.videos, arrays.tasks
        stored, space, constants = (
            as_stored(arrays.rows),
            workspace_for(N_DIMENSIONS, videos, tasks),
            training_constants(PAPER, 0),
        )
        n_components = int(tasks.components.max()) + 1
        progress = begin(n_components, N_DIMENSIONS, videos, 0)
        floor = 1e3 * floor_seconds(arrays.rows, videos) / N_VIDEOS
        for part in space[:]:
            part[...] = 0
        parts = {
            "rows: float16 to float32": fastest_ms(load_all, stored, videos, tasks, 0.0, space),
            "rows: the same with dropout": fastest_ms(load_all, stored, videos, tasks, PAPER.dropout, space),
            "scores of all active rows": fastest_ms(score_all, videos, tasks, space),
            "costs of labels": fastest_ms(cost_all, videos, tasks, constants, space),
            "placing steps in order": fastest_ms(place_all, videos, tasks, progress.labels, space),
            "step classifiers from components": fastest_ms(form_all, videos, tasks, progress.parameters, space),
            "gradient of the labelled rows": fastest_ms(gradient_all, stored, videos, tasks, constants, space),
            "lazy Adam": fastest_ms(adam_all, videos, tasks, progress.parameters, progress.adam, constants, space),
        }
        once = replace(PAPER, initial_epochs=4, epochs=4)
        seconds, _ = our_seconds(arrays, n_components, once, 0)
        whole = {"initial epoch": 1e3 * min(seconds[:4]) / N_VIDEOS, "alternating epoch": 1e3 * min(seconds[4:]) / N_VIDEOS}
        pair = 1e3 * epoch_pair(arrays, PAPER) / N_VIDEOS
    return {
        "what": "milliseconds per video on one core, synthetic numbers of the real sizes",
        "shape": {"videos": N_VIDEOS, "segments": N_SEGMENTS, "steps": N_STEPS, "dimensions": N_DIMENSIONS, "tasks": N_TASKS},
        "active_rows_per_video": len(videos.active) / N_VIDEOS,
        "floor_ms": floor,
        "parts_ms": parts,
        "whole_ms": whole,
        "pair_to_two_floors": pair / (2 * floor),
    }
