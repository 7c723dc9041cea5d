"""An arm of an experiment, i.e. one row of its table: a method, its training videos and its settings."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from crosstask.learning.baselines.action_sets import ActionSetSettings
from crosstask.learning.baselines.discriminative_clustering import DiffracSettings
from crosstask.learning.zhukov19.alternation import AlternationSettings
from crosstask.methods.alayrac16 import Alayrac16
from crosstask.methods.protocols import Method
from crosstask.methods.richard18 import Richard18
from crosstask.methods.supervised import Supervised
from crosstask.methods.table import method_named
from crosstask.methods.zhukov19 import Zhukov19

TRAIN_ON = ("all", "primary", "related", "others")  # others: the model that localizes a task is trained on the other tasks


@dataclass(frozen=True)
class Arm:
    """A method and its training videos. `n_tasks`: the number of related (or other) tasks; nested subsets, redrawn per run."""

    name: str
    method: str
    sharing: str = "component"
    train_on: str = "primary"
    narration: bool = True
    n_tasks: int | None = None
    learning: Mapping[str, Any] = field(default_factory=dict)  # settings that differ from the method's defaults

    def values(self) -> dict[str, Any]:
        """Plain values for a job, without the name, which is only displayed."""
        data = asdict(self)
        del data["name"]
        data["learning"] = dict(sorted(self.learning.items()))
        return data

    def with_settings(self, **changed: Any) -> "Arm":
        """The same arm with changed settings of its method."""
        return replace(self, learning={**self.learning, **changed})


def build_method(method: str, sharing: str, learning: Mapping[str, Any]) -> Method:
    """The method with these settings; settings that a method does not have are ignored."""
    if method in ("proposed", "task-specific"):
        return Zhukov19("none" if method == "task-specific" else sharing, _alternation(learning))
    if method == "supervised":
        return Supervised(sharing, _alternation(learning))
    if method == "alayrac16":
        return Alayrac16(DiffracSettings(**_known(learning, ("ridge", "iterations", "gap"))))
    if method == "richard18":
        return Richard18(ActionSetSettings(**_known(learning, ("classifier_rate",), {"classifier_rate": "learning_rate"})))
    if method == "deep":
        from crosstask.methods.deep import DeepClassifier

        return DeepClassifier(tuple(learning.get("hidden", ())), sharing, _alternation(learning))
    return method_named(method)


def _alternation(learning: Mapping[str, Any]) -> AlternationSettings:
    return AlternationSettings(**_known(learning, ("learning_rate", "dropout", "initial_epochs", "epochs", "label_cost")))


def _known(learning: Mapping[str, Any], names: tuple[str, ...], called: Mapping[str, str] | None = None) -> dict[str, Any]:
    return {(called or {}).get(name, name): learning[name] for name in names if name in learning}
