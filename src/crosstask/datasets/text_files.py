"""UTF-8 text, CSV and JSON files read with an `InputError` that names the file."""

import csv
import json
from collections.abc import Iterator
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


def csv_rows(path: Path, text: str | None = None) -> Iterator[tuple[int, list[str]]]:
    """(line number, fields) of every line of a file that is not blank; `text` is what it holds, where that was read before."""
    try:
        for number, row in enumerate(csv.reader((read_text(path) if text is None else text).splitlines()), start=1):
            if any(field.strip() for field in row):
                yield number, row
    except csv.Error as error:
        raise InputError(f"{'/'.join(path.parts[-2:])}: {error}; expected plain comma-separated lines") from None


def read_json(path: Path, expected: str) -> Any:
    """The value of a JSON file; `expected` ends the error for anything else."""
    try:
        return json.loads(storage.read_text(path))
    except OSError as error:
        storage.raise_if_disk_failed(error)
        raise InputError(f"{path}: cannot be read ({error.strerror}); {expected}") from None
    except (ValueError, RecursionError):
        raise InputError(f"{path.name}: not valid JSON; {expected}") from None
