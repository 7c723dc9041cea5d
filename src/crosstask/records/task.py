"""A how-to task: its name and its ordered steps."""

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

import numpy as np

from crosstask.records.problem import InputError


@dataclass(frozen=True)
class Task:
    """A task with its ordered step names. A name may occur twice: two places in the order, one classifier.

    `order` is the partial order of the steps where one is published: (a, b) means that step a comes before step b, numbered
    from 0. `descriptions` are longer texts of the steps where there are any.

    >>> Task("7", "Make Latte", ("pour milk", "stir")).steps
    ('pour milk', 'stir')
    """

    id: str
    title: str
    steps: tuple[str, ...]
    url: str = ""
    primary: bool = True
    order: tuple[tuple[int, int], ...] = ()
    descriptions: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a task without steps, with an empty step, or with a partial order of other steps."""
        given: object = self.steps
        if isinstance(given, str) or not isinstance(given, Sequence):
            raise InputError(
                f"task '{self.title or self.id}': steps are a {type(self.steps).__name__}; expected step names in a list or tuple"
            )
        if not self.steps:
            raise InputError(f"task '{self.title or self.id}': no steps; expected at least one step name")
        for number, step in enumerate(self.steps, start=1):
            if not isinstance(step, str) or not any(map(_is_visible, step)):
                raise InputError(f"task '{self.title or self.id}': step {number} is empty; expected words such as 'pour milk'")
        try:
            "".join(self.steps).encode("utf-8")
        except UnicodeEncodeError:
            raise InputError(
                f"task '{self.title or self.id}': a step holds half of a character; expected text in Unicode"
            ) from None
        if self.descriptions and len(self.descriptions) != len(self.steps):
            raise InputError(
                f"task '{self.title or self.id}': {len(self.descriptions)} descriptions of {len(self.steps)} steps; expected one each"
            )
        if self.order:
            topological_order(self.order, range(len(self.steps)), f"task '{self.title or self.id}'")
        object.__setattr__(self, "steps", tuple(self.steps))  # a list could neither be hashed nor equal the steps of a file


def _is_visible(character: str) -> bool:
    """True unless the character is a space, a control character or of no width."""
    return character.isprintable() and not character.isspace()


def topological_order(edges: Iterable[tuple[int, int]], ranks: Sequence[float], name: str = "order") -> list[int]:
    """The steps 0 .. K-1 in an order that keeps every edge (a, b), a before b; of those that may come next, the lowest rank first.

    >>> topological_order([(2, 0)], [0.1, 0.2, 0.3])
    [1, 2, 0]
    """
    before: dict[int, set[int]] = {k: set() for k in range(len(ranks))}
    for a, b in edges:
        if a == b or a not in before or b not in before:
            raise InputError(f"{name}: edge ({a + 1}, {b + 1}); expected two different steps of 1 to {len(ranks)}")
        before[b].add(a)
    placed: list[int] = []
    while before:
        ready = [k for k, needed in before.items() if not needed]
        if not ready:
            raise InputError(f"{name}: its edges form a circle; expected a partial order of the steps")
        following = min(ready, key=lambda k: (ranks[k], k))
        placed.append(following)
        del before[following]
        for needed in before.values():
            needed.discard(following)
    return placed


def without_circles(edges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """The edges that lie on no circle, sorted, each once: of steps that are said to come before each other no order is known.

    >>> without_circles([(0, 1), (1, 2), (2, 1), (2, 3), (3, 3)])
    [(0, 1), (2, 3)]
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    listed = sorted(set(edges))
    number = {step: n for n, step in enumerate(dict.fromkeys(step for edge in listed for step in edge))}
    pairs = np.array([(number[a], number[b]) for a, b in listed], np.int32).reshape(-1, 2)
    graph = coo_array((np.ones(len(pairs), np.int8), (pairs[:, 0], pairs[:, 1])), shape=(len(number),) * 2)
    _, component = connected_components(graph, directed=True, connection="strong")
    return [edge for edge, (a, b) in zip(listed, pairs, strict=True) if component[a] != component[b]]


def task_from_steps(steps: str | Iterable[str], title: str = "new task") -> Task:
    """A task that needs no corpus, from `"pour milk, whisk egg"`, from `"salt, to taste; stir"`, or from a list of step names.

    >>> task_from_steps("pour milk, whisk egg").steps
    ('pour milk', 'whisk egg')
    >>> task_from_steps("add salt, pepper; stir").steps
    ('add salt, pepper', 'stir')
    """
    given: object = steps
    if not isinstance(given, Iterable) or isinstance(given, bytes | Set):  # a set has no order
        raise InputError(f"steps {steps!r:.80}: expected text such as 'pour milk, whisk egg', or a list of step names")
    separator = ";" if isinstance(steps, str) and ";" in steps else ","
    names = steps.split(separator) if isinstance(steps, str) else list(steps)
    if separator == ";" and not names[-1].strip():
        names.pop()  # a closing semicolon
    if not all(isinstance(name, str) for name in names):
        raise InputError(f"steps {names!r:.80}: expected step names such as 'pour milk'")
    return Task(id=title, title=title, steps=tuple(name.strip() for name in names))
