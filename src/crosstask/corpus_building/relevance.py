"""Relevance of a video for a task without labels: how much of the step list is spoken, in order.

    s[l, k] = weight of the words of step k spoken within the window around word l / weight of all its words       (L, K), 0 to 1
    spoken  = max over moments l_1 < l_2 < ... of some steps of  sum_k  w_k s[l_k, k] / sum_k w_k                  0 to 1
    score   = (spoken + title_weight * share of the title's weight that is spoken anywhere) / (1 + title_weight)

w_k is the weight of all words of step k. The weight of a word is log((2 + n) / (1 + df)) when df of the n step lists contain it:
'add' is common, 'rotor' is specific. A step that is not spoken contributes zero.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from crosstask.corpus_building.related import STOP_WORDS
from crosstask.records import Narration, Task
from crosstask.text.encoders.tfidf import stems_of_sentence
from crosstask.text.stems import stems_of_step_parts

Floats = npt.NDArray[np.float64]
_PLURAL = re.compile(r"(?<=[ailor])v$")  # what stemming leaves of shelves, loaves, knives, halves, scarves


@dataclass(frozen=True)
class RelevanceSettings:
    """Settings of the score; results/collecting.json holds the effect of each, chosen on one task and evaluated on another."""

    window_words: int = 10  # in which the words of one step must be spoken
    title_weight: float = 0.5  # of the title, relative to the whole step list


DEFAULT = RelevanceSettings()


@lru_cache(maxsize=100_000)
def singular_stem(stem: str) -> str:
    """The same stem for singular and plural, which stemming leaves as 'shelf' and 'shelv'.

    >>> singular_stem("shelv"), singular_stem("loav"), singular_stem("stove")
    ('shelf', 'loaf', 'stove')
    """
    return _PLURAL.sub("f", stem)


def spoken_stems(narration: Narration) -> list[str]:
    """The stems of the spoken words, in order."""
    return [singular_stem(stem) for word in narration.words for stem in stems_of_sentence(word.text)]


def content_stems(text: str) -> list[str]:
    """The stems of a step or title without stop words, each once.

    >>> content_stems("put the shelves on the wall")
    ['put', 'shelf', 'wall']
    """
    return list(dict.fromkeys(singular_stem(part) for part in stems_of_step_parts(text) if part not in STOP_WORDS))


@dataclass(frozen=True)
class StemWeights:
    """The weight of each stem by its frequency in step lists; a stem of no list has the largest weight."""

    lists_with: Mapping[str, int]
    n_lists: int

    def weight(self, stem: str) -> float:
        """log((2 + n) / (1 + df)), always positive."""
        return float(np.log((2 + self.n_lists) / (1 + self.lists_with.get(stem, 0))))


def stem_weights(tasks: Iterable[Task]) -> StemWeights:
    """The weights of stems from the number of step lists that contain them."""
    counts: Counter[str] = Counter()
    n_lists = 0
    for task in tasks:
        counts.update({stem for step in task.steps for stem in content_stems(step)})
        n_lists += 1
    return StemWeights(counts, n_lists)


def relevance(spoken: Sequence[str], task: Task, weights: StemWeights, settings: RelevanceSettings = DEFAULT) -> float:
    """0 to 1: how much of a task's step list (and title) is spoken, in order; `spoken` comes from `spoken_stems`.

    >>> tea = Task("1", "Make Tea", ("boil water", "pour water"))
    >>> weights = stem_weights([tea])
    >>> relevance("now boil the water and pour the water in for tea".split(), tea, weights)
    1.0
    >>> close = RelevanceSettings(window_words=2, title_weight=0)
    >>> round(relevance("pour the water then boil the water".split(), tea, weights, close), 2)  # in the other order
    0.75
    """
    positions: dict[str, list[int]] = {}
    for position, stem in enumerate(spoken):
        positions.setdefault(stem, []).append(position)
    steps = [content_stems(step) or stems_of_step_parts(step) for step in task.steps]
    step_weights = np.array([sum(weights.weight(stem) for stem in step) for step in steps])
    in_window = np.stack(
        [_window_weights(step, positions, len(spoken), weights, settings.window_words) for step in steps], axis=1
    )
    steps_share = _best_ordered_sum(in_window) / float(step_weights.sum())  # in_window is (L, K)
    title = {stem: weights.weight(stem) for stem in content_stems(task.title)}
    if not title or not settings.title_weight:
        return steps_share
    title_share = sum(weight for stem, weight in title.items() if stem in positions) / sum(title.values())
    return (steps_share + settings.title_weight * title_share) / (1 + settings.title_weight)


def _window_weights(
    step: Sequence[str], positions: Mapping[str, Sequence[int]], n_spoken: int, weights: StemWeights, window: int
) -> Floats:
    """(L,): the weight of the step's stems that are spoken within the window around each word."""
    total = np.zeros(n_spoken)
    for stem in step:
        near = np.zeros(n_spoken, dtype=bool)
        for position in positions.get(stem, ()):
            near[max(0, position - window // 2) : position + window // 2 + 1] = True
        total += weights.weight(stem) * near
    return total


def _best_ordered_sum(scores: Floats) -> float:
    """The largest sum over some steps of the score (L, K) at one moment each, with the moments in the order of the steps."""
    best = np.zeros(len(scores) + 1)
    for column in scores.T:
        best[1:] = np.maximum.accumulate(np.maximum(best[1:], best[:-1] + column))
    return float(best[-1])


@dataclass(frozen=True)
class RankedVideo:
    """A video with its relevance and its number of spoken words."""

    video: str
    relevance: float
    words: int


def rank_by_narration(
    narrations: Mapping[str, Narration], task: Task, weights: StemWeights, settings: RelevanceSettings = DEFAULT
) -> list[RankedVideo]:
    """Videos by descending relevance for a task; equal ones by name."""
    ranked = []
    for video in sorted(narrations):
        spoken = spoken_stems(narrations[video])
        ranked.append(RankedVideo(video, relevance(spoken, task, weights, settings), len(spoken)))
    return sorted(ranked, key=lambda row: -row.relevance)
