"""Step lists from files that people write: one step a line, Markdown or numbered lists, or the first column of a CSV file."""

import csv
import re
from pathlib import Path

from crosstask.records import InputError
from crosstask.storage import read_text

_BULLET = re.compile(r"^\s*(?:[-*+•]|\(?\d+[.):]?)\s+(?:\[[ xX]\]\s+)?")
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
        lines = [row[0] for row in csv.reader(text.splitlines()) if row] if path.suffix.lower() == ".csv" else text.splitlines()
        if "\0" in text:  # UTF-16 without its mark
            raise UnicodeDecodeError("utf-8", b"", 0, 0, "NUL")
    except UnicodeDecodeError:
        raise InputError(f"{path}: not UTF-8 text; expected one step a line, saved as UTF-8") from None
    except csv.Error as error:
        raise InputError(f"{path}: {error}; expected one step a line") from None
    steps = [_BULLET.sub("", line).strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    if path.suffix.lower() == ".csv" and steps and steps[0].lower() in ("step", "steps", "name"):
        steps = steps[1:]
    if not steps:
        raise InputError(f"{path}: no steps; expected one step a line")
    return steps
