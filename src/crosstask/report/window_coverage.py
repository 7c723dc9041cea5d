"""Positions of narration windows: for each step the share of videos with a window, over the course of the video."""

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np
import numpy.typing as npt

from crosstask.records import StepInterval, Task, VideoKey
from crosstask.report.timeline import WINDOW

Windows = Sequence[tuple[VideoKey, int, tuple[StepInterval, ...]]]  # video, its length in seconds, its windows
BINS, MAX_TASKS = 40, 24
_LABEL, _WIDTH, _ROW = 190, 620, 22  # width of the label, width of the curve, height of a row, in SVG units


def coverage(windows: Windows, n_steps: int) -> npt.NDArray[np.float64]:
    """(n_steps, BINS): the share of these videos with a window of the step over the centre of each fortieth of the video.

    >>> from crosstask.records import Interval
    >>> one = (VideoKey("t", "v"), 80, (StepInterval(0, Interval(0, 40)),))
    >>> coverage([one], 1)[0, [0, 19, 20]].tolist()
    [1.0, 1.0, 0.0]
    """
    covered = np.zeros((n_steps, BINS))
    for _, n_segments, intervals in windows:
        centres_s = (np.arange(BINS) + 0.5) / BINS * n_segments
        inside = np.zeros((n_steps, BINS), dtype=bool)
        for window in intervals:
            if window.step < n_steps:
                inside[window.step] |= (window.interval.start_s <= centres_s) & (centres_s < window.interval.end_s)
        covered += inside
    return covered / max(1, len(windows))


def window_coverage_section(tasks: Mapping[str, Task], windows: Windows) -> str:
    """A figure per task with a row per step as HTML; an empty string without windows."""
    blocks: list[str] = []
    by_task = {task: [one for one in windows if one[0].task == task] for task in tasks}
    shown = [task for task, own in by_task.items() if own]
    for task in shown[:MAX_TASKS]:
        opened = " open" if not blocks else ""
        summary = f"{escape(tasks[task].title)} (videos with windows: {len(by_task[task])})"
        blocks.append(f"<details{opened}><summary>{summary}</summary>{_figure(tasks[task], by_task[task])}</details>")
    if not blocks:
        return ""
    more = f" The first {MAX_TASKS} of {len(shown)} tasks." if len(shown) > MAX_TASKS else ""
    about = f"From the first to the last second of each video, the share of videos with a window of the step there.{more}"
    return f"<p>{about}</p>{''.join(blocks)}"


def _figure(task: Task, windows: Windows) -> str:
    covered = coverage(windows, len(task.steps))
    parts = []
    for k, (name, shares) in enumerate(zip(task.steps, covered, strict=True)):
        top = k * _ROW
        parts.append(f'<rect x="{_LABEL}" y="{top + 1}" width="{_WIDTH}" height="{_ROW - 3}" fill="#f7f8fa"/>')
        parts.append(_area(shares, top + _ROW - 2, _ROW - 4))
        label = name if len(name) < 26 else name[:24] + "…"
        parts.append(f'<text x="{_LABEL - 8}" y="{top + 15}" text-anchor="end" class="step">{escape(label)}</text>')
        parts.append(f'<text x="{_LABEL + _WIDTH + 8}" y="{top + 15}" class="axis">at most {100 * shares.max():.0f} %</text>')
    title = f"Positions of the windows of {escape(task.title)}: " + ", ".join(
        f"{escape(name)} mostly at {100 * (shares.argmax() + 0.5) / BINS:.0f} %"
        for name, shares in zip(task.steps, covered, strict=True)
        if shares.any()
    )
    height = len(task.steps) * _ROW
    axis = f'<text x="{_LABEL}" y="{height + 12}" class="axis">start</text>'
    axis += f'<text x="{_LABEL + _WIDTH}" y="{height + 12}" text-anchor="end" class="axis">end</text>'
    return f'<svg viewBox="0 0 900 {height + 16}" role="img" aria-label="{title}">{"".join(parts)}{axis}</svg>'


def _area(shares: npt.NDArray[np.float64], bottom: int, height: int) -> str:
    """The bars of a histogram of shares as an SVG path; a share of 1 has the full height."""
    width = _WIDTH / len(shares)
    path = "".join(f"V{bottom - share * height:.1f}h{width:g}" for share in shares)
    return f'<path d="M{_LABEL} {bottom}{path}V{bottom}z" fill="{WINDOW}" stroke="#718096" stroke-width=".7"/>'
