"""How should one share? Table 3: by step or by component; nothing, within the primary tasks, or with the related ones."""

import itertools
from dataclasses import replace

from crosstask.experiments.answering import Answer, answer_with_rows, cell, summarise, write_answer
from crosstask.experiments.asking import Asked
from crosstask.experiments.settings import Setting

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


def settings(asked: Asked) -> list[Setting]:
    """The six cells; without related tasks the last column equals the one before and is left out."""
    related = any(not task.primary for task in asked.opened().tasks.values())
    columns = COLUMNS if related else COLUMNS[:2]
    return [
        Setting(f"{row}, {column}", "proposed", level, "all" if column == "+ related" else "primary")
        for row, levels in _SHARING.items()
        for column, level in zip(columns, levels, strict=False)
    ]


def sharing(asked: Asked) -> Answer:
    """Table 3 on this corpus."""
    rows = settings(asked)
    names = [setting.name for setting in rows]
    columns = [c for c in COLUMNS if f"step, {c}" in names]
    along = [(f"{row}, {b}", f"{row}, {a}") for row in _SHARING for a, b in itertools.pairwise(columns)]
    across = [(f"component, {column}", f"step, {column}") for column in columns]
    summary, results = summarise(asked, "sharing", rows, [*along, *across])
    summary["paper"] = {name: PAPER[name] for name in names}
    plain = answer_with_rows(summary, "Step recall by level of sharing, in percent", results)
    grid = [[row, *(cell(summary["results"][f"{row}, {c}"]["recall"]) for c in columns)] for row in _SHARING]
    differences = [[row[0], row[1], *[""] * (len(columns) - 1)] for row in plain.rows if row[0] in summary["differences"]]
    return write_answer(asked, replace(plain, header=["", *columns], rows=[*grid, *differences]))
