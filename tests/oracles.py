"""Slow, obviously right twins of what the package computes fast."""

from collections.abc import Iterator, Sequence
from itertools import combinations, permutations, product
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import multivariate_normal

from crosstask.inference.hmm_posterior import HmmPosterior
from crosstask.learning.hmm.class_means import ClassStatistics, MeanPrior
from crosstask.learning.hmm.em import EmSettings
from crosstask.learning.hmm.statistics import ClassIndex, HmmVideo, assign_folds
from crosstask.learning.hmm.task_prior import PriorCounts, TaskPrior

# ---- inference: by enumeration -------------------------------------------------------------------------


def all_increasing_times(T: int, K: int) -> Iterator[tuple[int, ...]]:
    """Every choice of K strictly increasing times out of T, in lexicographic order."""
    return combinations(range(T), K)


def cost_of_times(cost: np.ndarray, times: tuple[int, ...]) -> float:
    return float(sum(cost[t, k] for k, t in enumerate(times)))


def best_times_by_enumeration(cost: np.ndarray) -> tuple[int, ...] | None:
    """The lexicographically first of the cheapest increasing times; None when all are forbidden or there are none."""
    choices = [(cost_of_times(cost, times), times) for times in all_increasing_times(*cost.shape)]
    least = min(choices, default=(np.inf, ()))
    return least[1] if least[0] < np.inf else None


def once_marginals_by_enumeration(cost: np.ndarray) -> tuple[np.ndarray, float]:
    """Marginals (T, K) and the sum Z of the weights exp(-cost), from every increasing placement in turn."""
    total = np.zeros(cost.shape)
    Z = 0.0
    for times in all_increasing_times(*cost.shape):
        weight = np.exp(-cost_of_times(cost, times))
        Z += weight
        for k, t in enumerate(times):
            total[t, k] += weight
    return total / Z, Z


def all_orders_with_swaps(K: int) -> Iterator[tuple[int, ...]]:
    """Every order of K steps that differs from the list by disjoint swaps of neighbours."""
    for order in permutations(range(K)):
        if all(order[k] == k or (abs(order[k] - k) == 1 and order[order[k]] == k) for k in range(K)):
            yield order


def best_swapped_times_by_enumeration(cost: np.ndarray) -> tuple[int, ...] | None:
    """The cheapest times up to swaps; among equals, from the last placement back: the earlier, then the listed order."""
    T, K = cost.shape
    choices = []
    for order in all_orders_with_swaps(K):
        for moments in all_increasing_times(T, K):
            times = tuple(moments[order.index(k)] for k in range(K))
            tie = [(moments[i], order[i] < i) for i in reversed(range(K))]  # a step that comes late closes a swap
            choices.append((cost_of_times(cost, times), tie, times))
    least = min(choices, default=(np.inf, [], ()))
    return least[2] if least[0] < np.inf else None


def best_times_with_drops_by_enumeration(cost: np.ndarray, absence: np.ndarray) -> tuple[int, ...] | None:
    """The cheapest times with -1 for absent steps; among equals the smallest read from the last step."""
    T, K = cost.shape
    choices = []
    for times in product(range(-1, T), repeat=K):
        placed = [t for t in times if t >= 0]
        if placed == sorted(set(placed)):
            price = sum(cost[t, k] if t >= 0 else absence[k] for k, t in enumerate(times))
            choices.append((float(price), times[::-1]))
    least = min(choices)
    return least[1][::-1] if least[0] < np.inf else None


def ordered_ceiling_by_enumeration(truth: np.ndarray) -> int:
    """The most hits over every subset of steps and every choice of increasing times for it."""
    T, K = truth.shape
    return max(
        sum(int(truth[t, k]) for k, t in zip(steps, times, strict=True))
        for size in range(min(T, K) + 1)
        for steps in combinations(range(K), size)
        for times in combinations(range(T), size)
    )


# ---- inference/hmm_posterior.py: by enumeration --------------------------------------------------------


