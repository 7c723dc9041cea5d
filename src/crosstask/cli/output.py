"""Printed output of the verbs: JSON alone on stdout with --json, tables, notes, one line per error."""

import json
import logging
import os
import re
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import typer

_CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]|[\ud800-\udfff]"
)  # also those that turn the reading direction
_WITHOUT_EFFECT = ("out", "engine", "workers", "address", "as_json", "dry_run", "video")  # on what is computed


def printable(text: str) -> str:
    r"""Text without codes that would command a terminal: titles and file names come from anywhere.

    >>> printable("tea\x1b[2J"), printable("a\tb\n")
    ('tea\\x1b[2J', 'a\tb\n')
    """
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def say(text: str) -> None:
    """A line for people, on stdout."""
    typer.echo(printable(text))


def note(text: str) -> None:
    """A line that is not the result, on stderr."""
    typer.echo(printable(text), err=True)


def report_skipped(skipped: dict[str, str]) -> None:
    """One line a video, the first twenty in full."""
    for reason in [reason for _, reason in sorted(skipped.items())][:20]:
        note(f"warning: skipped: {reason}")
    if len(skipped) > 20:
        note(f"warning: and {len(skipped) - 20} more were skipped; --json names them all")


def print_json(value: Any) -> None:
    """The result as JSON, and nothing else, on stdout."""
    unicode = (sys.stdout.encoding or "").lower().startswith("utf")
    text = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=not unicode)
    typer.echo(_CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def print_table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table for people: framed on a terminal, aligned plain text elsewhere."""
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(title=Text(printable(title)), title_justify="left")  # a Text is not read as markup
        for number, name in enumerate(header):
            table.add_column(Text(name), justify="left" if number == 0 else "right")
        for row in rows:
            table.add_row(*(Text(printable(str(cell))) for cell in row))
        Console().print(table)
        return
    widths = [max(len(str(row[i])) for row in [header, *rows]) for i in range(len(header))]
    say(title)
    for row in [header, *rows]:
        say(
            "  ".join(
                str(cell).ljust(w) if i == 0 else str(cell).rjust(w) for i, (cell, w) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
        )


def percent(fraction: float | None) -> str:
    """A fraction as people read it.

    >>> percent(0.0987), percent(None)
    ('9.9', '-')
    """
    return "-" if fraction is None else f"{100 * fraction:.1f}"


class OneLineEach(logging.Handler):
    """Warnings of all packages as single lines on stderr; one that comes again, as a corpus is opened again, is not repeated."""

    def __init__(self) -> None:
        super().__init__()
        self._printed: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        """Print it."""
        line = ("warning: " if record.levelno >= logging.WARNING else "") + record.getMessage()
        if line not in self._printed:
            self._printed.add(line)
            note(line)


def show_warnings(verbose: bool) -> None:
    """Show warnings (and, when verbose, everything) of the package."""
    logger = logging.getLogger("crosstask")
    logger.handlers = [OneLineEach()]
    logger.setLevel(logging.INFO if verbose else logging.WARNING)
    logger.propagate = False


def command(*arguments: object) -> str:
    """A command of this program that works as typed: with the path by which it was called, arguments quoted for the shell.

    >>> command("view", "my run").endswith("crosstask view 'my run'")
    True
    """
    return " ".join(shlex.quote(str(part)) for part in (program(), *arguments))


def recorded_command(context: typer.Context) -> str:
    """The command as typed, for `run.json`: every option that was given and can change the result.

    Of a path only the last part is kept, so that the same run has the same bytes in another folder.
    """
    parts = ["crosstask", context.info_name or ""]
    for parameter in context.command.params:
        given = context.params.get(parameter.name or "")
        if parameter.name in _WITHOUT_EFFECT or given is None or (given == parameter.default and parameter.name != "seed"):
            continue
        option = [] if parameter.param_type_name == "argument" else [parameter.opts[0]]
        for value in given if isinstance(given, list | tuple) else [given]:
            text = str(value)
            known = os.path.exists(text)  # noqa: PTH110 - False, not an error, for a text that is too long for a name
            parts += option if value is True else [*option, (Path(text).name or Path(text).resolve().name) if known else text]
    return shlex.join(parts)


def program() -> str:
    """How this program is called from the working folder: by name if the shell finds it, otherwise by path."""
    called = Path(sys.argv[0])
    if called.name != "crosstask":  # python -m, or a test
        called = Path(sys.executable).parent / "crosstask"
    found = shutil.which("crosstask")
    if not called.is_file() or (found is not None and Path(found).resolve() == called.resolve()):
        return "crosstask"
    called, here = called.absolute(), Path.cwd()
    if called.parent == here:
        return "./crosstask"
    return str(called.relative_to(here)) if called.is_relative_to(here) else str(called)


def counted(n: int, what: str) -> str:
    """A number and what it counts.

    >>> counted(1, "video"), counted(2, "video"), counted(0, "task")
    ('1 video', '2 videos', '0 tasks')
    """
    return f"{n} {what}" if n == 1 else f"{n} {what}s"


def clock(second: Any) -> str:
    """Minutes and seconds.

    >>> clock(75)
    ' 1:15'
    """
    return f"{int(second) // 60:2d}:{int(second) % 60:02d}"
