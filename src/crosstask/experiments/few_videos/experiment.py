"""`experiment few-videos`: recall on unseen groups against the number of training videos per task, alone and beside other tasks."""

from collections.abc import Mapping, Sequence
from typing import Any

from crosstask.evaluation.task_intervals import task_difference
from crosstask.experiments.few_videos.figure import draw_curves
from crosstask.experiments.few_videos.job import SUPERVISION, FewArm, ceilings, corpus_with_lists, train_on_few
from crosstask.experiments.few_videos.runner import (
    ALL,
    TUNING_COUNT,
    Design,
    Hits,
    choose_settings,
    file_name,
    job_values,
    make_design,
    pooled,
    summarise,
)
from crosstask.experiments.runner import ExperimentConfig
from crosstask.experiments.tables import FORMAT, ExperimentResult, difference_cell, write_result
from crosstask.jobs import Job
from crosstask.records import InputError

SHARING = ("component", "step", "none")
METHODS = ("hmm", "zhukov19")
_N_SETS = 2  # of tasks that have few videos in turn
UNIFORM = FewArm("uniform", "none", "order", beside=False)
Results = dict[tuple[str, str], list[dict[str, Any]]]  # (arm, number of videos) -> results of folds and sets


def arms_of(config: ExperimentConfig) -> list[FewArm]:
    """All curves. The paper's model without sharing learns every step by itself, so that other tasks beside it change nothing."""
    methods = config.methods or METHODS
    if unknown := [m for m in methods if m not in METHODS]:
        raise InputError(f"--methods {unknown[0]}: few-videos compares sharing within hmm and zhukov19; expected one or both")
    return [
        FewArm(method, sharing, supervision, beside)
        for method in methods
        for supervision in config.supervision or SUPERVISION
        for sharing in SHARING
        for beside in (False, True)
        if not (method == "zhukov19" and sharing == "none" and beside)
    ]


def few_videos(config: ExperimentConfig) -> ExperimentResult:
    """`experiment few-videos`: curves, and differences with intervals over tasks."""
    design = make_design(config, fewest=max(config.counts), n_sets=_N_SETS)
    arms = arms_of(config)
    chosen, tuning = choose_settings(design, arms)
    results = _run(design, [UNIFORM, *arms], chosen)
    numbers = [*map(str, config.counts), ALL]
    hits = {cell: pooled(of_cell, design.part) for cell, of_cell in results.items()}
    corpus = corpus_with_lists(config.corpus, config.names, False, None)
    evaluated = sorted({task for tasks in design.sets for task in tasks})
    ceiling = ceilings(corpus, evaluated)
    summary: dict[str, Any] = {
        "format": FORMAT,
        "experiment": "few-videos",
        **config.protocol(),
        "tuned": True,
        "settings_chosen_at": TUNING_COUNT,
        "runs": len(design.folds),
        "names": config.names,
        "counts": numbers,
        **design.to_json(),
        "tasks": {task: corpus.tasks[task].title for task in evaluated},
        "ordered_ceiling": {"mean": sum(ceiling.values()) / max(1, len(ceiling)), "tasks": ceiling},
        "results": {
            arm.name: {n: summarise(results[arm.name, n], design.part, config.seed) for n in numbers if (arm.name, n) in results}
            for arm in [UNIFORM, *arms]
        },
        "differences": differences(hits, arms, numbers, config.seed),
        "tuning": tuning,
    }
    return write_result(config, _table(summary), draw_curves)


def _run(design: Design, arms: Sequence[FewArm], chosen: Mapping[tuple[str, int], Mapping[str, Any]]) -> Results:
    """The results of every arm, number of videos, fold and set; equal jobs are run once."""
    jobs: dict[str, Job] = {}
    cells: list[tuple[tuple[str, str], str]] = []
    for number, fold in enumerate(design.folds):
        for which, few in enumerate(design.sets):
            if not design.tested(fold, few):
                continue
            for arm in arms:
                for count in (*design.config.counts, None):
                    if arm is UNIFORM and count is not None:
                        continue
                    learning = chosen.get((arm.name, number), {})
                    values = job_values(design, arm, fold, few, count, learning=learning)
                    which_sets = "both" if not values["few"] else str(which)
                    name = f"{file_name(arm.name)}-{number}-{which_sets}-{count or ALL}"
                    jobs.setdefault(name, Job(name, values))
                    cells.append(((arm.name, str(count or ALL)), name))
    found = dict(zip(jobs, design.config.run_jobs("experiment", list(jobs.values()), train_on_few), strict=True))
    results: Results = {}
    for cell, name in dict.fromkeys(cells):
        results.setdefault(cell, []).append(found[name])
    return results


def differences(
    hits: Mapping[tuple[str, str], Hits], arms: Sequence[FewArm], numbers: Sequence[str], seed: int
) -> dict[str, Any]:
    """Differences with intervals over tasks, by name and number of videos.

    - "METHOD, SUPERVISION: shared - best unshared": words shared beside other tasks, against the best arm of either method that shares
      nothing; which one is best is decided on the tested videos, in its favour.
    - "... beside - alone": what the other tasks add when words are shared. "... component - step": what words add to whole names.
    """
    found: dict[str, Any] = {}
    for arm in arms:
        if arm.sharing != "component" or not arm.beside:
            continue
        label = f"{arm.method}, {arm.supervision}"
        others = {
            "beside - alone": FewArm(arm.method, "component", arm.supervision, False).name,
            "component - step": FewArm(arm.method, "step", arm.supervision, True).name,
        }
        for n in numbers:
            unshared = [a.name for a in arms if a.sharing == "none" and a.supervision == arm.supervision]
            compared = {"shared - best unshared": max(unshared, key=lambda name: _mean(hits[name, n])), **others}
            for what, other in compared.items():
                difference = task_difference(hits[arm.name, n], hits[other, n], seed)
                found.setdefault(f"{label}: {what}", {})[n] = {**difference, "against": other}
    return found


def _mean(hits: Hits) -> float:
    from crosstask.evaluation.task_intervals import recall_by_task
    from crosstask.metrics.recall import mean_over_tasks

    return mean_over_tasks(recall_by_task(hits))


def _table(summary: dict[str, Any]) -> ExperimentResult:
    """Rows of recall by number of videos, then the differences."""
    numbers = summary["counts"]
    header = ["", *(f"{n} videos" if n != "1" else "1 video" for n in numbers)]
    rows = [
        [name, *(f"{100 * of[n]['recall']['mean']:.1f}" if n in of else "" for n in numbers)]
        for name, of in summary["results"].items()
    ]
    rows += [
        [name, *(difference_cell(of[n]) if of[n]["mean"] is not None else "" for n in numbers)]
        for name, of in summary["differences"].items()
    ]
    csv_rows: list[list[Any]] = [["arm", "videos", "measure", "task", "value"]]
    for name, by_number in summary["results"].items():
        for n, of in by_number.items():
            for measure in ("recall", "map", "start_5s", "iou"):
                for task, value in [("mean", of[measure]["mean"]), *of[measure]["tasks"].items()]:
                    csv_rows.append([name, n, measure, task, repr(value)])
    n_tasks = len(summary["tasks"])
    return ExperimentResult(
        summary, f"Step recall by training videos per task, {n_tasks} tasks, in percent", header, rows, csv_rows
    )