class Chain(NamedTuple):
    """Transition probabilities of the left-to-right HMM: a_k, a_bg, b and p_k of `inference/hmm_posterior.py`."""

    self_transition: np.ndarray
    background_self_transition: float
    p_background: float
    presence: np.ndarray

    def p_next_step(self, first: int, step: int) -> float:
        """Probability that, moving on when `first` is the next step of the list, `step` occurs and those before it are skipped."""
        K = len(self.presence)
        skipped = float(np.prod([1 - self.presence[k] for k in range(first, step)]))
        return skipped * (float(self.presence[step]) if step < K else 1.0)  # step K: all remaining steps are skipped


def path_probability(path: Sequence[int], chain: Chain) -> float:
    """Prior probability of the states of all segments, step 0 .. K - 1 or background K, transition by transition."""
    a, a_bg, b, presence = chain
    K = len(presence)
    probability, first = 1.0, 0  # first: the next step of the list that may still occur
    for before, state in zip([None, *path], path, strict=False):
        begins = state < K and state != before
        if begins and state < first:
            return 0.0
        if before is None:
            probability *= b if state == K else (1 - b) * chain.p_next_step(0, state)
        elif before == K:
            probability *= a_bg if state == K else (1 - a_bg) * chain.p_next_step(first, state)
        elif state == before:
            probability *= a[before]
        else:
            probability *= (1 - a[before]) * (b if state == K else (1 - b) * chain.p_next_step(first, state))
        if begins:
            first = state + 1
    return probability * chain.p_next_step(first, K)


def hmm_posterior_by_enumeration(log_ratios: np.ndarray, chain: Chain) -> HmmPosterior:
    """The posterior as a sum over all (K + 1)^T paths, each weighted by its probability and its emissions."""
    T, K = log_ratios.shape[0], log_ratios.shape[1] - 1
    total, in_state, starts = 0.0, np.zeros((T, K + 1)), np.zeros((T, K + 1))
    for path in product(range(K + 1), repeat=T):
        probability = path_probability(path, chain)
        if probability == 0:
            continue
        weight = probability * np.exp(sum(log_ratios[t, state] for t, state in enumerate(path)))
        total += weight
        for t, state in enumerate(path):
            in_state[t, state] += weight
            starts[t, state] += weight if t == 0 or path[t - 1] != state else 0.0
    return HmmPosterior(in_state[:, :K] / total, starts[:, :K] / total, float(np.log(total)))


# ---- learning/hmm/class_means.py: direct formulas ------------------------------------------------------


def means_by_conditioning(
    statistics: ClassStatistics, kernel: np.ndarray, prior: MeanPrior, new_kernel: np.ndarray | None = None
) -> np.ndarray:
    """E[m | y] of the joint Gaussian of class means m and observed means y, with an explicit inverse for each dimension.

    Only classes with labelled segments are observed. With new_kernel (N, C), the means of N new classes instead.
    """
    C = len(kernel)
    covariance = np.array([[prior.shared * kernel[c, e] + prior.own * (c == e) for e in range(C)] for c in range(C)])
    with_observed = covariance if new_kernel is None else prior.shared * new_kernel
    observed = [c for c in range(C) if statistics.counts[c] > 1e-3]
    noise = np.diag([prior.noise / statistics.counts[c] + statistics.bias[c] for c in observed])
    inverse = np.linalg.inv(covariance[np.ix_(observed, observed)] + noise)
    means = np.zeros((len(with_observed), statistics.sums.shape[1]))
    for j in range(statistics.sums.shape[1]):
        y = np.array([statistics.sums[c, j] / statistics.counts[c] for c in observed])
        means[:, j] = with_observed[:, observed] @ inverse @ y
    return means


def within_covariance_by_sums(rows: np.ndarray, labels: np.ndarray, ridge: float) -> np.ndarray:
    """The scatter of rows (n, d) around the mean of each class, weighted by labels (n, C) that sum to 1, divided by n and shrunk."""
    d = rows.shape[1]
    scatter = np.zeros((d, d))
    for c in range(labels.shape[1]):
        if labels[:, c].sum() > 0:
            mean = sum(labels[i, c] * rows[i] for i in range(len(rows))) / labels[:, c].sum()
            for i in range(len(rows)):
                scatter += labels[i, c] * np.outer(rows[i] - mean, rows[i] - mean)
    within = scatter / len(rows)
    return (1 - ridge) * within + ridge * np.trace(within) / d * np.eye(d)


