"""Find when each step of a how-to task happens in a video, learnt from ordered step lists and narration alone."""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from crosstask.datasets import open_corpus
    from crosstask.records import Corpus, Localization, Task, Video, task_from_steps

__all__ = ["Corpus", "Localization", "Task", "Video", "__version__", "open_corpus", "task_from_steps"]

_HOMES = {
    "Corpus": "records",
    "Localization": "records",
    "Task": "records",
    "Video": "records",
    "open_corpus": "datasets",
    "task_from_steps": "records",
}


def __getattr__(name: str) -> Any:
    """Fetch a public name from its room on first use, so that importing the package stays quick."""
    if name not in _HOMES:
        raise AttributeError(f"module 'crosstask' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(f"crosstask.{_HOMES[name]}"), name)
