"""Whatever is typed as the value of a numeric option, the verb sees a number in its declared range, or nothing at all."""

import inspect
import math
from functools import wraps

import pytest
import typer
from hypothesis import example, given
from hypothesis import strategies as st

from cli.test_ranges import CASES, VERBS
from crosstask.cli.ranges import checked, option_ranges
from crosstask.records import InputError
from fuzz.test_readers import bounded

TYPED = (
    st.integers().map(str)
    | st.floats().map(str)
    | st.sampled_from(
        ["1e999", "-1e999", "0x10", "1_000", "٣", "-0", "1e-320", "0.1e1", "", " 1", "١e٢", "+5", "9" * 400, "1,5", "½"]
    )
    | st.text(max_size=8)
)


def recording(verb, seen):
    """A command that has the options of a verb, with their ranges, and only keeps what it gets."""

    @wraps(verb)
    def record(**options):
        seen.append(options)

    app = typer.Typer()
    app.command()(checked(record))
    return typer.main.get_command(app)


def exit_code(command, words):
    """The exit code of a command, called as by `crosstask`: 0, or that of an error of usage or of a number outside its range."""
    try:
        return command.main(words, "crosstask", standalone_mode=False) or 0
    except InputError:
        return 2
    except Exception as error:
        if not hasattr(error, "format_message"):  # Typer's errors of usage have it
            raise
        return error.exit_code


def required_arguments(verb):
    """A word for every argument or option that must be given."""
    words = []
    for parameter in inspect.signature(verb).parameters.values():
        if parameter.default is inspect.Parameter.empty and parameter.annotation is not typer.Context:
            declared = parameter.annotation.__metadata__[0]
            option = declared.param_decls[0] if declared.param_decls else f"--{parameter.name.replace('_', '-')}"
            words += ["x"] if isinstance(declared, typer.models.ArgumentInfo) else [option, "x"]
    return words


@pytest.mark.parametrize(("verb", "parameter", "option"), CASES, ids=[f"{v} {o}" for v, _, o in CASES])
def test_a_verb_never_sees_a_number_outside_its_range(verb, parameter, option):
    seen = []
    command, others = recording(VERBS[verb], seen), required_arguments(VERBS[verb])

    @bounded()
    @given(TYPED)
    @example(str(option_ranges()[option].smallest))
    @example(f"{option_ranges()[option].largest:.0f}")
    @example("inf")
    @example("nan")
    def run(typed):
        seen.clear()
        if (code := exit_code(command, [*others, f"{option}={typed}"])) == 0:
            (options,) = seen
            assert math.isfinite(options[parameter]) and option_ranges()[option].contains(options[parameter])
        else:
            assert not seen and code == 2

    run()