def log_ratios_by_densities(rows: np.ndarray, means: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """(T, K + 1) differences of Gaussian log-densities to the last class, for means (K + 1, d)."""
    densities = [np.atleast_1d(multivariate_normal(mean, covariance).logpdf(rows)) for mean in means]
    return np.stack([density - densities[-1] for density in densities], axis=1)


# ---- learning/hmm/task_prior.py: one number at a time --------------------------------------------------

PRIOR_BINS = 20


def position_log_ratios_by_interpolation(prior: TaskPrior, T: int, segments: float, largest: float) -> np.ndarray:
    """(T, K + 1): the log of the density between the centres of its bins, times min(largest, segments K / T)."""
    centres = [(i + 0.5) / PRIOR_BINS for i in range(PRIOR_BINS)]
    weight = min(largest, segments * len(prior.duration) / T)
    columns = prior.position.T
    return np.array([[weight * np.log(np.interp((t + 0.5) / T, centres, column)) for column in columns] for t in range(T)])


def chain_of(prior: TaskPrior, T: int) -> Chain:
    """Self-transitions from mean durations: a step of n segments on average goes on with probability 1 - 1 / n."""
    a = np.array([1 - 1 / max(share * T, 1.01) for share in prior.duration])
    return Chain(a, 1 - 1 / max(prior.background_duration * T, 1.01), 0.5, prior.presence)


def updated_prior_by_loops(counts: PriorCounts) -> TaskPrior:
    """`update_prior` of at least one video: 10 pseudo-videos with presence 0.7, and 0.2 videos of uniform position."""
    K, n = len(counts.starts), counts.videos
    smooth = np.zeros((PRIOR_BINS, K + 1))
    weights = {shift: np.exp(-0.5 * (shift / 1.5) ** 2) for shift in range(-4, 5)}
    for i in range(PRIOR_BINS):
        for shift, weight in weights.items():
            source = i + shift
            source = -1 - source if source < 0 else 2 * PRIOR_BINS - 1 - source if source >= PRIOR_BINS else source
            smooth[i] += weight / sum(weights.values()) * counts.histogram[source]
    position = np.array([(row + 0.2 / 20) / (smooth.sum(axis=0) + 0.2) * 20 for row in smooth])
    duration = [(counts.histogram[:, k].sum() + 10 * (0.7 / K / 0.7)) / (counts.starts[k] + 10) for k in range(K)]
    presence = [min(max((counts.starts[k] + 10 * 0.7) / (n + 10), 0.05), 0.98) for k in range(K)]
    background = max(2 * counts.histogram[:, K].sum() / n / (0.7 * K + 1), 0.01)
    return TaskPrior(position, np.array(duration), background, np.array(presence))


# ---- learning/hmm/em.py: one iteration with plain loops ------------------------------------------------


class EmStep(NamedTuple):
    """Labels (T, K + 1) of each video and the prior of each task, after an iteration."""

    labels: list[np.ndarray]
    priors: list[TaskPrior]


def initial_labels_by_loops(windows: np.ndarray) -> np.ndarray:
    """(T, K): a step has its window, or else the K-th part of the video."""
    T, K = windows.shape
    labels = np.zeros((T, K))
    for k in range(K):
        for t in range(T):
            in_part = k <= (t + 0.5) / T * K < k + 1
            labels[t, k] = windows[t, k] if windows[:, k].any() else in_part
    return labels


def _with_background(labels: np.ndarray) -> np.ndarray:
    return np.column_stack([labels, [1 - sum(row) for row in labels]])


def _shared_between_steps(labels: np.ndarray) -> np.ndarray:
    return np.array([row / sum(row) if sum(row) > 1 else row for row in labels])


def first_em_step(videos: Sequence[HmmVideo], classes: ClassIndex) -> EmStep:
    """The initial labels and the priors estimated from them; each step is expected in 0.7 of the videos."""
    labels = [_with_background(_shared_between_steps(initial_labels_by_loops(video.windows))) for video in videos]
    starts = [np.full(classes.n_steps[video.task], 0.7) for video in videos]
    return EmStep(labels, _priors_of(videos, labels, starts, classes))


def next_em_step(
    videos: Sequence[HmmVideo], classes: ClassIndex, settings: EmSettings, before: EmStep, bias: np.ndarray
) -> EmStep:
    """M step from the labels `before`, without the fold of the video; then the E step by enumeration of all paths."""
    folds = assign_folds(videos, settings.folds, settings.fold_seed)
    covariance = within_covariance_by_sums(*_stacked(videos, before.labels, classes), settings.mean_prior.ridge)
    labels, starts = [], []
    for number, video in enumerate(videos):
        others = [i for i in range(len(videos)) if folds[i] != folds[number]] or list(range(len(videos)))
        statistics = statistics_by_sums([videos[i] for i in others], [before.labels[i] for i in others], classes, bias)
        means = means_by_conditioning(statistics, classes.kernel, settings.mean_prior)[classes.of(video.task)]
        prior, (T, K) = before.priors[video.task], video.windows.shape
        chain = chain_of(prior, T)
        of_features = position_log_ratios_by_interpolation(prior, T, 4.0, 0.3) + log_ratios_by_densities(
            video.rows, means, covariance
        )
        in_step, initial = hmm_posterior_by_enumeration(of_features, chain).in_step, initial_labels_by_loops(video.windows)
        gated, with_windows = np.zeros((T, K)), of_features.copy()
        for k in range(K):
            e = sum(in_step[t, k] * initial[t, k] for t in range(T)) / sum(initial[:, k])
            length = video.windows[:, k].sum()
            gated[:, k] = initial[:, k] if length else e / (e + settings.gate) * initial[:, k]
            for t in np.flatnonzero(video.windows[:, k]):
                with_windows[t, k] += np.log(1 + T / length) / length
        gamma = hmm_posterior_by_enumeration(with_windows, chain)
        w = np.array([settings.window_weight if any(column) else settings.spacing_weight for column in video.windows.T])
        labels.append(_with_background(_shared_between_steps(w * _shared_between_steps(gated) + (1 - w) * gamma.in_step)))
        starts.append(gamma.starts.sum(axis=0))
    return EmStep(labels, _priors_of(videos, labels, starts, classes))


def statistics_by_sums(
    videos: Sequence[HmmVideo], labels: Sequence[np.ndarray], classes: ClassIndex, bias: np.ndarray
) -> ClassStatistics:
    """Soft counts and feature sums of all classes, segment by segment."""
    rows, of_class = _stacked(videos, labels, classes)
    counts, sums = np.zeros(of_class.shape[1]), np.zeros((of_class.shape[1], rows.shape[1]))
    for row, label in zip(rows, of_class, strict=True):
        for c, weight in enumerate(label):
            counts[c] += weight
            sums[c] += weight * row
    return ClassStatistics(counts, sums, bias)


def _stacked(videos: Sequence[HmmVideo], labels: Sequence[np.ndarray], classes: ClassIndex) -> tuple[np.ndarray, np.ndarray]:
    """Rows (n, d) of all videos, and their labels (n, C) over the classes of all tasks."""
    of_class = [np.zeros((len(found), len(classes.kernel))) for found in labels]
    for video, found, full in zip(videos, labels, of_class, strict=True):
        full[:, classes.of(video.task)] = found
    return np.concatenate([video.rows.astype(np.float64) for video in videos]), np.concatenate(of_class)


def _priors_of(videos: Sequence[HmmVideo], labels: Sequence[Any], starts: Sequence[Any], classes: ClassIndex) -> list[TaskPrior]:
    priors = []
    for task, K in enumerate(classes.n_steps):
        counts = PriorCounts(np.zeros((PRIOR_BINS, K + 1)), np.zeros(K))
        for i, video in enumerate(videos):
            if video.task == task:
                for t, label in enumerate(labels[i]):
                    counts.histogram[int((t + 0.5) / len(labels[i]) * PRIOR_BINS)] += label / len(labels[i])
                counts.starts += starts[i]
                counts.videos += 1
        priors.append(updated_prior_by_loops(counts))
    return priors
