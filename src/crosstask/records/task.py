"""A how-to task: its name and its ordered steps."""

from collections.abc import Iterable
from dataclasses import dataclass

from crosstask.records.problem import InputError


@dataclass(frozen=True)
class Task:
    """A task with its ordered step names. A name may stand twice: two places in the order, one classifier.

    >>> Task("7", "Make Latte", ("pour milk", "stir")).steps
    ('pour milk', 'stir')
    """

    id: str
    title: str
    steps: tuple[str, ...]
    url: str = ""
    primary: bool = True

    def __post_init__(self) -> None:
        """Refuse a task without steps, or with an empty step."""
        if not self.steps:
            raise InputError(f"task '{self.title or self.id}': no steps; expected at least one step name")
        for number, step in enumerate(self.steps, start=1):
            if not isinstance(step, str) or not step.strip():
                raise InputError(f"task '{self.title or self.id}': step {number} is empty; expected words such as 'pour milk'")


def task_from_steps(steps: str | Iterable[str], title: str = "new task") -> Task:
    """A task that needs no corpus, from `"pour milk, whisk egg"`, from `"salt, to taste; stir"`, or from a list of step names.

    >>> task_from_steps("pour milk, whisk egg").steps
    ('pour milk', 'whisk egg')
    >>> task_from_steps("add salt, pepper; stir").steps
    ('add salt, pepper', 'stir')
    """
    separator = ";" if isinstance(steps, str) and ";" in steps else ","
    names = steps.split(separator) if isinstance(steps, str) else list(steps)
    if separator == ";" and not names[-1].strip():
        names.pop()  # a closing semicolon
    if not all(isinstance(name, str) for name in names):
        raise InputError(f"steps {names!r:.80}: expected step names such as 'pour milk'")
    return Task(id=title, title=title, steps=tuple(name.strip() for name in names))
