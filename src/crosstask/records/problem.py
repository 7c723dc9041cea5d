"""Errors in user input: one line that says where, what was found, what was expected, and what to do."""

from dataclasses import dataclass
from pathlib import Path

from crosstask.records.installation import install_command


class InputError(ValueError):
    """Bad input: where, what was found, what was expected, and the way out."""


class MissingExtra(InputError):
    """A verb or method needs an optional part that is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs the extra '{extra}': {install_command(extra)}")
        self.extra = extra


@dataclass(frozen=True, order=True)
class Problem:
    """One finding of `validate`: `severity` is 'error' (the item is unusable) or 'warning' (it is mended)."""

    file: str
    line: int | None
    message: str
    severity: str = "error"

    def __str__(self) -> str:
        """`file, line n: message`.

        >>> str(Problem("videos.csv", 4, "task 9 is not listed"))
        'videos.csv, line 4: task 9 is not listed'
        """
        place = self.file if self.line is None else f"{self.file}, line {self.line}"
        return f"{place}: {self.message}"


def at_line(path: Path, line: int, message: str) -> InputError:
    """An `InputError` that names the file by its last two parts, and the line."""
    return InputError(str(Problem("/".join(path.parts[-2:]), line, message)))
