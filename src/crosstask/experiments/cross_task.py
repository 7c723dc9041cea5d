"""Does sharing across tasks help? Table 2: every method per task, the gain from sharing, the tasks won."""

from dataclasses import replace
from typing import Any

from crosstask.experiments.arms import Arm
from crosstask.experiments.figures import draw_task_bars
from crosstask.experiments.run_folder import write_run_of
from crosstask.experiments.runner import ExperimentConfig, Results
from crosstask.experiments.tables import ExperimentResult, result_with_rows, summarise, write_result

PAPER = {  # Table 2, average over the 18 tasks
    "supervised": 0.316,
    "uniform": 0.097,
    "alayrac16": 0.133,
    "richard18": 0.067,
    "task-specific": 0.186,
    "proposed": 0.224,
}
PAIRS = (
    ("proposed", "task-specific"),
    ("task-specific", "alayrac16"),
    ("alayrac16", "uniform"),
    ("task-specific", "richard18"),
    ("supervised", "proposed"),
    ("proposed", "uniform"),
    ("best", "proposed"),
)


def settings(config: ExperimentConfig) -> list[Arm]:
    """The rows: proposed trains on primary and related tasks, the others on the primary tasks alone."""
    rows = [
        Arm("supervised", "supervised"),
        Arm("uniform", "uniform"),
        Arm("random", "random"),
        Arm("alayrac16", "alayrac16"),
        Arm("richard18", "richard18"),
        Arm("task-specific", "task-specific", "none"),
        Arm("proposed", "proposed", "component", "all"),
    ]
    return [*rows, Arm("best", "best", "component", "all")] if config.with_best else rows


def cross_task(config: ExperimentConfig) -> ExperimentResult:
    """Table 2 on this corpus."""
    rows = settings(config)
    shown = [s.name for s in rows if s.method in ("uniform", "task-specific", "proposed", "supervised", "best")]
    summary, results = summarise(config, "cross-task", rows, PAIRS, shown)
    summary["paper"] = PAPER
    gain = summary["differences"]["proposed - task-specific"]["recall"]
    summary["gain_from_sharing"] = {k: gain[k] for k in ("mean", "low", "high", "tasks", "tasks_won", "of_tasks")}
    result = _with_tasks(summary, results)
    write_run_of(config, summary, results, shown)
    return write_result(config, result, lambda a, s: draw_task_bars(a, s, ["uniform", "alayrac16", "task-specific", "proposed"]))


def _with_tasks(summary: dict[str, Any], results: Results) -> ExperimentResult:
    """The plain rows with a column per task in front, as the paper prints it."""
    plain = result_with_rows(summary, "Step recall per task, mAP and F1, in percent", results)
    tasks = summary["tasks"]
    rows = []
    for row in plain.rows:
        if row[0] in summary["results"]:
            of = summary["results"][row[0]]["recall"]["tasks"]
            cells = [f"{100 * of[t]['mean']:.1f}" if t in of else "-" for t in tasks]
        else:
            of = summary["differences"][row[0]]["recall"]["tasks"]
            cells = [f"{100 * of[t]:+.1f}" if t in of else "-" for t in tasks]
        rows.append([row[0], *cells, *row[1:]])
    return replace(plain, header=["", *tasks.values(), *plain.header[1:]], rows=rows)
