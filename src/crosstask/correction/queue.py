"""The review queue: which found steps a person should check next.

Every fifth step is drawn at random, and the accuracy is estimated from these alone. So that the other draws cannot spoil the estimate, the steps of a run
are put in a random order that depends on nothing but their names, and the first fifth of them is reserved for the random draws. The others are ordered by
expected gain, the probability that the answer is wrong, divided by how often this step of the task and this video were labelled or queued before: answers
about different videos and tasks teach more.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from typing import Any

from crosstask.correction.accuracy import Accuracy
from crosstask.records import FoundStep, VideoKey
from crosstask.runs import Change, RunFolder
from crosstask.runs.relevance import IRRELEVANT, read_relevance

RANDOM_EVERY = 5
P_UNKNOWN = 0.5  # of being right, for a method without a posterior
LOOK_AHEAD = 20  # queued steps whose gain decides whether further corrections change much
LITTLE = 0.1  # expected share of wrong answers among them below which they do not
FEWEST_ANSWERS = 10  # before these nothing is said about further corrections: a model may be sure and wrong

Place = tuple[VideoKey, int]  # a step of a video, from 0


@dataclass(frozen=True)
class ReviewItem:
    """A found step to check: how it was drawn, and the probability that the answer is right."""

    key: VideoKey
    step: int
    found: FoundStep
    drawn: str
    p_right: float

    def to_json(self) -> dict[str, Any]:
        """The item with its answer; `number` counts the steps of the task from 1."""
        found = self.found.to_json()
        return {
            "task": self.key.task,
            "video": self.key.video,
            "number": self.step + 1,
            "drawn": self.drawn,
            "p_right": self.p_right,
            **found,
        }


@dataclass(frozen=True)
class Review:
    """The next items, the accuracy estimated so far, and whether further corrections are expected to change little."""

    items: tuple[ReviewItem, ...]
    accuracy: Accuracy
    n_answered: int
    n_left: int
    expected_wrong: float  # share of wrong answers among the next by gain, at least that among the last ones that were checked

    @property
    def changes_little(self) -> bool:
        """True if enough was checked, and hardly any of the next answers is expected to be wrong."""
        return self.n_left == 0 or (self.n_answered >= FEWEST_ANSWERS and self.expected_wrong < LITTLE)

    def to_json(self) -> dict[str, Any]:
        """The shape of `review --json` and of the viewer."""
        return {
            "items": [item.to_json() for item in self.items],
            "accuracy": self.accuracy.to_json(),
            "answered": self.n_answered,
            "left": self.n_left,
            "expected_wrong": self.expected_wrong,
            "changes_little": self.changes_little,
        }


def probability_right(found: FoundStep) -> float:
    """The probability that a found step is right: of its moment, or of its absence."""
    if not found.shown:
        return P_UNKNOWN if found.p_shown is None else 1 - found.p_shown
    return P_UNKNOWN if found.confidence is None else found.confidence


def review(run: RunFolder, n: int = LOOK_AHEAD) -> Review:
    """The next `n` steps of a run to check, and what is known so far."""
    pool = pool_of(run)
    changes = run.labels.current()
    labelled = {(key, step) for key, labels in run.labels.labels().items() for step in labels}
    answered = sum(change.drawn is not None for change in changes)
    ahead = pool.next_items(labelled, answered, max(n, LOOK_AHEAD))
    expected = [1 - item.p_right for item in ahead[:LOOK_AHEAD] if item.drawn == "gain"]
    seen = [not label.right for change in changes if change.drawn for label in change.labels if label.right is not None]
    wrong = max(_share(expected), _share(seen[-LOOK_AHEAD:]))
    n_left = len(pool.found) - sum(place in pool.found for place in labelled)
    return Review(tuple(ahead[:n]), accuracy_of(pool.reserved, changes), answered, n_left, wrong)


def _share(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def reserved_steps(found: Iterable[Place], seed: int) -> list[Place]:
    """The fifth of the steps that is asked about at random only, in the order in which they are drawn."""
    order = sorted(found, key=lambda place: _random_number(place, seed))
    return order[: -(-len(order) // RANDOM_EVERY)]


@dataclass(frozen=True)
class Pool:
    """The steps that can be asked about, in the orders in which they are; these do not depend on the labels."""

    found: Mapping[Place, FoundStep]
    reserved: Sequence[Place]
    by_gain: Mapping[tuple[str, int], Sequence[Place]]  # the others by (task, step), falling in gain

    def next_items(self, labelled: Collection[Place], answered: int, n: int) -> list[ReviewItem]:
        """The next `n` items of the queue after so many answers; steps with a label are not asked about."""
        random = (place for place in self.reserved if place not in labelled)
        return list(islice(_queue(self.found, _by_gain(self, labelled), random, answered), n))


def make_pool(found: Mapping[Place, FoundStep], seed: int) -> Pool:
    """The pool of some found steps."""
    reserved = reserved_steps(found, seed)
    by_gain: dict[tuple[str, int], list[Place]] = {}
    for key, step in found.keys() - set(reserved):
        by_gain.setdefault((key.task, step), []).append((key, step))
    for places in by_gain.values():
        places.sort()
        places.sort(key=lambda place: probability_right(found[place]))  # equal ones stay in order
    return Pool(found, reserved, by_gain)


def next_items(
    found: Mapping[Place, FoundStep], labelled: Collection[Place], answered: int, seed: int, n: int
) -> list[ReviewItem]:
    """The next `n` items of the queue of some found steps."""
    return make_pool(found, seed).next_items(labelled, answered, n)


def pool_of(run: RunFolder) -> Pool:
    """The pool of a run, kept until its localizations or the relevance of its videos change."""
    judged = read_relevance(run.folder, run.contents, run.run.tasks)
    irrelevant = frozenset(key for key, relevance in judged.items() if relevance == IRRELEVANT)
    signature = (run.machine_signature, irrelevant)
    return run.remember("pool", signature, lambda: make_pool(_found_steps(run, irrelevant), run.run.seed))


def _found_steps(run: RunFolder, irrelevant: Collection[VideoKey]) -> dict[Place, FoundStep]:
    """The steps of the main method as the machine found them, without those of videos judged irrelevant."""
    localizations = run.machine_localizations.get(next(iter(run.run.methods), ""), {})
    kept = [video.key for video in run.run.videos if video.key in localizations and video.key not in irrelevant]
    return {(key, step): found for key in kept for step, found in enumerate(localizations[key].steps)}


def _random_number(place: Place, seed: int) -> bytes:
    """A number that is random, but the same for a step of a video however often the run is repeated."""
    (task, video), step = place
    return sha256(f"{seed}\n{task}\n{video}\n{step}".encode("utf-8", "surrogatepass")).digest()


def _queue(
    found: Mapping[Place, FoundStep], gain: Iterator[Place], random: Iterator[Place], answered: int
) -> Iterator[ReviewItem]:
    """Items in turn; every fifth, counted over all answers, is drawn at random. Where one kind is used up, the other goes on."""
    turn = answered
    while True:
        turn += 1
        sources = [("random", random), ("gain", gain)] if turn % RANDOM_EVERY == 0 else [("gain", gain), ("random", random)]
        drawn, place = next(((name, place) for name, source in sources if (place := next(source, None)) is not None), ("", None))
        if place is None:
            return
        yield ReviewItem(*place, found[place], drawn, probability_right(found[place]))


def _by_gain(pool: Pool, labelled: Collection[Place]) -> Iterator[Place]:
    """The steps without a label, each time the one of the largest gain divided by the labels and items of its step and its video so far."""
    of_step = Counter((key.task, step) for key, step in labelled)
    of_video = Counter(key for key, _ in labelled)
    asked = set(labelled)

    def value(place: Place, of_this_video: int) -> float:
        gain = 1 - probability_right(pool.found[place])
        return gain / ((1 + of_step[place[0].task, place[1]]) * (1 + of_this_video))

    def best(places: Sequence[Place]) -> tuple[float, Place] | None:
        """The first place of the largest value, negated; the places are in falling order of gain, so that most of them need no look."""
        found: tuple[float, Place] | None = None
        for place in places:
            if found is not None and (-value(place, 0), place) > found:
                break
            if place not in asked:
                candidate = (-value(place, of_video[place[0]]), place)
                found = candidate if found is None else min(found, candidate)
        return found

    bests = {group: best(places) for group, places in pool.by_gain.items()}
    while (top := min((found for found in bests.values() if found is not None), default=None)) is not None:
        _, place = top
        asked.add(place)
        of_step[place[0].task, place[1]] += 1
        of_video[place[0]] += 1
        for group in bests:
            if group[0] == place[0].task:
                bests[group] = best(pool.by_gain[group])
        yield place


def accuracy_of(reserved: Sequence[Place], changes: Sequence[Change]) -> Accuracy:
    """The accuracy of the answers as they were when they were checked, over the reserved steps up to the last one that was asked.

    A reserved step that a person labelled elsewhere before its turn counts too: leaving it out would leave out errors that were noticed.
    """
    first: dict[Place, bool] = {}
    asked: set[Place] = set()
    for change in changes:
        for label in change.labels:
            if label.right is not None:
                first.setdefault((change.key, label.step), label.right)
            if change.drawn == "random":
                asked.add((change.key, label.step))
    outcomes: list[bool] = []
    n_checked = 0
    for place in reserved:
        if not asked:
            break
        if place in first:
            outcomes.append(first[place])
        if place in asked:
            asked.remove(place)
            n_checked = len(outcomes)
    return Accuracy(sum(outcomes[:n_checked]), n_checked)
