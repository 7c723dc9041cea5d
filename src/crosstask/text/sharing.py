"""What steps share: a level by name, or a function of the user's, `(task, step) -> names of the step's components`.

A model file stores no code. For a function of the user's it stores the components of the trained steps; a new task then needs the
function again (`load_model(FILE, sharing=function)`).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from crosstask.records import InputError, Task

SharingFunction = Callable[[Task, str], Sequence[str]]
Sharing = str | SharingFunction
CUSTOM = "custom"


@dataclass(frozen=True)
class StoredSharing:
    """The components of trained steps as a model file stores them: (task id, step) -> names."""

    names: Mapping[tuple[str, str], tuple[str, ...]]

    def __call__(self, task: Task, step: str) -> Sequence[str]:
        """The stored components; an unknown step is refused."""
        if (task.id, step) not in self.names:
            raise InputError(
                f"step '{step}' of task '{task.title}': the model was trained with a sharing function of its author's, which a new "
                "task needs; give it again: load_model(FILE, sharing=function), or --sharing FILE.py:NAME"
            )
        return self.names[task.id, step]


def sharing_function(sharing: Sharing, levels: Mapping[str, SharingFunction]) -> SharingFunction:
    """The function of a level, or the user's own with its results checked."""
    expected = f"expected one of {', '.join(levels)}, or a function (task, step) -> names"
    if isinstance(sharing, str):
        if sharing not in levels:
            raise InputError(f"sharing '{sharing}' is unknown; {expected}")
        return levels[sharing]
    if not callable(sharing):
        raise InputError(f"sharing is a {type(sharing).__name__}; {expected}")
    return sharing if isinstance(sharing, StoredSharing) else _checked(sharing)


def _checked(function: SharingFunction) -> SharingFunction:
    def components(task: Task, step: str) -> list[str]:
        try:
            names = function(task, step)
        except InputError:
            raise
        except Exception as error:
            raise InputError(f"sharing function, task '{task.title}', step '{step}': {type(error).__name__}: {error}") from error
        if isinstance(names, str) or not isinstance(names, Iterable):
            raise InputError(f"sharing function, step '{step}': returned {names!r:.60}; expected a list of component names")
        listed = list(names)
        if not listed or not all(isinstance(name, str) and name and _is_unicode(name) for name in listed):
            raise InputError(
                f"sharing function, step '{step}': returned {listed!r:.60}; expected at least one name, each a string"
            )
        return listed

    return components


def _is_unicode(name: str) -> bool:
    """False for half of a character, which a model file could not hold."""
    return name.encode("utf-8", "replace").decode("utf-8") == name


def sharing_to_values(sharing: Sharing, levels: Mapping[str, SharingFunction], tasks: Iterable[Task]) -> dict[str, Any]:
    """Plain values for a model file."""
    if isinstance(sharing, str):
        return {"sharing": sharing}
    function = sharing_function(sharing, levels)
    rows = [[task.id, step, list(function(task, step))] for task in tasks for step in dict.fromkeys(task.steps)]
    return {"sharing": CUSTOM, "step_components": rows}


def sharing_from_values(values: Mapping[str, Any], levels: Mapping[str, SharingFunction]) -> Sharing:
    """The inverse of `sharing_to_values`; a function comes back as its stored results."""
    sharing = values.get("sharing")
    if sharing == CUSTOM:
        rows = values.get("step_components")
        if not isinstance(rows, list):
            raise InputError("model file: the components of its steps are missing; train it again")
        return StoredSharing({(str(task), str(step)): tuple(str(name) for name in names) for task, step, names in rows})
    if sharing not in levels:
        raise InputError(f"model file: sharing '{sharing}' is unknown; expected one of {', '.join(levels)}")
    return str(sharing)


def sharing_name(sharing: Sharing) -> str:
    """The level, or the name of the user's function."""
    return sharing if isinstance(sharing, str) else str(getattr(sharing, "__name__", CUSTOM))
