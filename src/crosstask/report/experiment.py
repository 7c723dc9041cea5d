"""The report of an experiment: its table with paired differences, its figure, settings and seed, and some parses where the run kept them."""

import base64
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from crosstask.records import Task
from crosstask.report.page import STYLE, failures_and_timelines, map_section
from crosstask.runs import open_run
from crosstask.storage import stable_json, write_text

MOST_VALUES = 40  # rows of gains per step that stand in the page; all are in results.csv


def write_experiment_report(
    folder: Path,
    title: str,
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    summary: Mapping[str, Any],
    tasks: Mapping[str, Task] | None = None,
) -> Path:
    """`folder/report.html`: no network, no scripts; with the map of `tasks` where the folder has one."""
    name = f"{summary['experiment']} on {summary['corpus']}"
    runs = f"{summary['runs']} runs" if summary.get("runs", 1) != 1 else "one run"
    synthetic = (
        '<p class="synthetic"><strong>Synthetic data.</strong> Generated videos, not real ones.</p>'
        if summary["synthetic"]
        else ""
    )
    parts = [
        f"<h1>{escape(name)}</h1>{synthetic}",
        f"<p>{escape(title)}; {runs}, mean ± deviation. Differences are paired over runs, in points, with 95 % intervals.</p>",
        _table(header, rows),
        _gain(summary),
        _figure(folder / "figure.svg") or _figure(folder / "figure.png"),
        failures_and_timelines(open_run(folder)) if (folder / "run.json").is_file() else "",
        map_section(folder, tasks or {}),
        _made(summary),
    ]
    head = (
        f'<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>{escape(name)}</title>'
    )
    body = "\n".join(part for part in parts if part)
    text = f'<!doctype html>\n<html lang="en"><head>{head}<style>{STYLE}</style></head>\n<body>\n{body}\n</body></html>\n'
    return write_text(folder / "report.html", text)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    heads = "".join(f"<th>{escape(str(cell))}</th>" for cell in header)
    body = "".join("<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="wide"><table><tr>{heads}</tr>{body}</table></div>'


def _gain(summary: Mapping[str, Any]) -> str:
    """Gain from sharing per task, and steps and components that share well and poorly, where the experiment asked."""
    blocks = []
    gain = summary.get("gain_from_sharing")
    if gain:
        titles = summary.get("tasks", {})
        rows = [
            [titles.get(task, task), f"{100 * value:+.1f}"] for task, value in sorted(gain["tasks"].items(), key=lambda t: -t[1])
        ]
        interval = "" if gain.get("low") is None else f" (95 % interval {100 * gain['low']:+.1f} to {100 * gain['high']:+.1f})"
        won = f"{gain['tasks_won']} of {gain['of_tasks']} tasks gain; {100 * gain['mean']:+.1f} points on average{interval}."
        blocks.append(f"<h2>Gain from sharing</h2><p>{won}</p>{_table(['task', 'points of recall'], rows)}")
    for kind, name in (("components", "component"), ("steps", "step")):
        found = [one for one in summary.get(kind) or () if name in one]
        half = MOST_VALUES // 4
        ends = found if len(found) <= 2 * half else [*found[:half], *found[-half:]]
        rows = [
            [one[name], f"{100 * one['unshared']:.1f}", f"{100 * one['shared']:.1f}", f"{100 * one['gain']:+.1f}"] for one in ends
        ]
        if rows:
            blocks.append(
                f"<h2>{name.capitalize()}s that share well and poorly</h2>{_table([name, 'unshared', 'shared', 'gain'], rows)}"
            )
    return "".join(blocks)


def _figure(path: Path) -> str:
    if not path.is_file() or path.stat().st_size > 1_000_000:
        return ""
    kind = "svg+xml" if path.suffix == ".svg" else "png"
    return f'<h2>Figure</h2><img alt="the table as a figure" src="data:image/{kind};base64,{base64.b64encode(path.read_bytes()).decode()}">'


def _made(summary: Mapping[str, Any]) -> str:
    left_out = {"results", "differences", "components", "steps", "gain_from_sharing", "tasks"}
    known = {key: value for key, value in summary.items() if key not in left_out}
    listed = f"<details><summary>Settings</summary><pre>{escape(stable_json(known))}</pre></details>"
    return f"<h2>How it was made</h2><p>Seed {escape(str(summary.get('seed')))}.</p>{listed}"
