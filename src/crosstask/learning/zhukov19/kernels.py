"""One epoch over the training videos: labels, then a gradient step, one video at a time (Sec. 4.3 and the supplement).

Per video: bring its components up to date, form the K step classifiers V = Â [W b], score the active rows (with dropout), place each step
once at least cost, and step Adam on the gradient of the chosen rows, scored anew with a fresh dropout mask (as the published code does).

    F_tk = -log softmax(f_t)_k,   dF_tk/df_t = p - e_k,   dF_tk/d[W b] = Âᵀ (p - e_k) [x_t 1]
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from crosstask.inference.compiled import compiled_with_reordered_sums
from crosstask.inference.once import once_into
from crosstask.learning.zhukov19.adam import AdamState, adam_row, bring_up_to_date
from crosstask.learning.zhukov19.counter_rng import fill_bits, mixed, unit_float
from crosstask.learning.zhukov19.training_set import TaskArrays, VideoArrays

Floats = npt.NDArray[np.float32]
_UNSHIFT = np.float32(2.0**112)  # a float16's exponent moved into a float32 lacks 112
_SHIFT, _SIGN_AND_REST = np.int32(13), np.int32(0x8FFFE000 - 2**32)
ROWS_AT_ONCE, COLUMNS_AT_ONCE = 4, 640  # four rows' columns stay in the nearest cache while every classifier passes over them
LABEL_PASS, GRADIENT_PASS, DRAW_PASS = 0, 1, 2


class Workspace(NamedTuple):
    """Room for the largest video, made once."""

    rows: Floats  # (4, D)
    bits: npt.NDArray[np.uint64]  # (D / 4,)
    step_weights: Floats  # (K, D + 1)
    step_gradient: Floats  # (K, D + 1)
    gradient: Floats  # (D + 1,)
    scores: Floats  # (active + 4, K)
    cost: npt.NDArray[np.float64]  # (active, K)
    value: npt.NDArray[np.float64]  # (K,)
    placed: npt.NDArray[np.bool_]  # (active, K)
    times: npt.NDArray[np.int64]  # (K,)


def workspace(n_dimensions: int, n_steps: int, n_active: int) -> Workspace:
    """Room for videos of up to `n_active` active rows and `n_steps` steps."""
    return Workspace(
        rows=np.empty((ROWS_AT_ONCE, n_dimensions), np.float32),
        bits=np.empty((n_dimensions + 3) // 4, np.uint64),
        step_weights=np.empty((n_steps, n_dimensions + 1), np.float32),
        step_gradient=np.empty((n_steps, n_dimensions + 1), np.float32),
        gradient=np.empty(n_dimensions + 1, np.float32),
        scores=np.empty((n_active + ROWS_AT_ONCE, n_steps), np.float32),  # rows go in fours
        cost=np.empty((n_active, n_steps)),
        value=np.empty(n_steps),
        placed=np.empty((n_active, n_steps), np.bool_),
        times=np.empty(n_steps, np.int64),
    )


class TrainingConstants(NamedTuple):
    """What the kernels need of the settings."""

    learning_rate: float
    dropout: float
    bound_weight: float  # weight of the gradient-norm term of (17); the learning rate, or 0 for the plain cost
    linearised_weight: float  # weight of the cross term of the published form; the learning rate, or 0
    per_segment: bool  # divide the loss by T, as the published code does
    seed: np.uint64


@compiled_with_reordered_sums
def load_row(stored: npt.NDArray[np.generic], at: int, key: np.uint64, dropout: float, row: Floats, space: Workspace) -> None:
    """Put row `at` of the stored features (float16 seen as int16, or float32) into `row`, with dropout."""
    source = stored[at]
    scale = np.float32(1 / (1 - dropout))
    if dropout == 0:
        for d in range(row.size):
            row[d] = _number(source[d], stored.itemsize)
        return
    draws, threshold = dropout_draws(key, dropout, space.bits)
    for d in range(row.size):
        number = _number(source[d], stored.itemsize) * scale  # dropped or not: without a branch, many columns go at once
        row[d] = number if draws[d] >= threshold else np.float32(0)


@compiled_with_reordered_sums
def load_four(
    stored: npt.NDArray[np.generic],
    first_row: int,
    segments: npt.NDArray[np.int32],
    i: int,
    key: np.uint64,
    dropout: float,
    space: Workspace,
) -> int:
    """Put the rows of segments i to i + 3, or to the last, into `space.rows`; how many there are. Other places are 0."""
    n_rows = min(ROWS_AT_ONCE, segments.size - i)
    for r in range(n_rows):
        at = segments[i + r]
        load_row(stored, first_row + at, mixed(key, np.uint64(at)), dropout, space.rows[r], space)
    space.rows[n_rows:] = np.float32(0)  # they are multiplied too: nothing of an earlier video may stand there
    return n_rows


@compiled_with_reordered_sums
def _number(stored: np.generic, n_bytes: int) -> np.float32:
    """A stored number: a float32, or a float16 seen as its bits, which Numba has no type for."""
    if n_bytes == 2:  # the sign stays above, exponent and mantissa move to where a float32 has them
        return np.int32((np.int32(stored) << _SHIFT) & _SIGN_AND_REST).view(np.float32) * _UNSHIFT
    return np.float32(stored)


@compiled_with_reordered_sums
def dropout_draws(key: np.uint64, dropout: float, bits: npt.NDArray[np.uint64]) -> tuple[npt.NDArray[np.uint16], np.uint16]:
    """Sixteen random bits a column, and the threshold below which a column is dropped."""
    fill_bits(key, bits)
    return bits.view(np.uint16), np.uint16(min(65535, round(dropout * 65536)))


@compiled_with_reordered_sums
def score_rows(step_weights: Floats, n_steps: int, rows: Floats, scores: Floats) -> None:
    """w · x + b of all step classifiers for four rows, (4, K): two classifiers at a time, so each number read serves many products."""
    D = rows.shape[1]
    for k in range(n_steps):
        scores[:, k] = step_weights[k, D]
    for begin in range(0, D, COLUMNS_AT_ONCE):
        end = min(begin + COLUMNS_AT_ONCE, D)
        x0, x1, x2, x3 = rows[0, begin:end], rows[1, begin:end], rows[2, begin:end], rows[3, begin:end]
        for k in range(0, n_steps, 2):
            other = min(k + 1, n_steps - 1)  # the last of an odd number is its own partner
            one, two = step_weights[k, begin:end], step_weights[other, begin:end]
            a0, a1, a2, a3 = np.float32(0), np.float32(0), np.float32(0), np.float32(0)
            b0, b1, b2, b3 = np.float32(0), np.float32(0), np.float32(0), np.float32(0)
            for d in range(one.size):
                a0 += one[d] * x0[d]
                a1 += one[d] * x1[d]
                a2 += one[d] * x2[d]
                a3 += one[d] * x3[d]
                b0 += two[d] * x0[d]
                b1 += two[d] * x1[d]
                b2 += two[d] * x2[d]
                b3 += two[d] * x3[d]
            _add_to_column(scores, k, a0, a1, a2, a3)
            if other > k:
                _add_to_column(scores, other, b0, b1, b2, b3)


@compiled_with_reordered_sums
def _add_to_column(scores: Floats, k: int, a0: np.float32, a1: np.float32, a2: np.float32, a3: np.float32) -> None:
    scores[0, k] += a0
    scores[1, k] += a1
    scores[2, k] += a2
    scores[3, k] += a3


@compiled_with_reordered_sums
def form_step_weights(parameters: Floats, numbers: npt.NDArray[np.int64], averaging: Floats, out: Floats) -> None:
    """V = Â [W b]: (K, D + 1)."""
    for k in range(averaging.shape[0]):
        target = out[k]
        target[:] = np.float32(0)
        for j in range(averaging.shape[1]):
            share = averaging[k, j]
            if share != 0:
                source = parameters[numbers[j]]
                for d in range(target.size):
                    target[d] += share * source[d]


@compiled_with_reordered_sums
def to_probabilities(scores: Floats) -> float:
    """Turn the scores (K,) of a segment into probabilities; the log of their normaliser."""
    highest = scores[0]
    for k in range(1, scores.size):
        highest = max(highest, scores[k])
    total = 0.0
    for k in range(scores.size):
        scores[k] = np.exp(scores[k] - highest)
        total += scores[k]
    for k in range(scores.size):
        scores[k] /= np.float32(total)
    return highest + np.log(total)


@compiled_with_reordered_sums
def add_gradients(
    stored: npt.NDArray[np.generic],
    at: npt.NDArray[np.int64],
    steps: npt.NDArray[np.int64],
    first: int,
    key: np.uint64,
    scale: float,
    n_steps: int,
    dropout: float,
    space: Workspace,
) -> float:
    """Add scale * (p - e_step) [x 1] of up to four rows, from number `first` on, to the step gradient; the sum of their costs F."""
    n_rows = min(ROWS_AT_ONCE, at.size - first)
    for r in range(n_rows):
        load_row(stored, at[first + r], mixed(key, np.uint64(first + r)), dropout, space.rows[r], space)
    space.rows[n_rows:] = np.float32(0)
    errors = space.scores[:ROWS_AT_ONCE]
    score_rows(space.step_weights, n_steps, space.rows, errors)
    cost = 0.0
    for r in range(n_rows):
        score = errors[r, steps[first + r]]
        cost += to_probabilities(errors[r, :n_steps]) - score
        errors[r, steps[first + r]] -= np.float32(1)
    errors[n_rows:ROWS_AT_ONCE, :n_steps] = np.float32(0)
    add_outer_products(errors, np.float32(scale), n_steps, space.rows, space.step_gradient)
    return cost


@compiled_with_reordered_sums
def add_outer_products(errors: Floats, scale: np.float32, n_steps: int, rows: Floats, out: Floats) -> None:
    """Add scale * errorsᵀ [rows 1] of four rows to (K, D + 1), in one pass over it."""
    D = rows.shape[1]
    for begin in range(0, D, COLUMNS_AT_ONCE):
        end = min(begin + COLUMNS_AT_ONCE, D)
        x0, x1, x2, x3 = rows[0, begin:end], rows[1, begin:end], rows[2, begin:end], rows[3, begin:end]
        for k in range(n_steps):
            target = out[k, begin:end]
            w0, w1, w2, w3 = scale * errors[0, k], scale * errors[1, k], scale * errors[2, k], scale * errors[3, k]
            for d in range(target.size):
                target[d] += (w0 * x0[d] + w1 * x1[d]) + (w2 * x2[d] + w3 * x3[d])
    for k in range(n_steps):
        out[k, D] += scale * ((errors[0, k] + errors[1, k]) + (errors[2, k] + errors[3, k]))


@compiled_with_reordered_sums
def step_adam(
    parameters: Floats,
    state: AdamState,
    numbers: npt.NDArray[np.int64],
    averaging: Floats,
    constants: TrainingConstants,
    space: Workspace,
) -> None:
    """One Adam step with the components' gradient Âᵀ (step gradient)."""
    state.taken[0] += 1
    n = state.taken[0]
    n_steps, n_components = averaging.shape
    for j in range(n_components):
        space.gradient[:] = np.float32(0)
        for k in range(n_steps):
            share = averaging[k, j]
            if share != 0:
                source = space.step_gradient[k]
                for d in range(space.gradient.size):
                    space.gradient[d] += share * source[d]
        c = numbers[j]
        adam_row(parameters[c], state.first[c], state.second[c], space.gradient, n, constants.learning_rate)
        state.current[c] = n


