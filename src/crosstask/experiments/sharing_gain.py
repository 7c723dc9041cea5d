"""Which steps and components gain from sharing, and which lose? Recall with and without it, and in how many steps a component occurs."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from crosstask.experiments.arms import Arm
from crosstask.experiments.figures import entitle, new_figure, save_figure
from crosstask.experiments.runner import ExperimentConfig, Results
from crosstask.experiments.tables import ExperimentResult, result_with_rows, summarise, write_result
from crosstask.records import Task
from crosstask.text import stems_of_step, steps_with_component

SHOWN = 8


def sharing_gain(config: ExperimentConfig) -> ExperimentResult:
    """Gains per step and per component, largest first."""
    rows = [Arm("task-specific", "task-specific", "none"), Arm("proposed", "proposed", "component", "all")]
    summary, results = summarise(config, "sharing-gain", rows, [("proposed", "task-specific")])
    tasks = config.opened().tasks
    steps = step_gains(results, tasks)
    summary["steps"] = steps
    summary["components"] = component_gains(steps, list(tasks.values()))
    plain = result_with_rows(summary, "Largest gains and losses from sharing: step recall in percent", results)
    table = [[f"{s['step']} ({s['title']})", _p(s["unshared"]), _p(s["shared"]), f"{100 * s['gain']:+.1f}"] for s in _ends(steps)]
    table += [
        [f"'{c['component']}' in {c['in_steps']} steps", _p(c["unshared"]), _p(c["shared"]), f"{100 * c['gain']:+.1f}"]
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
    """Recall of every judged step with and without sharing, over the runs that show it; largest gain first."""
    found = []
    for task in sorted(results["proposed"][0]["steps"]):
        for k, step in enumerate(tasks[task].steps):
            shared, unshared = ([r["steps"][task][k] for r in results[name]] for name in ("proposed", "task-specific"))
            both = [(s, u) for s, u in zip(shared, unshared, strict=True) if s is not None and u is not None]
            if both:
                s, u = (float(v) for v in np.mean(both, axis=0))
                found.append({"task": task, "title": tasks[task].title, "step": step, "shared": s, "unshared": u, "gain": s - u})
    return sorted(found, key=lambda one: (-one["gain"], one["task"], one["step"]))


def component_gains(steps: Sequence[Mapping[str, Any]], tasks: Sequence[Task]) -> list[dict[str, Any]]:
    """The mean over the judged steps that hold a component, and in how many steps of all tasks it occurs; largest gain first."""
    holding: dict[str, list[Mapping[str, Any]]] = {}
    for step in steps:
        for component in stems_of_step(step["step"]):
            holding.setdefault(component, []).append(step)
    found = []
    for component, members in sorted(holding.items()):
        s, u = (float(np.mean([step[side] for step in members])) for side in ("shared", "unshared"))
        in_steps = steps_with_component(tasks, component)
        found.append({"component": component, "in_steps": in_steps, "shared": s, "unshared": u, "gain": s - u})
    return sorted(found, key=lambda one: (-one["gain"], one["component"]))


def _ends(ranked: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return list(ranked) if len(ranked) <= 2 * SHOWN else [*ranked[:SHOWN], *ranked[-SHOWN:]]


def _p(value: float) -> str:
    return f"{100 * value:.1f}"


def _draw(config: ExperimentConfig, summary: Mapping[str, Any]) -> None:
    """Gain of each component against the number of steps it occurs in."""
    figure, axes = new_figure(7, 4.6)
    of = summary["components"]
    axes.axhline(0, color="#999999", linewidth=0.8)
    axes.scatter([c["in_steps"] for c in of], [100 * c["gain"] for c in of], s=14, color="#4c78a8")
    for c in [*of[:5], *of[-5:]]:
        axes.annotate(c["component"], (c["in_steps"], 100 * c["gain"]), fontsize=8, xytext=(3, 3), textcoords="offset points")
    axes.set(xlabel="steps that hold the component, all tasks", ylabel="gain from sharing, points of recall")
    entitle(figure, summary, "sharing-gain")
    save_figure(figure, config.out)
