"""Find when each step of a how-to task happens in a video, learnt from ordered step lists and narration alone.

>>> import crosstask as ct
>>> sorted(ct.METHODS)[:3]
['alayrac16', 'deep', 'hmm']
"""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from crosstask.datasets import open_corpus
    from crosstask.evaluation.evaluate import Evaluation, evaluate
    from crosstask.experiments.compare import Comparison, compare
    from crosstask.methods import METHODS
    from crosstask.model.file import load_model
    from crosstask.model.localize_video import localize
    from crosstask.model.model import Model
    from crosstask.model.training import train
    from crosstask.pipeline.run import run
    from crosstask.records import Corpus, FoundStep, InputError, Localization, Task, Video, task_from_steps

__all__ = [
    "METHODS",
    "Comparison",
    "Corpus",
    "Evaluation",
    "FoundStep",
    "InputError",
    "Localization",
    "Model",
    "Task",
    "Video",
    "__version__",
    "compare",
    "evaluate",
    "load_model",
    "localize",
    "open_corpus",
    "run",
    "task_from_steps",
    "train",
]

_MODULES = {
    "METHODS": "methods",
    "Comparison": "experiments.compare",
    "Corpus": "records",
    "Evaluation": "evaluation.evaluate",
    "FoundStep": "records",
    "InputError": "records",
    "Localization": "records",
    "Model": "model.model",
    "Task": "records",
    "Video": "records",
    "compare": "experiments.compare",
    "evaluate": "evaluation.evaluate",
    "load_model": "model.file",
    "localize": "model.localize_video",
    "open_corpus": "datasets",
    "run": "pipeline.run",
    "task_from_steps": "records",
    "train": "model.training",
}


def __getattr__(name: str) -> Any:
    """A public name from its module on first use, so that importing the package is quick."""
    if name not in _MODULES:
        raise AttributeError(f"module 'crosstask' has no attribute '{name}'")
    from importlib import import_module

    return getattr(import_module(f"crosstask.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
