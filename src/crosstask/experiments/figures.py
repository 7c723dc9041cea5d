"""Figures of the experiments as PNG and SVG without a date, so that the same figure has the same bytes."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from crosstask.storage import figure_bytes, write_bytes

if TYPE_CHECKING:
    from crosstask.experiments.runner import ExperimentConfig

COLOURS = ("#4c78a8", "#f58518", "#54a24b", "#e45756", "#72b7b2", "#b279a2", "#9d755d", "#7f7f7f")


def save_figure(figure: Any, folder: Path, name: str = "figure") -> None:
    """Write the figure as `folder/name.png` and `folder/name.svg`."""
    svg = {"svg.hashsalt": "crosstask", "svg.fonttype": "path"}
    for ending, metadata in (("png", {"Software": None}), ("svg", {"Date": None, "Creator": None})):
        write_bytes(folder / f"{name}.{ending}", figure_bytes(figure, ending, 130, metadata, **svg))


def new_figure(width: float, height: float) -> tuple[Any, Any]:
    """A figure of this size in inches and its axes, without a window or global state."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots()


def set_title(figure: Any, summary: Mapping[str, Any], experiment: str) -> None:
    """Write experiment, corpus and number of runs above the whole figure, since names of corpora are long."""
    synthetic = " (synthetic)" if summary["synthetic"] else ""
    figure.suptitle(f"{experiment}: {summary['corpus']}{synthetic}, {summary['runs']} runs", fontsize=10)


def _whiskers(summary: Mapping[str, Any]) -> str:
    return "; whiskers: deviation over runs" if summary["runs"] > 1 else ""


def draw_bars(config: "ExperimentConfig", summary: Mapping[str, Any]) -> None:
    """Bars of the mean recall of every arm with its standard deviation over runs."""
    names = list(summary["results"])
    means = [100 * summary["results"][n]["recall"]["mean"] for n in names]
    deviations = [100 * (summary["results"][n]["recall"]["deviation"] or 0) for n in names]
    figure, axes = new_figure(7, 0.45 * len(names) + 1.4)
    axes.barh(names, means, xerr=deviations, color=[COLOURS[i % len(COLOURS)] for i in range(len(names))], capsize=3)
    for y, (mean, deviation) in enumerate(zip(means, deviations, strict=True)):
        axes.annotate(f"{mean:.1f}", (mean + deviation, y), (6, 0), textcoords="offset points", va="center", fontsize=9)
    axes.invert_yaxis()
    axes.set_xlim(0, 1.12 * max([m + d for m, d in zip(means, deviations, strict=True)], default=1))
    axes.set(xlabel=f"step recall, %, mean over tasks{_whiskers(summary)}")
    set_title(figure, summary, summary["experiment"])
    save_figure(figure, config.out)


def draw_task_bars(config: "ExperimentConfig", summary: Mapping[str, Any], names: Sequence[str]) -> None:
    """Bars of the recall per task, some arms side by side."""
    tasks = summary["tasks"]
    figure, axes = new_figure(max(7.0, 0.75 * len(tasks) + 2), 4.6)
    width = 0.85 / max(1, len(names))
    for i, name in enumerate(names):
        figures = summary["results"][name]["recall"]["tasks"]
        x = np.arange(len(tasks)) + (i - (len(names) - 1) / 2) * width
        heights = [100 * figures[t]["mean"] if t in figures else 0 for t in tasks]
        errors = [100 * (figures[t]["deviation"] or 0) if t in figures else 0 for t in tasks]
        axes.bar(x, heights, width, yerr=errors, label=name, color=COLOURS[i % len(COLOURS)], error_kw={"linewidth": 0.7})
    axes.set_xticks(np.arange(len(tasks)), list(tasks.values()), rotation=40, ha="right", fontsize=8)
    axes.set(ylabel=f"step recall, %{_whiskers(summary)}")
    set_title(figure, summary, summary["experiment"])
    axes.legend(fontsize=8, ncols=len(names))
    save_figure(figure, config.out)


def draw_lines(
    config: "ExperimentConfig", summary: Mapping[str, Any], points: Mapping[int, str], references: Sequence[str], xlabel: str
) -> None:
    """Recall as a function of a number, with horizontal reference lines."""
    figure, axes = new_figure(6.4, 4.2)
    numbers = sorted(points)
    recalls = [summary["results"][points[n]]["recall"] for n in numbers]
    means, errors = [100 * r["mean"] for r in recalls], [100 * (r["deviation"] or 0) for r in recalls]
    axes.errorbar(numbers, means, yerr=errors, marker="o", capsize=3, color=COLOURS[0], label="never trained on the tested tasks")
    for i, name in enumerate(references, start=1):
        mean = 100 * summary["results"][name]["recall"]["mean"]
        axes.axhline(mean, color=COLOURS[i % len(COLOURS)], linestyle="--", linewidth=1, label=f"{name}: {mean:.1f}")
    axes.set(xlabel=xlabel, ylabel=f"step recall, %, mean over tasks{_whiskers(summary)}")
    set_title(figure, summary, summary["experiment"])
    axes.legend(fontsize=8)
    save_figure(figure, config.out)
