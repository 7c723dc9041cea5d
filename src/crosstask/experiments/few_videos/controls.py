"""`experiment sharing-controls`: what the gain from sharing rests on, at three videos per task beside all videos of the other tasks.

Compared with words shared as they are: words permuted across tasks (ten draws), step names as given and by the published rule, step lists in the order
of the training people alone and of the published task graph. Nothing shared stands beside each. Settings are in the middle of the grid of `few-videos`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from crosstask.evaluation.task_intervals import task_difference
from crosstask.experiments.few_videos.experiment import METHODS
from crosstask.experiments.few_videos.figure import draw_control_bars
from crosstask.experiments.few_videos.job import FewArm, train_on_few
from crosstask.experiments.few_videos.runner import (
    EPOCHS,
    Design,
    Hits,
    file_name,
    job_values,
    make_design,
    pooled,
    summarise,
)
from crosstask.experiments.runner import ExperimentConfig
from crosstask.experiments.tables import FORMAT, ExperimentResult, difference_cell, write_result
from crosstask.jobs import Job

COUNT = 3
PERMUTATIONS = 10
_FEWEST = 5  # training videos per task, as in few-videos, so that the tasks are the same
# Middle of the grid of `few-videos`; the controls compare lists, not settings.
_LEARNING: Mapping[str, Mapping[str, Any]] = {"hmm": {}, "zhukov19": {"learning_rate": 1e-3, "dropout": 0.3, **EPOCHS}}


@dataclass(frozen=True)
class Control:
    """A row: how the step lists are changed, and what is shared."""

    name: str
    sharing: str
    changed: Mapping[str, Any]


def controls_for(config: ExperimentConfig, has_texts: bool, has_graph: bool) -> list[Control]:
    """The rows that a corpus allows: names and graph need `published.json`."""
    rows = [
        Control("words shared", "component", {}),
        Control("nothing shared", "none", {}),
        Control("words shared, order of training people", "component", {"order": "training"}),
        Control("nothing shared, order of training people", "none", {"order": "training"}),
    ]
    if has_graph:
        rows.append(Control("words shared, order of the task graph", "component", {"order": "graph"}))
        rows.append(Control("nothing shared, order of the task graph", "none", {"order": "graph"}))
    if has_texts:
        other = "given" if config.names == "published" else "published"
        rows.append(Control(f"words shared, {other} names", "component", {"names": other}))
    return rows + [Control(f"words permuted, draw {i}", "component", {"permuted": i}) for i in range(PERMUTATIONS)]


def sharing_controls(config: ExperimentConfig) -> ExperimentResult:
    """`experiment sharing-controls`: recall of each control, and its difference to words shared as they are."""
    design = make_design(config, fewest=_FEWEST, n_sets=2)
    tasks = design.corpus.tasks.values()
    rows = controls_for(config, all(task.descriptions for task in tasks), any(task.order for task in tasks))
    supervision = config.supervision or ("order", "windows")
    results: dict[str, list[dict[str, Any]]] = {}
    for method in config.methods or METHODS:
        for kind in supervision:
            for name, found in _run(design, rows, method, kind).items():
                results[f"{method}, {kind}, {name}"] = found
    hits = {name: pooled(found, design.part) for name, found in results.items()}
    summary: dict[str, Any] = {
        "format": FORMAT,
        "experiment": "sharing-controls",
        **config.protocol(),
        "runs": len(design.folds),
        "names": config.names,
        "count": COUNT,
        **design.to_json(),
        "tasks": {task: design.corpus.tasks[task].title for few in design.sets for task in few},
        "results": {name: summarise(found, design.part, config.seed) for name, found in results.items()},
        "differences": _differences(hits, config, supervision),
    }
    return write_result(config, _table(summary), draw_control_bars)


def _run(design: Design, rows: Sequence[Control], method: str, supervision: str) -> dict[str, list[dict[str, Any]]]:
    jobs, owners = [], []
    for row in rows:
        arm = FewArm(method, row.sharing, supervision, beside=True)
        for number, fold in enumerate(design.folds):
            for which, few in enumerate(design.sets):
                if design.tested(fold, few):
                    values = job_values(design, arm, fold, few, COUNT, **{"learning": _LEARNING.get(method, {}), **row.changed})
                    jobs.append(Job(f"{file_name(f'{method} {supervision} {row.name}')}-{number}-{which}", values))
                    owners.append(row.name)
    found = design.config.run_jobs(f"{method}, {supervision}", jobs, train_on_few)
    return {row.name: [f for f, o in zip(found, owners, strict=True) if o == row.name] for row in rows}


def _differences(hits: Mapping[str, Hits], config: ExperimentConfig, supervision: Sequence[str]) -> dict[str, Any]:
    """Words shared less nothing shared, under each order; and less the mean of the permuted draws."""
    found: dict[str, Any] = {}
    for method in config.methods or METHODS:
        for kind in supervision:
            label = f"{method}, {kind}"
            for name in [n for n in hits if n.startswith(f"{label}, nothing shared")]:
                shared = name.replace("nothing shared", "words shared")
                found[f"{shared} - nothing shared"] = task_difference(hits[shared], hits[name], config.seed)
            drawn = [of for name, of in hits.items() if name.startswith(f"{label}, words permuted")]
            found[f"{label}, words shared - words permuted"] = task_difference(
                hits[f"{label}, words shared"], _mean_hits(drawn), config.seed
            )
    return found


def _mean_hits(tables: Sequence[Hits]) -> Hits:
    """Hits averaged over draws that tested the same videos."""
    return {
        task: {group: (sum(t[task][group][0] for t in tables) / len(tables), present) for group, (_, present) in groups.items()}
        for task, groups in tables[0].items()
    }


def _table(summary: dict[str, Any]) -> ExperimentResult:
    header = ["", "step recall", "frame mAP", "starts within 5 s", "IoU"]
    rows = [
        [name, *(f"{100 * of[m]['mean']:.1f}" for m in ("recall", "map", "start_5s", "iou"))]
        for name, of in summary["results"].items()
    ]
    rows += [[name, difference_cell(of), "", "", ""] for name, of in summary["differences"].items()]
    csv_rows: list[list[Any]] = [["row", "task", "recall"]]
    for name, of in summary["results"].items():
        csv_rows += [[name, task, repr(value)] for task, value in of["recall"]["tasks"].items()]
    return ExperimentResult(summary, f"Controls at {COUNT} videos per task, in percent", header, rows, csv_rows)
