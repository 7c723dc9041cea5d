"""The report of a training: data, skipped videos, learning curves, settings and seed."""

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from crosstask.records import InputError
from crosstask.report.document import html_document
from crosstask.report.drawing import curves
from crosstask.storage import read_bytes, stable_json, write_text

_TITLE = "Training of "  # begins the title of such a page


def refuse_other_page(path: Path) -> None:
    """An error where a report would overwrite another file."""
    if path.exists() and f"<title>{_TITLE}".encode() not in read_bytes(path)[:1000]:
        raise InputError(f"{path}: not the report of a training, and would be overwritten; choose another model name")


def write_training_report(
    path: Path,
    name: str,
    about: Mapping[str, Any],
    losses: Mapping[str, Sequence[float]],
    notes: Sequence[str] = (),
    window_coverage: str = "",
) -> Path:
    """Write the report on the model of this name to `path` and return it.

    `about` holds numbers and settings, `window_coverage` is HTML of `window_coverage_section`.
    """
    plain = {key: value for key, value in about.items() if not isinstance(value, Mapping)}
    rows = "".join(f"<tr><td>{escape(key)}</td><td>{escape(str(value))}</td></tr>" for key, value in plain.items())
    drawn = {name: values for name, values in losses.items() if values}
    learning = f"<h2>Learning curves</h2><p>Mean loss per label by epoch.</p>{curves(drawn)}" if drawn else ""
    notes_section = f"<h2>Notes</h2><ul>{''.join(f'<li>{escape(note)}</li>' for note in notes)}</ul>" if notes else ""
    windows = f"<h2>Narration windows</h2>{window_coverage}" if window_coverage else ""
    settings = f"<details><summary>Settings</summary><pre>{escape(stable_json(dict(about)))}</pre></details>"
    title = _TITLE + name
    body = f"<h1>{escape(title)}</h1><table>{rows}</table>{learning}{windows}{notes_section}<h2>Settings</h2>{settings}"
    return write_text(path, html_document(title, body))
