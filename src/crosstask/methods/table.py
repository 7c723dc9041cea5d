"""Every method by name: listing one here is what gets it offered, evaluated and tested."""

from collections.abc import Callable

from crosstask.methods.alayrac16 import Alayrac16
from crosstask.methods.hmm import HiddenMarkovModel
from crosstask.methods.protocols import Method
from crosstask.methods.random_scores import RandomScores
from crosstask.methods.richard18 import Richard18
from crosstask.methods.supervised import Supervised
from crosstask.methods.uniform import Uniform
from crosstask.methods.zhukov19 import Zhukov19, task_specific
from crosstask.records import InputError

METHODS: dict[str, Callable[[], Method]] = {
    "uniform": Uniform,
    "random": RandomScores,
    "proposed": Zhukov19,
    "best": HiddenMarkovModel,
    "alayrac16": Alayrac16,
    "richard18": Richard18,
    "task-specific": task_specific,
    "supervised": Supervised,
}


def method_named(name: str) -> Method:
    """A method with its default settings."""
    if name not in METHODS:
        raise InputError(f"method '{name}' is unknown; expected one of {', '.join(METHODS)}")
    return METHODS[name]()
