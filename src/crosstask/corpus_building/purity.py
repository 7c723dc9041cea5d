"""Purity of search results: the share of relevant videos among the first N, and the suggested number N to take.

A person marks the ranked results of one or more tasks as relevant or not. Purity at N pools the first N of every task (paper, supplement:
56 % at N = 30). A file of marks has one `video,mark` or `task,video,mark` per line, best result first; mark is 1/0, yes/no or
relevant/irrelevant.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from crosstask.records import InputError, at_line
from crosstask.storage import figure_bytes, read_text, write_bytes

LEAST_PURITY = 0.56  # paper, supplement: purity of the top 30 of its related tasks
_Z_95 = 1.96  # standard normal quantile of a two-sided 95 % interval
_MARKS = {"1": True, "yes": True, "relevant": True, "true": True, "0": False, "no": False, "irrelevant": False, "false": False}
_HEADERS = (["video", "mark"], ["video", "relevant"])
Marks = Mapping[str, Sequence[tuple[str, bool]]]  # task -> (video, relevant), best result first


@dataclass(frozen=True)
class PurityCurve:
    """Entry N - 1 is the purity of the first N results of every task, and the number of these videos."""

    purity: tuple[float, ...]
    videos: tuple[int, ...]

    def suggested_cut(self, least: float = LEAST_PURITY) -> int:
        """The largest N whose purity is at least `least`; 0 if there is none.

        >>> PurityCurve((1.0, 0.5, 0.6, 0.5), (1, 2, 3, 4)).suggested_cut(0.56)
        3
        """
        return max((n for n, purity in enumerate(self.purity, start=1) if purity >= least), default=0)

    def interval(self, n: int) -> tuple[float, float]:
        """The 95 % Wilson interval of the purity at N; with a hundred marks about 0.2 wide."""
        share, count, z = self.purity[n - 1], self.videos[n - 1], _Z_95
        centre = (share + z * z / (2 * count)) / (1 + z * z / count)
        half_width = z / (1 + z * z / count) * float(np.sqrt(share * (1 - share) / count + z * z / (4 * count * count)))
        return max(0.0, centre - half_width), min(1.0, centre + half_width)


def purity_curve(marks: Marks) -> PurityCurve:
    """Purity as a function of N, up to the longest list; shorter lists are used whole.

    >>> purity_curve({"tea": [("a", True), ("b", False)], "cocoa": [("c", True)]}).purity
    (1.0, 0.6666666666666666)
    """
    longest = max((len(ranked) for ranked in marks.values()), default=0)
    relevant, videos = np.zeros(longest, np.int64), np.zeros(longest, np.int64)  # at each rank, over the tasks
    for ranked in marks.values():
        relevant[: len(ranked)] += [mark for _, mark in ranked]
        videos[: len(ranked)] += 1
    relevant, videos = relevant.cumsum(), videos.cumsum()
    return PurityCurve(tuple((relevant / np.maximum(videos, 1)).tolist()), tuple(videos.tolist()))


def read_marks(path: Path) -> dict[str, list[tuple[str, bool]]]:
    """The marks of a file by task, best result first; without task names, the name of the file is the task."""
    try:
        lines = read_text(path).splitlines()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); expected lines video,mark or task,video,mark") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: not UTF-8 text; expected lines video,mark or task,video,mark") from None
    marks: dict[str, dict[str, bool]] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        row = [field.strip() for field in line.split(",")]
        if number == 1 and row[-2:] in _HEADERS:
            continue
        if len(row) not in (2, 3) or row[-1].lower() not in _MARKS or not row[-2]:
            raise at_line(path, number, f"found {line[:60]!r}; expected video,mark or task,video,mark with mark 1 or 0")
        of_task = marks.setdefault(row[0] if len(row) == 3 else path.stem, {})
        if row[-2] in of_task:
            raise at_line(path, number, f"video {row[-2]} is marked twice; expected each result once, best first")
        of_task[row[-2]] = _MARKS[row[-1].lower()]
    if not marks:
        raise InputError(f"{path}: no marks found; expected lines video,mark or task,video,mark")
    return {task: list(of_task.items()) for task, of_task in marks.items()}


def rerank(marks: Sequence[tuple[str, bool]], scores: Mapping[str, float]) -> list[tuple[str, bool]]:
    """The marks by descending score; videos without a score come last in their old order."""
    return sorted(marks, key=lambda mark: -scores.get(mark[0], -1.0))


def draw_purity(path: Path, curves: Mapping[str, PurityCurve], least: float = LEAST_PURITY) -> Path:
    """Draw purity as a function of N with the suggested cuts to `path` (PNG or SVG by its suffix); returns the path."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.2), layout="constrained")
    axes = figure.subplots()
    for (name, curve), colour in zip(curves.items(), ("#1f77b4", "#d95f02", "#1b9e77"), strict=False):
        axes.plot(range(1, len(curve.purity) + 1), curve.purity, color=colour, label=name)
        cut = curve.suggested_cut(least)
        if cut:
            axes.axvline(cut, color=colour, linestyle=":", label=f"cut at {cut}")
    axes.axhline(least, color="#999999", linewidth=0.8)
    axes.set(xlabel="videos taken per task, N", ylabel="share that is relevant", ylim=(0, 1.02))
    axes.legend(loc="lower left")
    ending = path.suffix.lstrip(".") or "png"
    return write_bytes(path, figure_bytes(figure, ending, 110, {"Date": None} if ending == "svg" else {"Software": None}))
