"""How should one share? Table 3: by step or by component; nothing, within the primary tasks, or with the related ones."""

import itertools
from dataclasses import replace

from crosstask.experiments.arms import Arm
from crosstask.experiments.runner import ExperimentConfig
from crosstask.experiments.tables import ExperimentResult, cell, result_with_rows, summarise, write_result

PAPER = {
    "step, unshared": 0.186,
    "step, shared primary": 0.189,
    "step, + related": 0.198,
    "component, unshared": 0.187,
    "component, shared primary": 0.202,
    "component, + related": 0.224,
}
COLUMNS = ("unshared", "shared primary", "+ related")
_SHARING = {"step": ("none", "step", "step"), "component": ("task-component", "component", "component")}


def settings(config: ExperimentConfig) -> list[Arm]:
    """The six cells; without related tasks the last column equals the one before and is left out."""
    related = any(not task.primary for task in config.opened().tasks.values())
    columns = COLUMNS if related else COLUMNS[:2]
    return [
        Arm(f"{row}, {column}", "proposed", level, "all" if column == "+ related" else "primary")
        for row, levels in _SHARING.items()
        for column, level in zip(columns, levels, strict=False)
    ]


def sharing(config: ExperimentConfig) -> ExperimentResult:
    """Table 3 on this corpus."""
    rows = settings(config)
    names = [setting.name for setting in rows]
    columns = [c for c in COLUMNS if f"step, {c}" in names]
    along = [(f"{row}, {b}", f"{row}, {a}") for row in _SHARING for a, b in itertools.pairwise(columns)]
    across = [(f"component, {column}", f"step, {column}") for column in columns]
    summary, results = summarise(config, "sharing", rows, [*along, *across])
    summary["paper"] = {name: PAPER[name] for name in names}
    plain = result_with_rows(summary, "Step recall by level of sharing, in percent", results)
    grid = [[row, *(cell(summary["results"][f"{row}, {c}"]["recall"]) for c in columns)] for row in _SHARING]
    differences = [[row[0], row[1], *[""] * (len(columns) - 1)] for row in plain.rows if row[0] in summary["differences"]]
    return write_result(config, replace(plain, header=["", *columns], rows=[*grid, *differences]))
