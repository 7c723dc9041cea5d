"""The `crosstask` command: one verb a file, heavy imports only inside the verb that needs them."""

import errno
import os
import signal
import sys
from collections import namedtuple
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from crosstask import __version__
from crosstask.cli import (
    corpus,
    demo,
    doctor,
    download,
    encoder,
    evaluate,
    experiment,
    export,
    extract,
    info,
    init,
    labels,
    localize,
    narrate,
    pack,
    review,
    stats,
    train,
    validate,
    view,
)
from crosstask.cli import run as run_verb
from crosstask.cli.output import command, note, show_warnings
from crosstask.cli.ranges import checked

_INTERRUPTED = 130

app = typer.Typer(
    name="crosstask",
    help="Find when each step of a how-to task happens in a video, learnt from step lists and narration alone.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # Rich would take text in brackets for markup and swallow it
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"crosstask {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Log more while working.")] = False,
) -> None:
    show_warnings(verbose)


def summary(verb: Callable[..., None] | None) -> str:
    """The first clause of a verb's help, whole, for the list of verbs."""
    return ((verb and verb.__doc__) or "").partition("\n")[0].partition(";")[0].rstrip(".")


for verb in (
    demo.demo,
    init.init,
    run_verb.run,
    extract.extract,
    stats.stats,
    validate.validate,
    info.info,
    narrate.narrate,
    train.train,
    evaluate.evaluate,
    experiment.experiment,
    localize.localize,
    export.export,
    view.view,
    review.review,
    pack.pack,
    doctor.doctor,
    download.download,
):
    app.command(short_help=summary(verb))(checked(verb))
for group in (encoder.encoder_app, corpus.corpus_app, labels.labels_app):
    for listed in group.registered_commands:
        listed.short_help = summary(listed.callback)
app.add_typer(encoder.encoder_app, name="encoder", short_help=encoder.encoder_app.info.help)
app.add_typer(corpus.corpus_app, name="corpus", short_help=corpus.corpus_app.info.help)
app.add_typer(labels.labels_app, name="labels", short_help=labels.labels_app.info.help)


_OF_THE_PATH = (  # errors that free space does not mend
    *(FileNotFoundError, FileExistsError, PermissionError, IsADirectoryError, NotADirectoryError),
    *(BlockingIOError, ConnectionError),
)
_NAMES = (errno.ENAMETOOLONG, errno.ELOOP)  # likewise
_SHOWN_CHARACTERS = 300  # ours: of a name


def _hide_interrupted_compilation(found: "sys.UnraisableHookArgs") -> None:
    """Print what a destructor raises, but for those of LLVM objects: interrupted while one is made, its destructor fails."""
    if not str(getattr(found.object, "__module__", "")).startswith("llvmlite"):
        sys.__unraisablehook__(found)


def run() -> None:
    """Entry point: an error of the user's is one line and exit code 2."""
    _prepare_streams()
    sys.unraisablehook = _hide_interrupted_compilation
    try:
        code = app(standalone_mode=False)
    except typer.Abort as error:
        if isinstance(error.__cause__, EOFError):  # which Typer takes for the end of what is typed
            raise error.__cause__ from None
        _stop("interrupted; repeat the command to resume", _INTERRUPTED)
    except ValueError as error:
        from crosstask.records import InputError

        if not isinstance(error, InputError):
            raise
        _stop(str(error))
    except _OF_THE_PATH as error:
        _stop(f"{error.filename or 'input/output'}: {error.strerror}")
    except OSError as error:
        from crosstask.storage import UnreadableFile

        if isinstance(error, UnreadableFile) or error.errno in _NAMES:
            _stop(f"{str(error.filename)[:_SHOWN_CHARACTERS]}: {error.strerror}")
        reason = error.strerror or error
        _stop(f"{error.filename or 'input/output'}: {reason}; free space or check the disk, then repeat the command")
    except MemoryError as error:
        _stop(
            f"not enough memory ({str(error) or 'none is left'}); close other programs, use fewer --workers, or a larger machine"
        )
    except KeyboardInterrupt:
        _stop("interrupted; repeat the command to resume", _INTERRUPTED)
    except Exception as error:
        if not hasattr(error, "format_message"):  # Typer's errors of usage have it; their class is not public
            raise
        _stop_usage(error)
    else:
        if code == _INTERRUPTED:  # what Typer makes of Ctrl-C, without a word
            _stop("interrupted; repeat the command to resume", _INTERRUPTED)
        sys.exit(code or 0)


def _stop_usage(error: Any) -> None:
    """One line about a wrong option, argument or verb, with the command that shows the right ones; a verb group alone shows its help."""
    if type(error).__name__ == "NoArgsIsHelpError":
        error.show()
        sys.exit(error.exit_code)
    verb = error.ctx.command_path.split()[1:] if getattr(error, "ctx", None) else []
    message = error.format_message().replace(". Did you mean", "; did you mean").rstrip(".")
    _stop(f"{message}{'' if message.endswith('?') else ';'} see {command(*verb, '--help')}", error.exit_code)


def _prepare_streams() -> None:
    """Let a command run without a stdout or stderr that the shell closed (`>&-`), and print names in any encoding: as escapes if need be."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w"))  # noqa: SIM115 - stays open until the end
        elif hasattr(stream := getattr(sys, name), "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _stop(message: str, code: int = 2) -> None:
    if code == _INTERRUPTED:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a second Ctrl-C ends the process at once, without a traceback
        # CPython remembers a Ctrl-C that came while a named tuple was made, as imports do, and would end by SIGINT instead of with
        # our exit code, although it was handled. Making another one clears that.
        namedtuple("Cleared", ())
    note(f"error: {' '.join(message.split())}")
    sys.exit(code)


if __name__ == "__main__":
    run()
