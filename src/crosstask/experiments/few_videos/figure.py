"""Figures: curves of recall against the number of training videos, and bars of recall by stratum."""

from collections.abc import Mapping
from typing import Any

from crosstask.experiments.figures import COLOURS, save_figure
from crosstask.experiments.runner import ExperimentConfig

_LINES = {"component, {}, beside": 0, "component, {}, alone": 1, "none, {}, beside": 3, "none, {}, alone": 2}
_LABELS = {
    "component, {}, beside": "words shared, beside other tasks",
    "component, {}, alone": "words shared, alone",
    "none, {}, beside": "nothing shared, beside other tasks",
    "none, {}, alone": "nothing shared, alone",
}


def draw_curves(config: ExperimentConfig, summary: Mapping[str, Any]) -> None:
    """A panel per method and supervision: recall with its interval over tasks, with and without sharing and other tasks."""
    from matplotlib.figure import Figure

    results, numbers = summary["results"], summary["counts"]
    panels = sorted({(name.split(", ")[0], name.split(", ")[2]) for name in results if not name.startswith("uniform")})
    figure = Figure(figsize=(3.2 * max(2, len(panels) // 2), 5.6), layout="constrained")
    columns = max(1, (len(panels) + 1) // 2)
    for i, (method, supervision) in enumerate(panels):
        axes = figure.add_subplot(2 if len(panels) > 1 else 1, columns, i + 1)
        for line, colour in _LINES.items():
            of = results.get(f"{method}, {line.format(supervision)}")
            if of:
                points = [of[n]["recall"] for n in numbers]
                axes.plot(numbers, [100 * p["mean"] for p in points], marker="o", color=COLOURS[colour], label=_LABELS[line])
        for name, of in results.items():
            if name.startswith("uniform"):
                axes.axhline(100 * of["all"]["recall"]["mean"], color="#999999", linestyle="--", linewidth=1, label="Uniform")
        axes.set_title(f"{method}, {supervision}", fontsize=9)
        axes.set_xlabel("training videos per task")
        axes.set_ylabel("step recall, %")
        if i == 0:
            axes.legend(fontsize=7)
    figure.suptitle(f"few-videos: {summary['corpus']}, {len(summary['tasks'])} tasks, {summary['names']} names", fontsize=10)
    save_figure(figure, config.out)


def draw_strata(config: ExperimentConfig, summary: Mapping[str, Any]) -> None:
    """Bars of recall on tasks never trained on, by stratum, for every arm."""
    from matplotlib.figure import Figure

    arms = list(summary["results"])
    strata = list(next(iter(summary["results"].values()))["strata"])
    figure = Figure(figsize=(7.4, 0.5 * len(arms) + 1.6), layout="constrained")
    axes = figure.add_subplot()
    height = 0.8 / len(strata)
    for i, stratum in enumerate(strata):
        values = [100 * (summary["results"][arm]["strata"][stratum]["mean"] or 0) for arm in arms]
        places = [y + (i - (len(strata) - 1) / 2) * height for y in range(len(arms))]
        axes.barh(places, values, height, color=COLOURS[i], label=stratum)
    axes.set_yticks(range(len(arms)), arms, fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel("step recall on tasks never trained on, %, mean over tasks")
    axes.legend(fontsize=7)
    figure.suptitle(f"never-trained: {summary['corpus']}, {summary['names']} names", fontsize=10)
    save_figure(figure, config.out)


def draw_control_bars(config: ExperimentConfig, summary: Mapping[str, Any]) -> None:
    """Bars of the recall of every control with its interval over tasks; the permuted draws as one bar each."""
    from matplotlib.figure import Figure

    names = list(summary["results"])
    figure = Figure(figsize=(7.4, 0.24 * len(names) + 1.4), layout="constrained")
    axes = figure.add_subplot()
    recalls = [summary["results"][name]["recall"] for name in names]
    colours = [COLOURS[0] if "words shared" in n else COLOURS[3] if "permuted" in n else COLOURS[2] for n in names]
    axes.barh(names, [100 * r["mean"] for r in recalls], color=colours)
    axes.invert_yaxis()
    axes.tick_params(axis="y", labelsize=7)
    axes.set_xlabel("step recall, %, mean over tasks")
    figure.suptitle(f"sharing-controls: {summary['corpus']}, {summary['count']} videos per task", fontsize=10)
    save_figure(figure, config.out)
