"""Step lists from files that people write: one step a line, Markdown or numbered lists, or a column of a CSV file."""

import csv
import io
import re
from pathlib import Path

from crosstask.records import InputError
from crosstask.storage import read_text

_BULLET = re.compile(r"^\s*(?:[-*+•]|\(?\d+[.):]|#\d+[.):]?)\s+(?:\[[ xX]\]\s+)?")
_HEADING = re.compile(r"\s*#(?!\d)")
_NUMBER_OR_NOTHING = re.compile(r"(?:[#(]?\d+[.):]?)?")
_HEADS = ("step", "steps", "name")  # of the column with the step names
_LARGEST_BYTES = 1_000_000


def read_step_list(path: str | Path) -> list[str]:
    """The step names in a .txt, .md or .csv file, in order; numbers, bullets, headings and empty lines are left out."""
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path}: no such file; expected one step a line")
    if path.stat().st_size > _LARGEST_BYTES:
        raise InputError(f"{path}: {path.stat().st_size} bytes; expected a short list, one step a line")
    try:
        text = read_text(path, max_bytes=_LARGEST_BYTES)
        lines = _step_column(text) if path.suffix.lower() == ".csv" else text.splitlines()
        if "\0" in text:  # UTF-16 without its mark
            raise UnicodeDecodeError("utf-8", b"", 0, 0, "NUL")
    except UnicodeDecodeError:
        raise InputError(f"{path}: not UTF-8 text; expected one step a line, saved as UTF-8") from None
    except csv.Error as error:
        raise InputError(f"{path}: {error}; expected one step a line") from None
    steps = _without_count([line for line in lines if line.strip() and not _HEADING.match(line)])
    if not steps:
        raise InputError(f"{path}: no steps; expected one step a line")
    return [_BULLET.sub("", step).strip() for step in steps]


def _step_column(text: str) -> list[str]:
    """The column of a table under a head such as "step", else the first that holds more than numbers; a spreadsheet may separate columns by semicolons.

    >>> _step_column("id,action\\n1,pour milk\\n2,stir"), _step_column("time,step\\n0:10,pour milk")
    (['pour milk', 'stir'], ['pour milk'])
    """
    first = text.partition("\n")[0]
    table = csv.reader(io.StringIO(text), delimiter=";" if ";" in first and "," not in first else ",")
    rows = [[" ".join(cell.split()) for cell in row] for row in table if any(cell.strip() for cell in row)]
    columns = [[row[i] if i < len(row) else "" for row in rows] for i in range(max(map(len, rows), default=0))]
    heads = [column[0].lower() for column in columns]
    has_head = any(head in _HEADS for head in heads)
    if has_head or any(_counts(column[1:]) and not _NUMBER_OR_NOTHING.fullmatch(column[0]) for column in columns):
        columns = [column[1:] for column in columns]
    named = [column for wanted in _HEADS for head, column in zip(heads, columns, strict=True) if head == wanted]
    return next((column for column in [*named, *columns] if not all(map(_NUMBER_OR_NOTHING.fullmatch, column))), [])


def _counts(cells: list[str]) -> bool:
    """True for the numbers from 1 on, as under a head such as "id"."""
    return bool(cells) and [cell.strip("#().:") for cell in cells] == [str(number) for number in range(1, len(cells) + 1)]


def _without_count(lines: list[str]) -> list[str]:
    """The lines without bare numbers in front, where these count the lines: in `10 minutes in the oven` the number says something.

    >>> _without_count(["1 pour milk", "2 stir"]), _without_count(["2 eggs", "stir"])
    (['pour milk', 'stir'], ['2 eggs', 'stir'])
    """
    parts = [line.split(maxsplit=1) for line in lines]
    counted = all(len(part) == 2 and part[0] == str(number) for number, part in enumerate(parts, start=1))
    return [part[1] for part in parts] if counted else lines
