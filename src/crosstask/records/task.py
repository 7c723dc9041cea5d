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
    """A task that needs no corpus, from `"pour milk, whisk egg"` or a list of step names.

    >>> task_from_steps("pour milk, whisk egg").steps
    ('pour milk', 'whisk egg')
    """
    names = steps.split(",") if isinstance(steps, str) else list(steps)
    return Task(id=title, title=title, steps=tuple(name.strip() for name in names))
