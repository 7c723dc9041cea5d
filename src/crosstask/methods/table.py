"""All methods by name. A line in METHODS makes a method a choice of `train`, `evaluate`, `experiment` and the Python API, and gets it tested.

A method is a frozen dataclass with `fit(corpus, rng) -> scorer`. Its settings are its own fields and those of its settings dataclass, by flat names.
"""

import inspect
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass, replace
from difflib import get_close_matches
from typing import Any

from crosstask.methods.alayrac16 import Alayrac16
from crosstask.methods.deep import DeepClassifier
from crosstask.methods.hmm import HiddenMarkovModel
from crosstask.methods.order_only import Random, Uniform
from crosstask.methods.own_code import is_own, load_own, split_own
from crosstask.methods.protocols import Method
from crosstask.methods.richard18 import Richard18, Richard18Linear
from crosstask.methods.setting_ranges import checked_setting
from crosstask.methods.supervised import Supervised
from crosstask.methods.zero_shot import ZeroShot
from crosstask.methods.zhukov19 import TaskSpecific, Zhukov19
from crosstask.records import InputError

METHODS: dict[str, type] = {
    "hmm": HiddenMarkovModel,
    "zhukov19": Zhukov19,
    "task-specific": TaskSpecific,
    "supervised": Supervised,
    "alayrac16": Alayrac16,
    "richard18": Richard18,
    "richard18-linear": Richard18Linear,
    "deep": DeepClassifier,
    "zero-shot": ZeroShot,
    "uniform": Uniform,
    "random": Random,
}
ALIASES: Mapping[str, str] = {"best": "hmm", "default": "hmm", "paper": "zhukov19", "proposed": "zhukov19"}
UNTRAINED = ("uniform", "random", "zero-shot")  # methods that need no training videos


def canonical_name(name: str) -> str:
    """The name of a method in METHODS, from its name or an alias.

    >>> canonical_name("proposed")
    'zhukov19'
    """
    found = ALIASES.get(name, name)
    if found not in METHODS:
        near = get_close_matches(str(name), [*METHODS, *ALIASES], n=1)
        hint = f" (did you mean '{near[0]}'?)" if near else ""
        raise InputError(
            f"method '{name}' is unknown{hint}; expected one of {', '.join(METHODS)}, or FILE.py:Class for a method of your own"
        )
    return found


def method_named(name: str, **settings: Any) -> Method:
    """The method of that name with some settings changed; unknown settings are refused with the list of known ones.

    >>> method_named("zhukov19", learning_rate=1e-3, sharing="step").sharing
    'step'
    """
    name = canonical_name(name)
    return configured(METHODS[name](), settings, name)


def resolve_method(method: Any, **settings: Any) -> Method:
    """A method from a name of METHODS, from `FILE.py:Class`, or itself if it is an object with `fit`."""
    if isinstance(method, str) and not is_own(method):
        return method_named(method, **settings)
    if not isinstance(method, str | type):
        if not callable(getattr(method, "fit", None)):
            raise InputError(
                f"a {type(method).__name__} is not a method; expected a name of METHODS, or an object with fit(corpus, rng)"
            )
        return configured(method, settings, type(method).__name__) if settings else method
    own = load_own(method) if isinstance(method, str) else method
    if not isinstance(own, type) or not callable(getattr(own, "fit", None)):
        raise InputError(f"'{method}' has no fit; expected a class with fit(corpus, rng) -> an object with score(task, features)")
    try:
        return own(**settings)
    except TypeError as error:
        given = ", ".join(f"{k}={v!r}" for k, v in settings.items())
        raise InputError(f"{own.__name__}({given}): {error}") from error


def method_title(method: Any) -> str:
    """The name under which a method's results stand: its name in METHODS, or the name of its class."""
    if isinstance(method, str):
        return split_own(method)[1] if is_own(method) else canonical_name(method)
    return method.__name__ if isinstance(method, type) else type(method).__name__


def configured(method: Any, settings: Mapping[str, Any], name: str) -> Any:
    """The method with settings changed, by the flat names of its own fields or of its settings dataclasses."""
    unknown = sorted(set(settings) - setting_names(method))
    if unknown:
        known = ", ".join(sorted(setting_names(method))) or "none"
        raise InputError(f"method '{name}' has no setting '{unknown[0]}'; its settings are: {known}")
    try:
        return _replaced(method, settings)
    except ValueError as error:
        raise InputError(f"method '{name}': {error}") from None


def known_settings(name: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the settings that the method has."""
    own = is_own(name)
    names = set(inspect.signature(load_own(name)).parameters) if own else setting_names(METHODS[canonical_name(name)]())
    return {key: value for key, value in settings.items() if key in names}


def setting_names(method: Any) -> set[str]:
    """The flat names of a method's settings."""
    names: set[str] = set()
    for part in _parameters(method):
        value = getattr(method, part.name)
        names |= setting_names(value) if is_dataclass(value) else {part.name}
    return names


def default_settings(name: str) -> dict[str, Any]:
    """The settings of a method of METHODS by their flat names, with their default values.

    >>> default_settings("zhukov19")["dropout"]
    0.7
    """
    return _flat(METHODS[canonical_name(name)]())


def _flat(method: Any) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for part in _parameters(method):
        value = getattr(method, part.name)
        found |= _flat(value) if is_dataclass(value) else {part.name: value}
    return found


def _replaced(settings: Any, changes: Mapping[str, Any]) -> Any:
    changed = {}
    for part in _parameters(settings):
        value = getattr(settings, part.name)
        if is_dataclass(value):
            changed[part.name] = _replaced(value, changes)
        elif part.name in changes:
            changed[part.name] = checked_setting(part, changes[part.name])
    return replace(settings, **changed)


def _parameters(method: Any) -> list["Field[Any]"]:
    """The fields that are settings: constructor arguments with a default, callbacks and checkpoints excepted."""
    if not is_dataclass(method):
        return []
    with_default = [f for f in fields(method) if f.default is not MISSING or f.default_factory is not MISSING]
    return [f for f in with_default if f.init and f.compare and not f.name.startswith("_")]
