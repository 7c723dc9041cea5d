"""The report of a training: what went in, what was set aside, how the cost fell, settings and seed."""

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from crosstask.report.drawing import curves
from crosstask.report.page import STYLE
from crosstask.storage import stable_json, write_text


def write_training_report(
    path: Path,
    title: str,
    about: Mapping[str, Any],
    losses: Mapping[str, Sequence[float]],
    notes: Sequence[str] = (),
    places: str = "",
) -> Path:
    """`path`, one HTML file without network or scripts; `about` holds plain numbers and settings, `places` is what `window_places` drew."""
    plain = {key: value for key, value in about.items() if not isinstance(value, Mapping)}
    rows = "".join(f"<tr><td>{escape(key)}</td><td>{escape(str(value))}</td></tr>" for key, value in plain.items())
    drawn = {name: values for name, values in losses.items() if values}
    learning = f"<h2>Learning curves</h2><p>Mean cost of a label by epoch.</p>{curves(drawn)}" if drawn else ""
    aside = f"<h2>Notes</h2><ul>{''.join(f'<li>{escape(note)}</li>' for note in notes)}</ul>" if notes else ""
    windows = f"<h2>Where the narration windows fell</h2>{places}" if places else ""
    settings = f"<details><summary>Settings</summary><pre>{escape(stable_json(dict(about)))}</pre></details>"
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>{escape(title)}</title>'
    body = f"<h1>{escape(title)}</h1><table>{rows}</table>{learning}{windows}{aside}<h2>How it was made</h2>{settings}"
    return write_text(
        path, f'<!doctype html>\n<html lang="en"><head>{head}<style>{STYLE}</style></head>\n<body>\n{body}\n</body></html>\n'
    )
