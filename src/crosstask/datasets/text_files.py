"""UTF-8 text, CSV and JSON files read with an `InputError` that names the file, and rows written as CSV."""

import csv
import io
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from crosstask import storage
from crosstask.records import InputError


def read_text(path: Path, expected: str = "save it as UTF-8") -> str:
    """The text of a UTF-8 file; `expected` ends the error for other encodings."""
    try:
        return storage.read_text(path)
    except OSError as error:
        storage.raise_if_disk_failed(error)
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: not UTF-8 text; {expected}") from None


def csv_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """(line number, fields) of every line that is not blank."""
    try:
        for number, row in enumerate(csv.reader(read_text(path).splitlines()), start=1):
            if any(field.strip() for field in row):
                yield number, row
    except csv.Error as error:
        raise InputError(f"{'/'.join(path.parts[-2:])}: {error}; expected plain comma-separated lines") from None


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    """Lines that `csv_rows` reads back; a line break in a field, which would end the row, becomes a space."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([one_line(str(field)) for field in row] for row in rows)
    return text.getvalue()


def one_line(text: str) -> str:
    """The text with spaces for line breaks.

    >>> one_line("pour\\nmilk")
    'pour milk'
    """
    return " ".join(text.splitlines())


def read_json(path: Path, expected: str) -> Any:
    """The value of a JSON file; `expected` ends the error for anything else."""
    try:
        return json.loads(storage.read_text(path))
    except OSError as error:
        storage.raise_if_disk_failed(error)
        raise InputError(f"{path}: cannot be read ({error.strerror}); {expected}") from None
    except (ValueError, RecursionError):
        raise InputError(f"{path.name}: not valid JSON; {expected}") from None
