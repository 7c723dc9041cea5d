"""One HTML file that says what a run found: no network, no scripts, opens from disk, prints well."""

import base64
from collections.abc import Mapping
from html import escape
from pathlib import Path

from crosstask.records import Task, VideoKey
from crosstask.report.drawing import LEGEND, METHOD_COLOURS, bars, curves, timeline
from crosstask.report.failures import EXPLANATION, RIGHT, count, outcomes
from crosstask.report.strips import STRIP_STYLE, strips_section
from crosstask.report.task_map import nearest_table
from crosstask.report.window_places import window_places
from crosstask.runs import RunFolder, RunVideo, open_run
from crosstask.storage import stable_json, write_text

VIDEOS_PER_TASK = 3
LARGEST_FIGURE_BYTES = 400_000
JUDGED = "videos held back from training"  # among the settings of a run: their keys, where only those are judged
GAINS = (("proposed", "task-specific"), ("best", "no sharing"))  # with sharing, without
STYLE = (
    """
:root{color-scheme:light}body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#1a202c;background:#fff}
h1{line-height:1.2}h2{margin-top:2.5rem;border-bottom:1px solid #e2e8f0}table{border-collapse:collapse;width:100%;font-size:.9rem}
th,td{padding:.25rem .5rem;text-align:right;border-bottom:1px solid #edf2f7}th:first-child,td:first-child,td.words{text-align:left}
svg{width:100%;height:auto;display:block}.legend svg{display:inline-block;width:14px;height:14px;vertical-align:-2px;margin-left:.8rem}
.step{font-size:12px;fill:#1a202c}.axis{font-size:10px;fill:#4a5568}
.synthetic{background:#fefcbf;border:1px solid #d69e2e;padding:.5rem .8rem;border-radius:.4rem}
.best{font-weight:700}.named{white-space:nowrap}
.key{display:inline-block;width:.9rem;height:.9rem;margin:0 .3rem 0 .8rem;vertical-align:-1px}details{margin:.6rem 0}
summary{cursor:pointer}pre{background:#f7fafc;padding:.8rem;overflow:auto;font-size:.8rem}.wide{overflow-x:auto}img{max-width:100%}
"""
    + STRIP_STYLE
)


def write_report(folder: Path) -> Path:
    """`folder/report.html`, made from nothing but the run folder."""
    return write_text(folder / "report.html", page(open_run(folder)))


def page(run: RunFolder) -> str:
    """The whole report as HTML."""
    about = run.run
    sections = [
        _head(run),
        _recall(run),
        strips_section(run),
        _failures(run),
        _timelines(run),
        _learning(run),
        _windows(run),
        _figures(run),
        _settings(run),
    ]
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(about.title)}</title><style>{STYLE}</style></head>\n<body>\n"
        + "\n".join(filter(None, sections))
        + "\n</body></html>\n"
    )


def failures_and_timelines(run: RunFolder) -> str:
    """What people look at in a run that has a table of its own elsewhere."""
    return _failures(run) + _timelines(run) + _windows(run)


def _head(run: RunFolder) -> str:
    about = run.run
    lines = [f"<h1>{escape(about.title)}</h1>"]
    if about.synthetic:
        lines.append(
            '<p class="synthetic"><strong>Synthetic data.</strong> These numbers say how the method behaves on generated videos, not on real ones.</p>'
        )
    main = about.results.get(about.methods[0]) if about.methods else None
    if main:
        lines.append(
            f"<p>{len(about.videos)} videos of {len({v.task for v in about.videos})} tasks. <strong>{escape(about.methods[0])}</strong> finds "
            f"<strong>{100 * main['recall']['mean']:.1f} %</strong> of the steps that are shown (step recall, mean over tasks{_judged_on(run)}).</p>"
        )
    lines += [f"<p>{escape(note)}</p>" for note in about.notes]
    return "\n".join(lines)


def _judged_on(run: RunFolder) -> str:
    held_back = run.run.settings.get(JUDGED)
    return f", over the {len(held_back)} videos held back from training" if isinstance(held_back, list) else ""


def _recall(run: RunFolder) -> str:
    about = run.run
    judged = [method for method in about.methods if about.results.get(method, {}).get("recall", {}).get("tasks")]
    if not judged:
        return ""
    tasks = sorted({task for method in judged for task in about.results[method]["recall"]["tasks"]})
    title = {task: about.tasks[task].title if task in about.tasks else task for task in tasks}
    values = {title[t]: {m: about.results[m]["recall"]["tasks"].get(t, 0.0) for m in judged} for t in tasks}
    values["mean over tasks"] = {m: about.results[m]["recall"]["mean"] for m in judged}
    keys = "".join(
        f'<span class="named"><span class="key" style="background:{METHOD_COLOURS[j % len(METHOD_COLOURS)]}"></span>{escape(m)}</span> '
        for j, m in enumerate(judged)
    )
    gain = next((pair for pair in GAINS if set(pair) <= set(judged)), None)
    header = "".join(f"<th>{escape(m)}</th>" for m in judged) + ("<th>gain from sharing</th>" if gain else "")
    rows = "".join(_recall_row(name, row, judged, gain) for name, row in values.items())
    return (
        f"<h2>Step recall per task</h2><p>One moment per step and video; a hit lies in a true interval of that step. In percent. {keys}</p>"
        f"{bars(values, judged)}<details><summary>As a table</summary>"
        f'<div class="wide"><table><tr><th>task</th>{header}</tr>{rows}</table></div></details>'
    )


