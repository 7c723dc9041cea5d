"""Which videos are about a task, told without labels: how much of its step list is spoken, in order.

    s[l, k] = weight of the words of step k said within the window around word l / weight of all its words        (L, K), 0 to 1
    spoken  = max over moments l_1 < l_2 < ... of some steps of  sum_k  w_k s[l_k, k] / sum_k w_k                  0 to 1
    score   = (spoken + title_weight * share of the title's weight that is said anywhere) / (1 + title_weight)

w_k is the weight of all words of step k. A word weighs log((2 + n) / (1 + df)) when df of the n step lists have it: 'add' tells
little of a task, 'rotor' much. A step that is not said costs its weight and nothing more.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from crosstask.corpus_building.related import EMPTY_WORDS
from crosstask.records import Narration, Task
from crosstask.text.encoders.tfidf import stems_of_sentence
from crosstask.text.stems import stems_of_step_parts

Floats = npt.NDArray[np.float64]
_PLURAL = re.compile(r"(?<=[ailor])v$")  # what stemming leaves of shelves, loaves, knives, halves, scarves


@dataclass(frozen=True)
class RelevanceSettings:
    """Two numbers; results/collecting.json has what each is worth, chosen on one task and measured on another."""

    window_words: int = 10  # that may stand between two words of one step
    title_weight: float = 0.5  # of the title, when the whole step list weighs 1


DEFAULT = RelevanceSettings()


@lru_cache(maxsize=100_000)
def one_spelling(stem: str) -> str:
    """The stem that singular and plural have in common: stemming keeps 'shelf' and 'shelv' apart.

    >>> one_spelling("shelv"), one_spelling("loav"), one_spelling("stove")
    ('shelf', 'loaf', 'stove')
    """
    return _PLURAL.sub("f", stem)


def spoken_stems(narration: Narration) -> list[str]:
    """The stems that are said, in order."""
    return [one_spelling(stem) for word in narration.words for stem in stems_of_sentence(word.text)]


def stems_to_hear(text: str) -> list[str]:
    """The stems of a step or title that tell something, each once.

    >>> stems_to_hear("put the shelves on the wall")
    ['put', 'shelf', 'wall']
    """
    return list(dict.fromkeys(one_spelling(part) for part in stems_of_step_parts(text) if part not in EMPTY_WORDS))


@dataclass(frozen=True)
class TellingWords:
    """How much each stem tells of a task, counted over step lists; a stem of no list tells most."""

    lists_with: Mapping[str, int]
    n_lists: int

    def weight(self, stem: str) -> float:
        """log((2 + n) / (1 + df)), always above 0."""
        return float(np.log((2 + self.n_lists) / (1 + self.lists_with.get(stem, 0))))


def telling_words(tasks: Iterable[Task]) -> TellingWords:
    """Stems with the number of step lists they stand in; the more tasks, the better told apart."""
    counts: Counter[str] = Counter()
    n_lists = 0
    for task in tasks:
        counts.update({stem for step in task.steps for stem in stems_to_hear(step)})
        n_lists += 1
    return TellingWords(counts, n_lists)


def relevance(said: Sequence[str], task: Task, words: TellingWords, settings: RelevanceSettings = DEFAULT) -> float:
    """0 to 1: how much of a task's step list (and title) is spoken, in order; `said` comes from `spoken_stems`.

    >>> tea = Task("1", "Make Tea", ("boil water", "pour water"))
    >>> words = telling_words([tea])
    >>> relevance("now boil the water and pour the water in for tea".split(), tea, words)
    1.0
    >>> close = RelevanceSettings(window_words=2, title_weight=0)
    >>> round(relevance("pour the water then boil the water".split(), tea, words, close), 2)  # the other way round
    0.75
    """
    where: dict[str, list[int]] = {}
    for place, stem in enumerate(said):
        where.setdefault(stem, []).append(place)
    steps = [stems_to_hear(step) or stems_of_step_parts(step) for step in task.steps]
    step_weights = np.array([sum(words.weight(stem) for stem in step) for step in steps])
    heard = np.stack([_heard(step, where, len(said), words, settings.window_words) for step in steps], axis=1)  # (L, K)
    spoken = _best_in_order(heard) / float(step_weights.sum())
    title = {stem: words.weight(stem) for stem in stems_to_hear(task.title)}
    if not title or not settings.title_weight:
        return spoken
    share = sum(weight for stem, weight in title.items() if stem in where) / sum(title.values())
    return (spoken + settings.title_weight * share) / (1 + settings.title_weight)


def _heard(step: Sequence[str], where: Mapping[str, Sequence[int]], n_said: int, words: TellingWords, window: int) -> Floats:
    """(L,): the weight of the step's stems that are said within the window around each word."""
    heard = np.zeros(n_said)
    for stem in step:
        near = np.zeros(n_said, dtype=bool)
        for place in where.get(stem, ()):
            near[max(0, place - window // 2) : place + window // 2 + 1] = True
        heard += words.weight(stem) * near
    return heard


def _best_in_order(heard: Floats) -> float:
    """The greatest sum of one moment for each of some steps, the moments in the order of the steps."""
    best = np.zeros(len(heard) + 1)
    for column in heard.T:
        best[1:] = np.maximum.accumulate(np.maximum(best[1:], best[:-1] + column))
    return float(best[-1])


@dataclass(frozen=True)
class RankedVideo:
    """A video with its relevance; `words` says how much was heard."""

    video: str
    relevance: float
    words: int


def rank_by_narration(
    narrations: Mapping[str, Narration], task: Task, words: TellingWords, settings: RelevanceSettings = DEFAULT
) -> list[RankedVideo]:
    """Videos by falling relevance to a task; among equals, by name."""
    ranked = []
    for video in sorted(narrations):
        said = spoken_stems(narrations[video])
        ranked.append(RankedVideo(video, relevance(said, task, words, settings), len(said)))
    return sorted(ranked, key=lambda row: -row.relevance)
