"""The report of a run: frames, recall per task, failures, timelines, learning curves, windows, task map and settings."""

from html import escape
from pathlib import Path

from crosstask.records import VideoKey
from crosstask.report.document import html_document
from crosstask.report.drawing import LEGEND, METHOD_COLOURS, bars, curves, timeline
from crosstask.report.failures import EXPLANATION, RIGHT, count_outcomes, outcomes
from crosstask.report.strips import strips_section
from crosstask.report.task_map import map_section
from crosstask.report.window_coverage import window_coverage_section
from crosstask.runs import RunFolder, RunVideo, open_run
from crosstask.storage import stable_json, write_text

VIDEOS_PER_TASK = 3  # with a timeline
TIMELINE_BYTES = 2_000_000  # of timelines in a report; with the pictures it stays below 5 MB
EVALUATED_VIDEOS = "videos held back from training"  # key in the settings of a run: the videos that are evaluated, if not all
LABELLED_VIDEOS = "videos with labels by a person"  # key in the settings of a run: they are not evaluated
GAINS = (("zhukov19", "task-specific"), ("hmm", "hmm, no sharing"))  # pairs of methods with and without sharing


def write_report(folder: Path) -> Path:
    """Write `folder/report.html` from the run folder alone; returns its path."""
    return write_text(folder / "report.html", report_html(open_run(folder)))


def report_html(run: RunFolder) -> str:
    """The whole report as HTML."""
    sections = [
        _head(run),
        strips_section(run),
        _recall(run),
        _failures(run),
        _timelines(run),
        _learning(run),
        _windows(run),
        map_section(run.folder, run.run.tasks),
        _settings(run),
    ]
    return html_document(run.run.title, "\n".join(filter(None, sections)))


def failures_and_timelines(run: RunFolder) -> str:
    """The sections on failures, timelines and windows as HTML, for the report of an experiment."""
    return _failures(run) + _timelines(run) + _windows(run)


def _head(run: RunFolder) -> str:
    about = run.run
    lines = [
        f"<h1>{escape(about.title)}</h1>",
        "<p>When each step of a how-to task happens in these videos, found automatically from the lists of steps.</p>",
    ]
    if about.synthetic:
        lines.append(
            '<p class="synthetic"><strong>Synthetic data.</strong> These numbers say how the method behaves on generated videos, not on real ones.</p>'
        )
    main = about.results.get(about.methods[0]) if about.methods else None
    if main:
        lines.append(
            f"<p>{len(about.videos)} videos of {len({v.task for v in about.videos})} tasks. The method <strong>{escape(about.methods[0])}</strong> finds "
            f"<strong>{100 * main['recall']['mean']:.1f} %</strong> of the steps that are shown (step recall, mean over tasks{_evaluated_on(run)}).</p>"
        )
    if (counts := run.counts()).corrected:
        lines.append(f"<p>{counts} by a person (◆ in the timelines).</p>")
    lines += [f"<p>{escape(note)}</p>" for note in about.notes]
    return "\n".join(lines)


def _evaluated_on(run: RunFolder) -> str:
    held_back, labelled = run.run.settings.get(EVALUATED_VIDEOS), run.run.settings.get(LABELLED_VIDEOS)
    words = f", over the {len(held_back)} videos held back from training" if isinstance(held_back, list) else ""
    return words + (f", without the {len(labelled)} videos that a person labelled" if isinstance(labelled, list) else "")


def _recall(run: RunFolder) -> str:
    about = run.run
    methods = [method for method in about.methods if about.results.get(method, {}).get("recall", {}).get("tasks")]
    if not methods:
        return ""
    tasks = sorted({task for method in methods for task in about.results[method]["recall"]["tasks"]})
    title = {task: about.tasks[task].title if task in about.tasks else task for task in tasks}
    values = {title[t]: {m: about.results[m]["recall"]["tasks"].get(t, 0.0) for m in methods} for t in tasks}
    values["mean over tasks"] = {m: about.results[m]["recall"]["mean"] for m in methods}
    keys = "".join(
        f'<span class="named"><span class="key" style="background:{METHOD_COLOURS[j % len(METHOD_COLOURS)]}"></span>{escape(m)}</span> '
        for j, m in enumerate(methods)
    )
    gain = next((pair for pair in GAINS if set(pair) <= set(methods)), None)
    header = "".join(f"<th>{escape(m)}</th>" for m in methods) + ("<th>gain from sharing</th>" if gain else "")
    rows = "".join(_recall_row(name, row, methods, gain) for name, row in values.items())
    return (
        f"<h2>Step recall per task</h2><p>One moment per step and video; a hit lies in a true interval of that step. In percent. {keys}</p>"
        f"{bars(values, methods)}<details><summary>As a table</summary>"
        f'<div class="wide"><table><tr><th>task</th>{header}</tr>{rows}</table></div></details>'
    )


