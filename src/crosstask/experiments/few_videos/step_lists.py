"""The same corpus with other step lists: controls that say how far a result rests on names and on the order of the lists.

- names: as given, or cut from published descriptions by the fixed rule of `datasets/short_names.py`;
- order: as given, by the mean position in the training videos, or a random order that keeps the published task graph;
- words: permuted across tasks, which keeps the number of words of each step and the number of steps of each word, and nothing else.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from crosstask.datasets.short_names import short_name
from crosstask.records import Corpus, InputError, StepInterval, Task, Video, VideoKey
from crosstask.records.task import topological_order
from crosstask.text.stems import stem, words_of_step

NAMES = ("given", "published")
_SWAPS_PER_WORD = 20  # attempted exchanges per (step, word) pair; the result no longer depends on the start
Intervals = Mapping[VideoKey, tuple[StepInterval, ...]]


def with_intervals_in_memory(corpus: Corpus) -> Corpus:
    """The same corpus with annotation and windows read, so that many evaluations do not read the files again."""
    keys = [video.key for video in corpus.videos]
    return replace(
        corpus,
        annotations={key: corpus.annotations[key] for key in keys if key in corpus.annotations},
        windows={key: corpus.windows[key] for key in keys if key in corpus.windows},
    )


def with_published_names(corpus: Corpus) -> Corpus:
    """Step names cut from the published descriptions."""
    if lacking := [task.id for task in corpus.tasks.values() if not task.descriptions]:
        raise InputError(f"corpus '{corpus.name}', task {lacking[0]}: no published descriptions; expected them in published.json")
    tasks = {
        task.id: replace(task, steps=tuple(short_name(text) for text in task.descriptions)) for task in corpus.tasks.values()
    }
    return replace(corpus, tasks=tasks)


def with_training_order(corpus: Corpus, train: Sequence[Video]) -> Corpus:
    """Steps by their mean relative position in the training videos alone; a step that none of them shows keeps its relative place."""
    ranks = {}
    for task in corpus.tasks.values():
        positions: list[list[float]] = [[] for _ in task.steps]
        for video in train:
            if video.task == task.id:
                for found in corpus.annotations[video.key]:
                    middle = (found.interval.start_s + found.interval.end_s) / 2
                    positions[found.step].append(middle / corpus.n_segments(video))
        ranks[task.id] = [float(np.mean(p)) if p else (k + 0.5) / len(positions) for k, p in enumerate(positions)]
    return reordered(corpus, {task: sorted(range(len(r)), key=lambda k: (r[k], k)) for task, r in ranks.items()})


def with_graph_order(corpus: Corpus, seed: int = 0) -> Corpus:
    """Steps in an order that keeps the published task graph; where it leaves a choice, a random draw decides, so that no annotation is used."""
    if not any(task.order for task in corpus.tasks.values()):
        raise InputError(f"corpus '{corpus.name}': no task graph is published; expected edges in published.json")
    rng = np.random.default_rng([seed, 10])
    orders = {task.id: topological_order(task.order, rng.random(len(task.steps)).tolist()) for task in corpus.tasks.values()}
    return reordered(corpus, orders)


def reordered(corpus: Corpus, orders: Mapping[str, Sequence[int]]) -> Corpus:
    """The corpus with the steps of each task in another order: `orders[task]` lists the present numbers in the new order."""
    place = {task: {k: i for i, k in enumerate(order)} for task, order in orders.items()}
    tasks = {task.id: _reordered_task(task, orders[task.id]) for task in corpus.tasks.values()}

    def moved(intervals: Intervals) -> dict[VideoKey, tuple[StepInterval, ...]]:
        keys = [video.key for video in corpus.videos if video.key in intervals]
        return {key: tuple(replace(s, step=place[key.task][s.step]) for s in intervals[key]) for key in keys}

    return replace(corpus, tasks=tasks, annotations=moved(corpus.annotations), windows=moved(corpus.windows))


def _reordered_task(task: Task, order: Sequence[int]) -> Task:
    place = {k: i for i, k in enumerate(order)}
    return replace(
        task,
        steps=tuple(task.steps[k] for k in order),
        descriptions=tuple(task.descriptions[k] for k in order) if task.descriptions else (),
        order=tuple(sorted((place[a], place[b]) for a, b in task.order)),
    )


def with_permuted_words(corpus: Corpus, seed: int) -> Corpus:
    """Step names with words exchanged between tasks at random: as many words per step and as many steps per word as before.

    Words with one stem are one word here, since methods compare stems.
    """
    spelling: dict[str, str] = {}
    words: dict[tuple[str, int], list[str]] = {}
    for task in corpus.tasks.values():
        for k, step in enumerate(task.steps):
            words[task.id, k] = list(dict.fromkeys(spelling.setdefault(stem(word), word) for word in words_of_step(step)))
    rng = np.random.default_rng([seed, 9])
    pairs = [(step, i) for step, of_step in words.items() for i in range(len(of_step))]
    for a, b in rng.integers(len(pairs), size=(_SWAPS_PER_WORD * len(pairs), 2)):
        (first, i), (second, j) = pairs[a], pairs[b]
        x, y = words[first][i], words[second][j]
        if first[0] != second[0] and y not in words[first] and x not in words[second]:
            words[first][i], words[second][j] = y, x
    tasks = {
        task.id: replace(task, steps=tuple(" ".join(words[task.id, k]) for k in range(len(task.steps))))
        for task in corpus.tasks.values()
    }
    return replace(corpus, tasks=tasks)
