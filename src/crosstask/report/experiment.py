"""The report of an experiment: its table with paired differences, its figure, settings and seed, and localizations if the run has them."""

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from crosstask.records import Task
from crosstask.report.document import embedded_image, html_document
from crosstask.report.page import failures_and_timelines
from crosstask.report.task_map import map_section
from crosstask.runs import open_run
from crosstask.storage import stable_json, write_text

ROWS_PER_END = 10  # largest gains and largest losses in the report; all are in results.csv
LARGEST_FIGURE_BYTES = 1_000_000  # larger figures are left out


def write_experiment_report(
    folder: Path,
    title: str,
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    summary: Mapping[str, Any],
    tasks: Mapping[str, Task] | None = None,
) -> Path:
    """Write `folder/report.html`, with the map of `tasks` if the folder has one; returns its path."""
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
        _settings(summary),
    ]
    return write_text(folder / "report.html", html_document(name, "\n".join(part for part in parts if part)))


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    heads = "".join(f"<th>{escape(str(cell))}</th>" for cell in header)
    body = "".join("<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="wide"><table><tr>{heads}</tr>{body}</table></div>'


def _gain(summary: Mapping[str, Any]) -> str:
    """Gain from sharing per task, and the components and steps with the largest gains and losses, if the summary has them; HTML."""
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
        gains = [one for one in summary.get(kind) or () if name in one]
        ends = gains if len(gains) <= 2 * ROWS_PER_END else [*gains[:ROWS_PER_END], *gains[-ROWS_PER_END:]]
        rows = [
            [one[name], f"{100 * one['unshared']:.1f}", f"{100 * one['shared']:.1f}", f"{100 * one['gain']:+.1f}"] for one in ends
        ]
        if rows:
            blocks.append(
                f"<h2>{name.capitalize()}s with the largest gains and losses</h2>{_table([name, 'unshared', 'shared', 'gain'], rows)}"
            )
    return "".join(blocks)


def _figure(path: Path) -> str:
    if not path.is_file() or path.stat().st_size > LARGEST_FIGURE_BYTES:
        return ""
    return f"<h2>Figure</h2>{embedded_image(path, 'the table as a figure')}"


def _settings(summary: Mapping[str, Any]) -> str:
    left_out = {"results", "differences", "components", "steps", "gain_from_sharing", "tasks"}
    known = {key: value for key, value in summary.items() if key not in left_out}
    listed = f"<details><summary>Settings</summary><pre>{escape(stable_json(known))}</pre></details>"
    return f"<h2>Settings and seed</h2><p>Seed {escape(str(summary.get('seed')))}.</p>{listed}"
