"""A localization drawn as in the paper: for each step, scores in blue, truth in yellow, windows in grey, a green mark if right, red if wrong."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from crosstask.records import Localization, StepInterval, Task
from crosstask.storage import figure_bytes, write_bytes

SCORES, TRUTH, WINDOW, RIGHT, WRONG, UNKNOWN = "#2b6cb0", "#f6d860", "#c9ccd1", "#1a8f3c", "#c53030", "#555555"


def draw_timeline(
    path: Path,
    title: str,
    task: Task,
    scores: npt.NDArray[np.floating],
    localization: Localization,
    truth: tuple[StepInterval, ...] | None,
    windows: tuple[StepInterval, ...] | None,
) -> Path:
    """Draw the timeline of one video to `path` (PNG or SVG by its suffix); returns the path."""
    from matplotlib.figure import Figure

    n_segments, n_steps = scores.shape
    figure = Figure(figsize=(11, 0.62 * n_steps + 1.4), layout="constrained")
    axes = figure.subplots(n_steps, 1, sharex=True, squeeze=False)[:, 0]
    for k, (axis, found) in enumerate(zip(axes, localization.steps, strict=True)):
        fill_intervals(axis, [w for w in windows or () if w.step == k], WINDOW, low=0.0, high=0.16)
        fill_intervals(axis, [a for a in truth or () if a.step == k], TRUTH, low=0.16, high=1.0)
        axis.plot(np.arange(n_segments) + 0.5, scaled_scores(scores[:, k]), color=SCORES, linewidth=1)
        colour, marker, word = verdict(truth, k, found.segment, n_segments)
        axis.axvline(found.segment + 0.5, color=colour, linewidth=2)
        axis.plot([found.segment + 0.5], [0.9], marker=marker, color=colour, markersize=7, clip_on=False)
        axis.set_ylabel(
            f"{found.name.replace('_', ' ')}\n({word})", rotation=0, ha="right", va="center", fontsize=9, color=colour
        )
        axis.set(yticks=[], ylim=(0, 1.05), xlim=(0, n_segments))
    axes[-1].set_xlabel("second of the video")
    figure.suptitle(title, fontsize=11)
    _legend(figure, windows is not None)
    ending = path.suffix.lstrip(".") or "png"
    return write_bytes(path, figure_bytes(figure, ending, 110, _metadata_without_date(path)))


def fill_intervals(axis: Any, intervals: list[StepInterval], colour: str, low: float, high: float) -> None:
    """Fill the intervals of one step between two heights (0 to 1)."""
    for annotated in intervals:
        axis.axvspan(annotated.interval.start_s, annotated.interval.end_s, ymin=low, ymax=high, color=colour, linewidth=0)


def scaled_scores(scores: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
    """Scores (T,) of a step scaled to 0 to 1."""
    lowest, highest = float(scores.min()), float(scores.max())
    return np.asarray((scores - lowest) / max(highest - lowest, 1e-9))


def verdict(truth: tuple[StepInterval, ...] | None, step: int, second: int, n_segments: int) -> tuple[str, str, str]:
    """Colour, marker and word for a found step: right, wrong, not shown in the video, or unknown."""
    if truth is None:
        return UNKNOWN, "o", "found"
    intervals = [annotated for annotated in truth if annotated.step == step]
    if not intervals:
        return WRONG, "x", "not shown"
    hit = any(second in annotated.interval.segments(n_segments) for annotated in intervals)
    return (RIGHT, "o", "right") if hit else (WRONG, "x", "wrong")


def _legend(figure: Any, with_windows: bool) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    entries = [
        Line2D([], [], color=SCORES, label="score"),
        Patch(color=TRUTH, label="truth"),
        Line2D([], [], color=RIGHT, marker="o", label="found, right"),
        Line2D([], [], color=WRONG, marker="x", label="found, wrong"),
    ]
    if with_windows:
        entries.append(Patch(color=WINDOW, label="narration window (training only)"))
    figure.legend(handles=entries, loc="outside lower center", ncols=len(entries), fontsize=8, frameon=False)


def _metadata_without_date(path: Path) -> dict[str, None]:
    """Metadata without the date, so that the same figure has the same bytes."""
    return {"Date": None} if path.suffix == ".svg" else {"Software": None}
