"""Gain from sharing per step and per component: recall with and without sharing, and the number of steps with the component."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from crosstask.experiments.arms import Arm
from crosstask.experiments.figures import new_figure, save_figure, set_title
from crosstask.experiments.runner import ExperimentConfig, Results
from crosstask.experiments.tables import ExperimentResult, result_table, run_and_summarise, write_result
from crosstask.records import Task
from crosstask.text import stems_of_step, steps_with_component

ROWS_PER_END = 8  # largest gains and largest losses in the table; all are in results.csv


def sharing_gain(config: ExperimentConfig) -> ExperimentResult:
    """`experiment sharing-gain`: gains per step and per component, largest first."""
    arms = [Arm("task-specific", "task-specific", "none"), Arm("zhukov19", "zhukov19", "component", "all")]
    summary, results = run_and_summarise(config, "sharing-gain", arms, [("zhukov19", "task-specific")])
    tasks = config.open_first_corpus().tasks
    steps = step_gains(results, tasks)
    summary["steps"] = steps
    summary["components"] = component_gains(steps, list(tasks.values()))
    plain = result_table(summary, "Largest gains and losses from sharing: step recall in percent", results)
    table = [
        [f"{s['step']} ({s['title']})", _percent(s["unshared"]), _percent(s["shared"]), f"{100 * s['gain']:+.1f}"]
        for s in _ends(steps)
    ]
    table += [
        [
            f"'{c['component']}' in {c['in_steps']} steps",
            _percent(c["unshared"]),
            _percent(c["shared"]),
            f"{100 * c['gain']:+.1f}",
        ]
        for c in _ends(summary["components"])
    ]
    csv_rows = [
        ["kind", "task", "name", "in_steps", "unshared", "shared", "gain"],
        *(["step", s["task"], s["step"], 1, repr(s["unshared"]), repr(s["shared"]), repr(s["gain"])] for s in steps),
        *(
            ["component", "", c["component"], c["in_steps"], repr(c["unshared"]), repr(c["shared"]), repr(c["gain"])]
            for c in summary["components"]
        ),
    ]
    result = replace(plain, header=["", "unshared", "shared", "gain"], rows=table, csv_rows=csv_rows)
    return write_result(config, result, _draw)


def step_gains(results: Results, tasks: Mapping[str, Task]) -> list[dict[str, Any]]:
    """Recall of every evaluated step with and without sharing, over the runs whose test videos show it; largest gain first.

    A task without videos of the tested people of a run has no recall there.
    """
    gains = []
    runs = [[result["steps"] for result in results[name]] for name in ("zhukov19", "task-specific")]
    for task in sorted({task for of_method in runs for of_run in of_method for task in of_run}):
        pairs = [(s[task], u[task]) for s, u in zip(*runs, strict=True) if task in s and task in u]
        for k, step in enumerate(tasks[task].steps):
            both = [(s[k], u[k]) for s, u in pairs if s[k] is not None and u[k] is not None]
            if both:
                s, u = (float(v) for v in np.mean(both, axis=0))
                gains.append({"task": task, "title": tasks[task].title, "step": step, "shared": s, "unshared": u, "gain": s - u})
    return sorted(gains, key=lambda row: (-row["gain"], row["task"], row["step"]))


def component_gains(steps: Sequence[Mapping[str, Any]], tasks: Sequence[Task]) -> list[dict[str, Any]]:
    """The mean over the evaluated steps with a component, and the number of steps of all tasks with it; largest gain first."""
    steps_with: dict[str, list[Mapping[str, Any]]] = {}
    for step in steps:
        for component in stems_of_step(step["step"]):
            steps_with.setdefault(component, []).append(step)
    gains = []
    for component, members in sorted(steps_with.items()):
        s, u = (float(np.mean([step[side] for step in members])) for side in ("shared", "unshared"))
        in_steps = steps_with_component(tasks, component)
        gains.append({"component": component, "in_steps": in_steps, "shared": s, "unshared": u, "gain": s - u})
    return sorted(gains, key=lambda row: (-row["gain"], row["component"]))


def _ends(ranked: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return list(ranked) if len(ranked) <= 2 * ROWS_PER_END else [*ranked[:ROWS_PER_END], *ranked[-ROWS_PER_END:]]


def _percent(value: float) -> str:
    return f"{100 * value:.1f}"


def _draw(config: ExperimentConfig, summary: Mapping[str, Any]) -> None:
    """Scatter plot of the gain of each component and the number of steps with it."""
    figure, axes = new_figure(7, 4.6)
    components = summary["components"]
    axes.axhline(0, color="#999999", linewidth=0.8)
    axes.scatter([c["in_steps"] for c in components], [100 * c["gain"] for c in components], s=14, color="#4c78a8")
    for c in [*components[:5], *components[-5:]]:
        axes.annotate(c["component"], (c["in_steps"], 100 * c["gain"]), fontsize=8, xytext=(3, 3), textcoords="offset points")
    axes.set(xlabel="steps with the component, all tasks", ylabel="gain from sharing, points of recall")
    set_title(figure, summary, "sharing-gain")
    save_figure(figure, config.out)
