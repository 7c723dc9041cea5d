"""Does sharing across tasks help? Table 2: every method per task, the gain from sharing, the tasks won."""

from dataclasses import replace
from typing import Any

from crosstask.experiments.answering import Answer, answer_with_rows, summarise, write_answer
from crosstask.experiments.asking import Asked, Results
from crosstask.experiments.figures import draw_task_bars
from crosstask.experiments.questions.run_of import write_run_of
from crosstask.experiments.settings import Setting

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


def settings(asked: Asked) -> list[Setting]:
    """The rows: proposed trains on primary and related tasks, the others on the primary tasks alone."""
    rows = [
        Setting("supervised", "supervised"),
        Setting("uniform", "uniform"),
        Setting("random", "random"),
        Setting("alayrac16", "alayrac16"),
        Setting("richard18", "richard18"),
        Setting("task-specific", "task-specific", "none"),
        Setting("proposed", "proposed", "component", "all"),
    ]
    return [*rows, Setting("best", "best", "component", "all")] if asked.with_best else rows


def cross_task(asked: Asked) -> Answer:
    """Table 2 on this corpus."""
    rows = settings(asked)
    shown = [s.name for s in rows if s.method in ("uniform", "task-specific", "proposed", "supervised", "best")]
    summary, results = summarise(asked, "cross-task", rows, PAIRS, shown)
    summary["paper"] = PAPER
    gain = summary["differences"]["proposed - task-specific"]["recall"]
    summary["gain_from_sharing"] = {k: gain[k] for k in ("mean", "low", "high", "tasks", "tasks_won", "of_tasks")}
    answer = _with_tasks(summary, results)
    write_run_of(asked, summary, results, shown)
    return write_answer(asked, answer, lambda a, s: draw_task_bars(a, s, ["uniform", "alayrac16", "task-specific", "proposed"]))


def _with_tasks(summary: dict[str, Any], results: Results) -> Answer:
    """The plain rows with a column per task in front, as the paper prints it."""
    plain = answer_with_rows(summary, "Step recall per task, mAP and F1, in percent", results)
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