@compiled_with_reordered_sums
def prepare_task(
    parameters: Floats,
    state: AdamState,
    numbers: npt.NDArray[np.int64],
    averaging: Floats,
    constants: TrainingConstants,
    space: Workspace,
) -> None:
    """Bring a task's components up to date and form its step classifiers."""
    bring_up_to_date(parameters, state, numbers, constants.learning_rate)
    form_step_weights(parameters, numbers, averaging, space.step_weights)


@compiled_with_reordered_sums
def arrays_of(
    v: int, videos: VideoArrays, tasks: TaskArrays
) -> tuple[npt.NDArray[np.int64], Floats, npt.NDArray[np.int32], npt.NDArray[np.bool_]]:
    """Of one video: its component numbers (m,), averaging (K, m), active segments (n,), and allowed places (n, K)."""
    task = videos.task[v]
    numbers = tasks.components[tasks.first_component[task] : tasks.first_component[task + 1]]
    averaging = tasks.averaging[tasks.first_cell[task] : tasks.first_cell[task + 1]].reshape(tasks.n_steps[task], numbers.size)
    active = videos.active[videos.first_active[v] : videos.first_active[v + 1]]
    allowed = videos.allowed[videos.first_allowed[v] : videos.first_allowed[v + 1]].reshape(active.size, tasks.n_steps[task])
    return numbers, averaging, active, allowed


