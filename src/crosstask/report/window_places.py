"""Where narration windows fell: for each step a small curve over the course of the videos."""

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np
import numpy.typing as npt

from crosstask.records import StepInterval, Task, VideoKey
from crosstask.report.timeline import WINDOW

Windows = Sequence[tuple[VideoKey, int, tuple[StepInterval, ...]]]  # video, its length in seconds, its windows
BINS, MOST_TASKS = 40, 24
_LABEL, _WIDE, _ROW = 190, 620, 22


def coverage(windows: Windows, n_steps: int) -> npt.NDArray[np.float64]:
    """(n_steps, BINS): the share of these videos whose window of the step covers the middle of each fortieth of the video.

    >>> from crosstask.records import Interval
    >>> one = (VideoKey("t", "v"), 80, (StepInterval(0, Interval(0, 40)),))
    >>> coverage([one], 1)[0, [0, 19, 20]].tolist()
    [1.0, 1.0, 0.0]
    """
    covered = np.zeros((n_steps, BINS))
    for _, n_segments, spans in windows:
        middles = (np.arange(BINS) + 0.5) / BINS * n_segments
        inside = np.zeros((n_steps, BINS), dtype=bool)
        for span in spans:
            if span.step < n_steps:
                inside[span.step] |= (span.interval.start_s <= middles) & (middles < span.interval.end_s)
        covered += inside
    return covered / max(1, len(windows))


def window_places(tasks: Mapping[str, Task], windows: Windows) -> str:
    """A strip per task, a row per step; nothing where there are no windows. HTML."""
    blocks: list[str] = []
    by_task = {task: [one for one in windows if one[0].task == task] for task in tasks}
    shown = [task for task, own in by_task.items() if own]
    for task in shown[:MOST_TASKS]:
        opened = " open" if not blocks else ""
        summary = f"{escape(tasks[task].title)} (videos with windows: {len(by_task[task])})"
        blocks.append(f"<details{opened}><summary>{summary}</summary>{_strip(tasks[task], by_task[task])}</details>")
    if not blocks:
        return ""
    more = f" The first {MOST_TASKS} of {len(shown)} tasks." if len(shown) > MOST_TASKS else ""
    about = f"From the first to the last second of each video, the share of videos with a window of the step there.{more}"
    return f"<p>{about}</p>{''.join(blocks)}"


def _strip(task: Task, windows: Windows) -> str:
    covered = coverage(windows, len(task.steps))
    parts = []
    for k, (name, shares) in enumerate(zip(task.steps, covered, strict=True)):
        top = k * _ROW
        parts.append(f'<rect x="{_LABEL}" y="{top + 1}" width="{_WIDE}" height="{_ROW - 3}" fill="#f7f8fa"/>')
        parts.append(_area(shares, top + _ROW - 2, _ROW - 4))
        label = name if len(name) < 26 else name[:24] + "…"
        parts.append(f'<text x="{_LABEL - 8}" y="{top + 15}" text-anchor="end" class="step">{escape(label)}</text>')
        parts.append(f'<text x="{_LABEL + _WIDE + 8}" y="{top + 15}" class="axis">at most {100 * shares.max():.0f} %</text>')
    title = f"Where windows of {escape(task.title)} fell: " + ", ".join(
        f"{escape(name)} mostly at {100 * (shares.argmax() + 0.5) / BINS:.0f} %"
        for name, shares in zip(task.steps, covered, strict=True)
        if shares.any()
    )
    tall = len(task.steps) * _ROW
    axis = f'<text x="{_LABEL}" y="{tall + 12}" class="axis">start</text>'
    axis += f'<text x="{_LABEL + _WIDE}" y="{tall + 12}" text-anchor="end" class="axis">end</text>'
    return f'<svg viewBox="0 0 900 {tall + 16}" role="img" aria-label="{title}">{"".join(parts)}{axis}</svg>'


def _area(shares: npt.NDArray[np.float64], bottom: int, tall: int) -> str:
    """Steps of a histogram, each as high as its share of the highest possible."""
    wide = _WIDE / len(shares)
    path = "".join(f"V{bottom - share * tall:.1f}h{wide:g}" for share in shares)
    return f'<path d="M{_LABEL} {bottom}{path}V{bottom}z" fill="{WINDOW}" stroke="#718096" stroke-width=".7"/>'