def _recall_row(name: str, row: dict[str, float], methods: list[str], gain: tuple[str, str] | None) -> str:
    best = max(row.values())
    cells = "".join(f'<td class="{"best" if row[m] == best else ""}">{100 * row[m]:.1f}</td>' for m in methods)
    extra = f"<td>{100 * (row[gain[0]] - row[gain[1]]):+.1f}</td>" if gain else ""
    return f"<tr><td>{escape(name)}</td>{cells}{extra}</tr>"


def _failures(run: RunFolder) -> str:
    method = run.run.methods[0]
    parses = run.localizations.get(method, {})
    judged = [v for v in run.run.videos if v.truth is not None and v.key in parses]
    held_back = run.run.settings.get(JUDGED)
    if isinstance(held_back, list):
        judged = [v for v in judged if str(v.key) in held_back]
    if not judged:
        return ""
    counted = count([outcomes(parses[v.key], v.truth or (), run.scores(method, v.key), v.n_segments) for v in judged])
    total = sum(counted.values())
    rows = f"<tr><td>{RIGHT}</td><td>{counted[RIGHT]}</td><td>{100 * counted[RIGHT] / total:.0f} %</td><td></td></tr>"
    for kind, text in EXPLANATION.items():
        share = f"{100 * counted[kind] / total:.0f} %"
        rows += f'<tr><td>{kind}</td><td>{counted[kind]}</td><td>{share}</td><td class="words">{text}</td></tr>'
    return (
        f"<h2>Where it goes wrong</h2><p>All {total} placed steps of {escape(method)}, by what became of them.</p>"
        f"<table><tr><th>outcome</th><th>steps</th><th>share</th><th></th></tr>{rows}</table>"
    )


def _timelines(run: RunFolder) -> str:
    method = run.run.methods[0]
    parses = run.localizations.get(method, {})
    blocks: list[str] = []
    for task in run.run.tasks.values():
        videos = [v for v in run.run.videos if v.task == task.id and v.key in parses]
        drawn = [_timeline(run, method, v) for v in spread(videos, VIDEOS_PER_TASK)]
        if drawn:
            more = f" ({len(drawn)} of {len(videos)} videos)" if len(videos) > len(drawn) else ""
            opened = " open" if not blocks else ""
            blocks.append(f"<details{opened}><summary>{escape(task.title)}{more}</summary>{''.join(drawn)}</details>")
    return f"<h2>Timelines</h2>{LEGEND}{''.join(blocks)}" if blocks else ""


def spread(videos: list[RunVideo], n: int) -> list[RunVideo]:
    """Up to n of the videos, evenly from first to last."""
    if len(videos) <= n:
        return videos
    return [videos[round(i * (len(videos) - 1) / (n - 1))] for i in range(n)] if n > 1 else videos[:1]


def _timeline(run: RunFolder, method: str, video: RunVideo) -> str:
    parse = run.localizations[method][VideoKey(video.task, video.id)]
    drawing = timeline(parse, video.n_segments, run.scores(method, video.key), video.truth, video.windows)
    return f"<h4>{escape(video.id)}</h4>{drawing}"


def _learning(run: RunFolder) -> str:
    if not any(run.run.losses.values()):
        return ""
    return (
        f"<h2>Learning curves</h2><p>Mean cost of a label by epoch.</p>{curves({m: v for m, v in run.run.losses.items() if v})}"
    )


def _windows(run: RunFolder) -> str:
    """How the narration windows fell: how often they touch their step, and where in the videos they lie."""
    places = window_places(run.run.tasks, [(v.key, v.n_segments, v.windows) for v in run.run.videos if v.windows])
    said = _windows_and_truth(run)
    return f"<h2>Where the narration windows fell</h2>{said}{places}" if said or places else ""


def _windows_and_truth(run: RunFolder) -> str:
    judged = [(v, w) for v in run.run.videos if v.truth is not None and v.windows for w in v.windows]
    shown = [(v, w) for v, w in judged if any(a.step == w.step for a in v.truth or ())]
    if not shown:
        return ""
    touching = sum(any(a.step == w.step and a.interval.overlap_s(w.interval) > 0 for a in v.truth or ()) for v, w in shown)
    length = sum(w.interval.length_s for _, w in judged) / len(judged)
    return (
        f"<p>{len(judged)} windows of {length:.1f} s on average. Of {len(shown)} steps that are shown and have a "
        f"window, {100 * touching / len(shown):.0f} % touch it; the others lie entirely outside.</p>"
    )


def _figures(run: RunFolder) -> str:
    return map_section(run.folder, run.run.tasks)


def map_section(folder: Path, tasks: Mapping[str, Task]) -> str:
    """The map of tasks, as long as it is small enough to stand inside the page, and each task's nearest."""
    shown = "".join(_image(path) for path in sorted((folder / "figures").glob("map.*")) if _fits(path))
    return f"<h2>Map of tasks</h2>{shown}{nearest_table(tasks)}" if shown else ""


def _fits(path: Path) -> bool:
    return path.suffix in (".png", ".svg") and not path.is_symlink() and path.stat().st_size <= LARGEST_FIGURE_BYTES


def _image(path: Path) -> str:
    kind = "svg+xml" if path.suffix == ".svg" else "png"
    return f'<img alt="tasks near each other share step words" src="data:image/{kind};base64,{base64.b64encode(path.read_bytes()).decode()}">'


def _settings(run: RunFolder) -> str:
    about = run.run
    known = {
        "command": about.command,
        "seed": about.seed,
        "version": about.version,
        "methods": list(about.methods),
        "settings": dict(about.settings),
    }
    listed = f"<details><summary>Settings</summary><pre>{escape(stable_json(known))}</pre></details>"
    return f"<h2>How it was made</h2><p><code>{escape(about.command)}</code></p>{listed}"