@compiled_with_reordered_sums
def noise_key(seed: np.uint64, epoch: int, v: int, which: int) -> np.uint64:
    """The key of one video's random numbers for one purpose in one epoch."""
    return mixed(mixed(mixed(seed, np.uint64(epoch)), np.uint64(v)), np.uint64(which))


@compiled_with_reordered_sums
def learn_from(
    stored: npt.NDArray[np.generic],
    epoch: int,
    v: int,
    segments: npt.NDArray[np.int32],
    steps: npt.NDArray[np.int64],
    videos: VideoArrays,
    tasks: TaskArrays,
    parameters: Floats,
    state: AdamState,
    constants: TrainingConstants,
    space: Workspace,
) -> float:
    """Step on the cross-entropy of labels of video v, whose step weights are formed: steps (n,) at segments (n,); their summed cost."""
    numbers, averaging, _, _ = arrays_of(v, videos, tasks)
    n_steps = averaging.shape[0]
    at = videos.first_row[v] + segments.astype(np.int64)
    scale = 1.0 / videos.n_segments[v] if constants.per_segment else 1.0
    key = noise_key(constants.seed, epoch, v, GRADIENT_PASS)
    space.step_gradient[:n_steps] = np.float32(0)
    total = 0.0
    for first in range(0, at.size, ROWS_AT_ONCE):
        total += add_gradients(stored, at, steps, first, key, scale, n_steps, constants.dropout, space)
    step_adam(parameters, state, numbers, averaging, constants, space)
    return total


