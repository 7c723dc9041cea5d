"""`experiment never-trained`: tasks left out in turn, localized by the words of their steps, and recall by stratum of the steps.

Strata: the exact name was trained in another task; all words were trained, in other combinations (the paper's claim); one word is unknown.
Uniform stands in every stratum, since steps differ in length between strata.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from crosstask.evaluation.task_intervals import mean_recall, task_difference
from crosstask.experiments.few_videos.experiment import METHODS, UNIFORM
from crosstask.experiments.few_videos.figure import draw_strata
from crosstask.experiments.few_videos.job import STRATA, SUPERVISION, FewArm, ceilings, corpus_with_lists, train_on_few
from crosstask.experiments.few_videos.runner import (
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


def never_trained(config: ExperimentConfig) -> ExperimentResult:
    """`experiment never-trained`: recall of each arm with its interval over tasks, in all and by stratum."""
    design = make_design(config, fewest=0)
    arms = [
        FewArm(method, sharing, supervision, beside=True)
        for method in config.methods or METHODS
        for supervision in config.supervision or SUPERVISION
        for sharing in ("component", "step")
    ]
    chosen, tuning = choose_settings(design, arms, count=0)
    results = _run(design, [UNIFORM, *arms], chosen)
    corpus = corpus_with_lists(config.corpus, config.names, False, None)
    tasks = sorted({task for few in design.sets for task in few})
    uniform = results[UNIFORM.name]
    summary: dict[str, Any] = {
        "format": FORMAT,
        "experiment": "never-trained",
        **config.protocol(),
        "tuned": True,
        "runs": len(design.folds),
        "names": config.names,
        **design.to_json(),
        "tasks": {task: corpus.tasks[task].title for task in tasks},
        "ordered_ceiling": {"tasks": ceilings(corpus, tasks)},
        "results": {name: _with_strata(of_arm, design.part, config.seed) for name, of_arm in results.items()},
        "differences": {f"{a.name} - uniform": _differences(results[a.name], uniform, design.part, config.seed) for a in arms},
        "tuning": tuning,
    }
    return write_result(config, _table(summary), draw_strata)


def _run(
    design: Design, arms: Sequence[FewArm], chosen: Mapping[tuple[str, int], Mapping[str, Any]]
) -> dict[str, list[dict[str, Any]]]:
    """The results of every arm, fold and set of tasks that is left out."""
    jobs, owners = [], []
    for number, fold in enumerate(design.folds):
        for which, few in enumerate(design.sets):
            if not design.tested(fold, few):
                continue
            for arm in arms:
                values = job_values(design, arm, fold, few, 0, learning=chosen.get((arm.name, number), {}))
                values["beside"] = True  # also for Uniform: its strata depend on what else is trained on
                jobs.append(Job(f"{file_name(arm.name)}-{number}-{which}", values))
                owners.append(arm.name)
    found = design.config.run_jobs("experiment", jobs, train_on_few)
    return {arm.name: [f for f, o in zip(found, owners, strict=True) if o == arm.name] for arm in arms}


def stratum_hits(results: Sequence[Mapping[str, Any]], part: int, stratum: str) -> Hits:
    """Hits and present steps by task and group, of the steps of one stratum."""
    kept = []
    for result in results:
        hits = {
            key: [hit if of == stratum else None for hit, of in zip(steps, result["strata"][key.partition("_")[0]], strict=True)]
            for key, steps in result["hits"].items()
        }
        kept.append({**result, "hits": hits})
    table = pooled(kept, part)
    return {task: groups for task, groups in table.items() if sum(present for _, present in groups.values())}


def _with_strata(results: Sequence[Mapping[str, Any]], part: int, seed: int) -> dict[str, Any]:
    summary = summarise(results, part, seed)
    summary["strata"] = {}
    for stratum in STRATA:
        hits = stratum_hits(results, part, stratum)
        steps = sum(present for groups in hits.values() for _, present in groups.values())
        summary["strata"][stratum] = {**mean_recall(hits, seed), "of_tasks": len(hits), "steps": int(steps)}
    return summary


def _differences(
    first: Sequence[Mapping[str, Any]], second: Sequence[Mapping[str, Any]], part: int, seed: int
) -> dict[str, dict[str, Any]]:
    """Differences with intervals over tasks, of all steps and of each stratum."""
    found = {"all steps": task_difference(pooled(first, part), pooled(second, part), seed)}
    for stratum in STRATA:
        found[stratum] = task_difference(stratum_hits(first, part, stratum), stratum_hits(second, part, stratum), seed)
    return found


def _table(summary: dict[str, Any]) -> ExperimentResult:
    header = ["", "all steps", *STRATA, "mAP"]

    def percent(value: float | None) -> str:
        return "" if value is None else f"{100 * value:.1f}"

    rows = [
        [name, percent(of["recall"]["mean"]), *(percent(of["strata"][s]["mean"]) for s in STRATA), percent(of["map"]["mean"])]
        for name, of in summary["results"].items()
    ]
    rows += [
        [name, *(difference_cell(of[s]) if of[s]["mean"] is not None else "" for s in ("all steps", *STRATA)), ""]
        for name, of in summary["differences"].items()
    ]
    csv_rows: list[list[Any]] = [["arm", "stratum", "task", "recall"]]
    for name, of in summary["results"].items():
        for stratum, figures in [("all steps", of["recall"]), *of["strata"].items()]:
            csv_rows += [[name, stratum, task, repr(value)] for task, value in figures["tasks"].items()]
    return ExperimentResult(
        summary, f"Tasks never trained on, {len(summary['tasks'])} tasks, step recall in percent", header, rows, csv_rows
    )
