"""Table 3: sharing by step or by component, each without sharing, within the primary tasks, and with the related tasks."""

import itertools
from dataclasses import replace

from crosstask.experiments.arms import Arm
from crosstask.experiments.runner import ExperimentConfig
from crosstask.experiments.tables import ExperimentResult, mean_cell, result_table, run_and_summarise, write_result

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


def arms(config: ExperimentConfig) -> list[Arm]:
    """The six cells of the table; without related tasks the last column would equal the one before and is left out."""
    related = any(not task.primary for task in config.open_first_corpus().tasks.values())
    columns = COLUMNS if related else COLUMNS[:2]
    return [
        Arm(f"{row}, {column}", "zhukov19", level, "all" if column == "+ related" else "primary")
        for row, levels in _SHARING.items()
        for column, level in zip(columns, levels, strict=False)
    ]


def sharing(config: ExperimentConfig) -> ExperimentResult:
    """`experiment sharing`: Table 3 on this corpus."""
    cells = arms(config)
    names = [arm.name for arm in cells]
    columns = [c for c in COLUMNS if f"step, {c}" in names]
    along = [(f"{row}, {b}", f"{row}, {a}") for row in _SHARING for a, b in itertools.pairwise(columns)]
    across = [(f"component, {column}", f"step, {column}") for column in columns]
    summary, results = run_and_summarise(config, "sharing", cells, [*along, *across])
    summary["paper"] = {name: PAPER[name] for name in names}
    plain = result_table(summary, "Step recall by level of sharing, in percent", results)
    grid = [[row, *(mean_cell(summary["results"][f"{row}, {c}"]["recall"]) for c in columns)] for row in _SHARING]
    differences = [[row[0], row[1], *[""] * (len(columns) - 1)] for row in plain.rows if row[0] in summary["differences"]]
    return write_result(config, replace(plain, header=["", *columns], rows=[*grid, *differences]))