@compiled_with_reordered_sums
def draw_costs(
    active: npt.NDArray[np.int32],
    allowed: npt.NDArray[np.bool_],
    seed: np.uint64,
    epoch: int,
    v: int,
    cost: npt.NDArray[np.float64],
) -> None:
    """Random costs in [0, 1) where allowed, infinite elsewhere; (active, K)."""
    key = noise_key(seed, epoch, v, DRAW_PASS)
    n_steps = allowed.shape[1]
    for i in range(active.size):
        for k in range(n_steps):
            cost[i, k] = unit_float(key, np.uint64(active[i] * n_steps + k)) if allowed[i, k] else np.inf


@compiled_with_reordered_sums
def initial_epoch(
    stored: npt.NDArray[np.generic],
    order: npt.NDArray[np.int64],
    epoch: int,
    videos: VideoArrays,
    tasks: TaskArrays,
    parameters: Floats,
    state: AdamState,
    labels: npt.NDArray[np.int64],
    constants: TrainingConstants,
    space: Workspace,
) -> float:
    """One epoch on random labels that keep order and windows, drawn anew; the mean cost of a label."""
    total, count = 0.0, 0
    for v in order:
        numbers, averaging, active, allowed = arrays_of(v, videos, tasks)
        K = averaging.shape[0]
        cost = space.cost[: active.size, :K]
        draw_costs(active, allowed, constants.seed, epoch, v, cost)
        chosen = labels[videos.first_label[v] : videos.first_label[v + 1]]
        if not once_into(cost, space.value, space.placed[: active.size, :K], chosen):
            continue
        prepare_task(parameters, state, numbers, averaging, constants, space)
        total += learn_from(stored, epoch, v, active[chosen], np.arange(K), videos, tasks, parameters, state, constants, space)
        count += K
    return total / max(count, 1)


@compiled_with_reordered_sums
def label_costs(
    stored: npt.NDArray[np.generic],
    first_row: int,
    active: npt.NDArray[np.int32],
    allowed: npt.NDArray[np.bool_],
    key: np.uint64,
    averaging: Floats,
    constants: TrainingConstants,
    space: Workspace,
) -> None:
    """F - delta/2 ‖grad F‖² (Eq. 17) for every active row into `space.cost`, infinite where not allowed."""
    K = averaging.shape[0]
    gram = averaging @ averaging.T
    for i in range(0, active.size, ROWS_AT_ONCE):
        n_rows = load_four(stored, first_row, active, i, key, constants.dropout, space)
        score_rows(space.step_weights, K, space.rows, space.scores[i : i + ROWS_AT_ONCE])
        for r in range(n_rows):
            costs_of_row(space.scores[i + r, :K], allowed[i + r], gram, space.rows[r], constants, space.cost[i + r], space.value)


@compiled_with_reordered_sums
def costs_of_row(
    p: Floats,
    allowed: npt.NDArray[np.bool_],
    gram: Floats,
    row: Floats,
    constants: TrainingConstants,
    cost: npt.NDArray[np.float64],
    along: npt.NDArray[np.float64],
) -> None:
    """Turn the scores (K,) of a row into probabilities, and write the costs of giving it each label."""
    for k in range(p.size):
        cost[k] = -p[k]
    normaliser = to_probabilities(p)
    for k in range(p.size):
        cost[k] = cost[k] + normaliser if allowed[k] else np.inf
    if constants.bound_weight > 0:
        subtract_gradient_norms(p, gram, row, 0.5 * constants.bound_weight, cost, along)


