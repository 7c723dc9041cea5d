"""What is checked for every verb before it starts: the range of every numeric option, in one table, and names; links given as --out are followed."""

from collections.abc import Callable
from functools import cache, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin, get_type_hints

if TYPE_CHECKING:
    from crosstask.records import Range

_COUNT = 10**9  # ours: more of anything is a slip


@cache
def option_ranges() -> "dict[str, Range]":
    """The range of each numeric option."""
    from crosstask.records import Range  # imported here: it loads NumPy, and `--help` does not need it

    seed = Range(0, 2**63 - 1)
    return {
        "--seed": seed,
        "--split": seed,
        "--learning-rate": Range(0, 1000, open_below=True),
        "--dropout": Range(0, 1, open_above=True),
        "--initial-epochs": Range(0, _COUNT),
        "--epochs": Range(0, _COUNT),
        "--runs": Range(1, _COUNT),
        "--train-videos": Range(1, _COUNT),
        "--folds": Range(2, 1000),
        "--draws": Range(1, _COUNT),
        "--workers": Range(1, 4096),
        "--every": Range(1, _COUNT),
        "--top": Range(1, _COUNT),
        "--shortest": Range(0, 1e6),
        "--longest": Range(1, 1e6),
        "--least": Range(0, 1),
        "--min-confidence": Range(0, 1),
        "--fps": Range(0.1, 1000),
        "--rate": Range(0, 1000, open_below=True),
        "--port": Range(0, 65535),
        "--timeout": Range(0.1, 86_400),
        "--attempts": Range(1, 1000),
    }


def checked(verb: Callable[..., None]) -> Callable[..., None]:
    """The verb, which raises an InputError before it starts if a number is outside its range in `option_ranges`, or a name is not UTF-8."""
    names = numeric_options(verb)

    @wraps(verb)
    def call(*arguments: Any, **options: Any) -> None:
        from crosstask.records import InputError
        from crosstask.storage import followed

        for parameter, name in names.items():
            value = options.get(parameter)
            if value is not None and not option_ranges()[name].contains(value):
                raise InputError(f"{name} {value!s:.60}: expected a number {option_ranges()[name]}")
        for parameter, given in options.items():
            for value in given if isinstance(given, list | tuple) else [given]:
                text = str(value.absolute()) if isinstance(value, Path) else value
                if isinstance(text, str) and not _is_text(text):
                    option = parameter.replace("_", "-")
                    raise InputError(
                        f"{option} {text[-60:]!r}: not UTF-8; expected a name that can be written as text: rename it"
                    )
        if isinstance(out := options.get("out"), Path):
            options["out"] = followed(out)
        verb(*arguments, **options)

    return call


def _is_text(value: str) -> bool:
    """True if a string is UTF-8; the system hands over other bytes as halves of characters, which no file of ours can hold."""
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def numeric_options(verb: Callable[..., None]) -> dict[str, str]:
    """Parameter -> option, for every parameter of a verb that is a number."""
    found = {}
    for parameter, hint in get_type_hints(verb, include_extras=True).items():
        kind, *options = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        if {int, float} & set(get_args(kind) or (kind,)):
            declared = [name for option in options for name in getattr(option, "param_decls", None) or ()]
            found[parameter] = declared[0] if declared else f"--{parameter.replace('_', '-')}"
    return found