def _recall_row(name: str, row: dict[str, float], methods: list[str], gain: tuple[str, str] | None) -> str:
    best = max(row.values())
    cells = "".join(f'<td class="{"best" if row[m] == best else ""}">{100 * row[m]:.1f}</td>' for m in methods)
    extra = f"<td>{100 * (row[gain[0]] - row[gain[1]]):+.1f}</td>" if gain else ""
    return f"<tr><td>{escape(name)}</td>{cells}{extra}</tr>"


def _failures(run: RunFolder) -> str:
    method = run.run.methods[0]
    localizations = run.machine_localizations.get(method, {})
    videos = [v for v in run.run.videos if v.truth is not None and v.key in localizations]
    held_back = run.run.settings.get(EVALUATED_VIDEOS)
    if isinstance(held_back, list):
        evaluated = set(map(str, held_back))
        videos = [v for v in videos if str(v.key) in evaluated]
    if not videos:
        return ""
    counted = count_outcomes(
        outcomes(localizations[v.key], v.truth or (), run.scores(method, v.key), v.n_segments) for v in videos
    )
    total = sum(counted.values())
    rows = f"<tr><td>{RIGHT}</td><td>{counted[RIGHT]}</td><td>{100 * counted[RIGHT] / total:.0f} %</td><td></td></tr>"
    for kind, text in EXPLANATION.items():
        share = f"{100 * counted[kind] / total:.0f} %"
        rows += f'<tr><td>{kind}</td><td>{counted[kind]}</td><td>{share}</td><td class="words">{text}</td></tr>'
    return (
        f"<h2>Failures</h2><p>All {total} steps localized by {escape(method)}, by outcome.</p>"
        f"<table><tr><th>outcome</th><th>steps</th><th>share</th><th></th></tr>{rows}</table>"
    )


def _timelines(run: RunFolder) -> str:
    method = run.run.methods[0]
    localizations = run.localizations.get(method, {})
    by_task: dict[str, list[RunVideo]] = {task: [] for task in run.run.tasks}
    for video in run.run.videos:
        if video.key in localizations:
            by_task[video.task].append(video)
    blocks: list[str] = []
    left = TIMELINE_BYTES
    for task, videos in by_task.items():
        drawn = "".join(_timeline(run, method, v) for v in evenly_spaced(videos, VIDEOS_PER_TASK))
        if not drawn:
            continue
        left -= len(drawn)
        if left < 0:
            blocks.append(
                "<p>The timelines of the other tasks would make this page too large; <code>crosstask view</code> has all.</p>"
            )
            break
        more = f" ({VIDEOS_PER_TASK} of {len(videos)} videos)" if len(videos) > VIDEOS_PER_TASK else ""
        opened = " open" if not blocks else ""
        blocks.append(f"<details{opened}><summary>{escape(run.run.tasks[task].title)}{more}</summary>{drawn}</details>")
    return f"<h2>Timelines</h2>{LEGEND}{''.join(blocks)}" if blocks else ""


def evenly_spaced(videos: list[RunVideo], n: int) -> list[RunVideo]:
    """Up to n of the videos at equal distances, including the first and the last."""
    if len(videos) <= n:
        return videos
    return [videos[round(i * (len(videos) - 1) / (n - 1))] for i in range(n)] if n > 1 else videos[:1]


def _timeline(run: RunFolder, method: str, video: RunVideo) -> str:
    localization = run.localizations[method][VideoKey(video.task, video.id)]
    drawing = timeline(localization, video.n_segments, run.scores(method, video.key), video.truth, video.windows)
    return f"<h4>{escape(video.id)}</h4>{drawing}"


def _learning(run: RunFolder) -> str:
    if not any(run.run.losses.values()):
        return ""
    return f"<h2>Learning curves</h2><p>Mean loss per label by epoch.</p>{curves({m: v for m, v in run.run.losses.items() if v})}"


def _windows(run: RunFolder) -> str:
    """The share of narration windows that overlap their step, and their positions in the videos."""
    coverage = window_coverage_section(run.run.tasks, [(v.key, v.n_segments, v.windows) for v in run.run.videos if v.windows])
    overlap = _window_overlap(run)
    return f"<h2>Narration windows</h2>{overlap}{coverage}" if overlap or coverage else ""


def _window_overlap(run: RunFolder) -> str:
    windows = [(v, w) for v in run.run.videos if v.truth is not None and v.windows for w in v.windows]
    shown = [(v, w) for v, w in windows if any(a.step == w.step for a in v.truth or ())]
    if not shown:
        return ""
    overlapping = sum(any(a.step == w.step and a.interval.overlap_s(w.interval) > 0 for a in v.truth or ()) for v, w in shown)
    length = sum(w.interval.length_s for _, w in windows) / len(windows)
    return (
        f"<p>{len(windows)} windows of {length:.1f} s on average. Of {len(shown)} steps that are shown and have a "
        f"window, {100 * overlapping / len(shown):.0f} % overlap it; the others lie entirely outside.</p>"
    )


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
    return f"<h2>Settings and command</h2><p><code>{escape(about.command)}</code></p>{listed}"
