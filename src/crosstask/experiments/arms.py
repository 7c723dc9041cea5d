"""An arm of an experiment, i.e. one row of its table: a method, its training videos and its settings."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from crosstask.methods.own_code import digest_of_own, is_own, load_own
from crosstask.methods.protocols import Method
from crosstask.methods.table import ALIASES, known_settings, method_title, resolve_method

_SHARES_NOTHING = ("uniform", "random", "alayrac16", "richard18", "richard18-linear", "supervised", "task-specific")


@dataclass(frozen=True)
class Arm:
    """A method and its training videos: those of all, primary, related or other tasks; the last trains, for each task, on the others alone.

    `n_tasks`: the number of related (or other) tasks; nested subsets, redrawn per run.
    """

    name: str
    method: str
    sharing: str = "component"
    train_on: str = "primary"
    narration: bool = True
    n_tasks: int | None = None
    labels: bool = False  # train on the annotation of all training videos
    learning: Mapping[str, Any] = field(default_factory=dict)  # settings that differ from the method's defaults

    def values(self) -> dict[str, Any]:
        """Plain values for a job, without the name, which is only displayed; code of the user's is known by its content."""
        data = asdict(self)
        del data["name"]
        data["learning"] = dict(sorted(self.learning.items()))
        own = {name: digest_of_own(name) for name in (self.method, self.sharing) if is_own(name)}
        return data | ({"own_code": own} if own else {})

    def with_settings(self, **changed: Any) -> "Arm":
        """The same arm with changed settings of its method."""
        return replace(self, learning={**self.learning, **changed})


def arm_of_method(method: str, sharing: str | None = None) -> Arm:
    """The arm of a method that the user names: those that share train on all tasks, the others on the primary tasks."""
    name = ALIASES.get(method, method)
    level = "none" if name == "task-specific" else sharing or "component"
    return Arm(method_title(name), name, level, "primary" if name in _SHARES_NOTHING else "all")


def build_method(method: str, sharing: str, learning: Mapping[str, Any]) -> Method:
    """The method with these settings; settings that a method does not have are ignored."""
    settings = {"sharing": load_own(sharing) if is_own(sharing) else sharing, **learning}
    return resolve_method(method, **_tuples(known_settings(method, settings)))


def _tuples(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Lists, as JSON has them, as tuples, as settings have them."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in settings.items()}
