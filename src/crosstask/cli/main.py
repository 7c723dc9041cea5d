"""The `crosstask` command: one verb a file, heavy imports only inside the verb that needs them."""

import os
import sys
from pathlib import Path
from typing import Annotated

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
from crosstask.cli.output import listen, note
from crosstask.cli.ranges import checked

_INTERRUPTED = 130

app = typer.Typer(
    name="crosstask",
    help="Find when each step of a how-to task happens in a video, learnt from step lists and narration alone.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
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
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Say more while working.")] = False,
) -> None:
    listen(verbose)


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
    app.command()(checked(verb))
app.add_typer(encoder.encoder_app, name="encoder")
app.add_typer(corpus.corpus_app, name="corpus")
app.add_typer(labels.labels_app, name="labels")


def run() -> None:
    """Entry point: an error of the user's is one line and exit code 2."""
    _replace_closed_streams()
    try:
        app()
    except ValueError as error:
        from crosstask.records import InputError

        if not isinstance(error, InputError):
            raise
        _stop(str(error))
    except (FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError, BlockingIOError, ConnectionError) as error:
        _stop(f"{error.filename or 'input/output'}: {error.strerror}")
    except OSError as error:
        from crosstask.storage import UnreadableFile

        if isinstance(error, UnreadableFile):
            _stop(f"{error.filename}: {error.strerror}")
        _stop(f"{error.filename or 'input/output'}: {error.strerror}; free space or check the disk, then repeat the command")
    except SystemExit as stopped:
        if stopped.code != _INTERRUPTED:  # what Typer makes of Ctrl-C, without a word
            raise
        _stop("interrupted; repeat the command to go on", _INTERRUPTED)
    except KeyboardInterrupt:
        _stop("interrupted; repeat the command to go on", _INTERRUPTED)


def _replace_closed_streams() -> None:
    """Let a command whose stdout or stderr was closed by the shell (`>&-`) run without it."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w"))  # noqa: SIM115 - stays open until the end


def _stop(message: str, code: int = 2) -> None:
    note(f"error: {' '.join(message.split())}")
    sys.exit(code)


if __name__ == "__main__":
    run()