@compiled_with_reordered_sums
def subtract_gradient_norms(
    p: Floats, gram: Floats, row: Floats, weight: float, cost: npt.NDArray[np.float64], along: npt.NDArray[np.float64]
) -> None:
    """Take weight * ‖Âᵀ(p - e_k)‖² (‖x‖² + 1) off the costs (K,) of one row: pᵀGp - 2 (Gp)_k + G_kk with G = ÂÂᵀ."""
    extent = np.float32(1)
    for d in range(row.size):
        extent += row[d] * row[d]
    expected = 0.0
    for k in range(p.size):
        total = np.float32(0)
        for j in range(p.size):
            total += gram[k, j] * p[j]
        along[k] = total
        expected += p[k] * total
    for k in range(p.size):
        cost[k] -= weight * extent * (expected - 2 * along[k] + gram[k, k])


@compiled_with_reordered_sums
def subtract_cross_terms(
    stored: npt.NDArray[np.generic],
    first_row: int,
    n_segments: int,
    active: npt.NDArray[np.int32],
    before: npt.NDArray[np.int64],
    key: np.uint64,
    averaging: Floats,
    constants: TrainingConstants,
    space: Workspace,
) -> None:
    """The published form: minus delta <grad F_tk, g>, g the mean gradient at the labels held so far, same dropout mask.

    <grad F_tk, g> = (p_t - e_k)ᵀ Â g [x_t 1]ᵀ; call after `label_costs` with the bound term off.
    """
    K = averaging.shape[0]
    space.step_gradient[:K] = np.float32(0)
    gram = (averaging @ averaging.T).astype(np.float64)
    in_four = np.zeros((ROWS_AT_ONCE, K), np.float32)
    for first in range(0, K, ROWS_AT_ONCE):
        n_rows = load_four(stored, first_row, active[before], first, key, constants.dropout, space)
        in_four[:] = np.float32(0)
        for r in range(n_rows):
            in_four[r] = space.scores[before[first + r], :K]
            in_four[r, first + r] -= np.float32(1)
        add_outer_products(in_four, np.float32(1 / n_segments), K, space.rows, space.step_gradient)
    for i in range(0, active.size, ROWS_AT_ONCE):
        n_rows = load_four(stored, first_row, active, i, key, constants.dropout, space)
        score_rows(space.step_gradient, K, space.rows, in_four)
        for r in range(n_rows):
            along = gram @ in_four[r].astype(np.float64)
            expected = 0.0
            for k in range(K):
                expected += space.scores[i + r, k] * along[k]
            for k in range(K):
                space.cost[i + r, k] -= constants.linearised_weight * (expected - along[k])


@compiled_with_reordered_sums
def alternating_epoch(
    stored: npt.NDArray[np.generic],
    order: npt.NDArray[np.int64],
    epoch: int,
    videos: VideoArrays,
    tasks: TaskArrays,
    parameters: Floats,
    state: AdamState,
    labels: npt.NDArray[np.int64],
    constants: TrainingConstants,
    space: Workspace,
) -> float:
    """One epoch of new labels under order and windows, each followed by a gradient step; the mean cost of a label."""
    total, count = 0.0, 0
    for v in order:
        numbers, averaging, active, allowed = arrays_of(v, videos, tasks)
        K = averaging.shape[0]
        first_row, n_segments = videos.first_row[v], videos.n_segments[v]
        prepare_task(parameters, state, numbers, averaging, constants, space)
        label_key = noise_key(constants.seed, epoch, v, LABEL_PASS)
        label_costs(stored, first_row, active, allowed, label_key, averaging, constants, space)
        chosen = labels[videos.first_label[v] : videos.first_label[v + 1]]
        if constants.linearised_weight > 0 and chosen[0] >= 0:
            subtract_cross_terms(stored, first_row, n_segments, active, chosen, label_key, averaging, constants, space)
        if not once_into(space.cost[: active.size, :K], space.value, space.placed[: active.size, :K], chosen):
            continue
        total += learn_from(stored, epoch, v, active[chosen], np.arange(K), videos, tasks, parameters, state, constants, space)
        count += K
    return total / max(count, 1)


@compiled_with_reordered_sums
def labelled_epoch(
    stored: npt.NDArray[np.generic],
    order: npt.NDArray[np.int64],
    epoch: int,
    videos: VideoArrays,
    tasks: TaskArrays,
    parameters: Floats,
    state: AdamState,
    constants: TrainingConstants,
    space: Workspace,
) -> float:
    """One epoch of full supervision: every allowed (segment, step) of a video is a label; the mean cost of a label."""
    total, count = 0.0, 0
    for v in order:
        numbers, averaging, active, allowed = arrays_of(v, videos, tasks)
        if active.size == 0:
            continue
        rows, steps = np.nonzero(allowed)
        prepare_task(parameters, state, numbers, averaging, constants, space)
        total += learn_from(stored, epoch, v, active[rows], steps, videos, tasks, parameters, state, constants, space)
        count += rows.size
    return total / max(count, 1)
