"""How long work shows how far it is: the verbs pass a function that draws a bar, Python users pass nothing."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

# What is done, and in how many pieces -> a block in which a function is called after each piece.
Progress = Callable[[str, int], AbstractContextManager[Callable[[], None]]]


@contextmanager
def no_progress(what: str, total: int) -> Iterator[Callable[[], None]]:
    """Progress that shows nothing."""
    yield lambda: None
