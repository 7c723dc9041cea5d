"""What each setting of a method may be: the ranges of all numbers, in one table."""

from collections.abc import Sequence
from dataclasses import Field
from typing import Any

from crosstask.records import InputError, Range, number_argument, whole_argument

_COUNT = 10**9  # ours: more of anything is a slip
_RATE = Range(0, 1000, open_below=True)
_POSITIVE = Range(0, 1e9, open_below=True)
SETTING_RANGES = {
    "learning_rate": _RATE,
    "classifier_rate": _RATE,
    "weight_decay": Range(0, 1),
    "dropout": Range(0, 1, open_above=True),
    "iterations": Range(1, _COUNT),
    "folds": Range(1, 1000),
    "batch": Range(1, _COUNT),
    "sequences": Range(1, _COUNT),
    "shortest": Range(0, 1e6),
    "window_weight": Range(0, 1),
    "spacing_weight": Range(0, 1),
    "gate": Range(0, 1),
    "shared": _POSITIVE,
    "own": _POSITIVE,
    "noise": _POSITIVE,
    "ridge": _POSITIVE,
}
_OTHERS = Range(0, _COUNT)


def checked_setting(part: "Field[Any]", value: Any) -> Any:
    """The value of a setting; InputError if it is of another kind, or out of its range."""
    kind = part.type.__name__ if isinstance(part.type, type) else str(part.type)
    allowed = SETTING_RANGES.get(part.name, _OTHERS)
    if kind == "int":
        whole_argument(value, part.name, least=int(allowed.smallest), most=int(allowed.largest))
    elif kind == "float" or (kind == "float | None" and value is not None):
        if not allowed.contains(number_argument(value, part.name)):
            raise InputError(f"{part.name} is {value!r:.60}; expected a number {allowed}")
    elif kind == "bool" and not isinstance(value, bool):
        raise InputError(f"{part.name} is {value!r:.60}; expected True or False")
    elif kind == "tuple[int, ...]":
        if isinstance(value, str) or not isinstance(value, Sequence):
            raise InputError(f"{part.name} is {value!r:.60}; expected whole numbers in a list")
        return tuple(whole_argument(one, part.name, least=1, most=_COUNT) for one in value)
    return value
