"""CSV that spreadsheets read as it is meant: what somebody wrote is never a formula there."""

import csv
import io
from collections.abc import Iterable


def csv_text(rows: Iterable[Iterable[object]]) -> str:
    """Rows as CSV."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def no_formula(cell: str) -> str:
    """The cell with a leading quote if a spreadsheet would take it for a formula."""
    begins = cell.lstrip("'")[:1]  # a name that begins with a quote itself gets another, which `labels import` takes away
    return f"'{cell}" if begins and begins in "=+-@\t\r" else cell


def number_or_text(cell: object) -> object:
    """The cell itself if it is a number, also one in text; otherwise as by `no_formula`.

    >>> number_or_text("-0.5"), number_or_text("-0.5 points")
    ('-0.5', "'-0.5 points")
    """
    try:
        float(str(cell))
    except ValueError:
        return no_formula(str(cell))
    return cell
