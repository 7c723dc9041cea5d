"""Jobs of an experiment with few videos: the choice of settings on inner groups, the jobs of every fold and set, and their results pooled by task."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from crosstask.evaluation.task_intervals import mean_recall
from crosstask.experiments.corpora import open_once
from crosstask.experiments.few_videos.design import (
    Fold,
    draw_folds,
    group_of,
    inner_groups,
    part_of_split,
    task_sets,
    training_videos,
)
from crosstask.experiments.few_videos.job import FewArm, train_on_few
from crosstask.experiments.runner import ExperimentConfig, on_edge
from crosstask.jobs import Job
from crosstask.methods.table import default_settings
from crosstask.records import Corpus, parse_video_key

TUNING_COUNT = 3  # videos per task at which settings are chosen; they are used at every number
ALL = "all"
_RATES = (3e-4, 1e-3, 3e-3, 1e-2)  # of the paper's model, with 10 + 20 epochs on few videos
_SHRINKAGE = (1.0, 0.3, 3.0)  # factors of the prior variances of the class means of `hmm`
EPOCHS = {"initial_epochs": 10, "epochs": 20}  # of the paper's model; half of the published numbers, to keep the cost down
Hits = dict[str, dict[str, tuple[float, float]]]  # task -> group -> (hits, present)


@dataclass(frozen=True)
class Design:
    """Folds and sets of tasks on one corpus."""

    config: ExperimentConfig
    corpus: Corpus
    part: int
    folds: list[Fold]
    sets: list[tuple[str, ...]]

    def tested(self, fold: Fold, few: Sequence[str]) -> list[str]:
        """The tasks of a set that are evaluated in a fold."""
        return [task for task in fold.tasks if task in few]

    def to_json(self) -> dict[str, Any]:
        """Folds and sets as recorded in results.json."""
        return {
            "folds": [{"test_groups": list(fold.test_groups), "tasks": list(fold.tasks)} for fold in self.folds],
            "sets": [list(tasks) for tasks in self.sets],
        }


def make_design(config: ExperimentConfig, fewest: int, n_sets: int | None = None, set_size: int = 3) -> Design:
    """The design for a corpus: `fewest` training videos per task; `n_sets` sets of tasks, or as many as have `set_size` tasks."""
    corpus = open_once(config.corpus)
    part = part_of_split("group" if config.split_by == "paper" else config.split_by)
    folds = draw_folds(corpus, config.folds, part, fewest, config.seed)
    n_tasks = len({task for fold in folds for task in fold.tasks})
    sets = task_sets(folds, n_sets or max(2, round(n_tasks / set_size)), config.seed)
    return Design(config, corpus, part, folds, sets)


def job_values(design: Design, arm: FewArm, fold: Fold, few: Sequence[str], count: int | None, **changed: Any) -> dict[str, Any]:
    """Plain values of one job. With all videos the sets do not differ if other tasks are trained beside them: one job serves them all."""
    all_alike = count is None and arm.beside
    values = {
        "corpus": design.config.corpus,
        "names": design.config.names,
        "order": "given",
        "permuted": None,
        "part": design.part,
        "seed": design.config.seed,
        "most": design.config.train_videos_per_task,
        "test_groups": list(fold.test_groups),
        "unused_groups": [],
        "few": [] if all_alike else list(few),
        "tested": list(fold.tasks) if all_alike else design.tested(fold, few),
        "count": count,
        "learning": {},
        **arm.values(),
    }
    return {**values, **changed}


def settings_of(arm: FewArm) -> list[dict[str, Any]]:
    """The settings that an arm chooses from: shrinkage of `hmm`, rate and dropout of the paper's model."""
    if arm.method == "hmm":
        variances = {name: value for name, value in default_settings("hmm").items() if name in ("shared", "own")}
        return [{name: round(factor * value, 6) for name, value in variances.items()} for factor in _SHRINKAGE]
    if arm.method == "zhukov19":
        return [{**EPOCHS, "learning_rate": rate, "dropout": dropout} for rate in _RATES for dropout in (0.3, 0.7)]
    return [{}]


def choose_settings(
    design: Design, arms: Sequence[FewArm], count: int = TUNING_COUNT
) -> tuple[dict[tuple[str, int], dict[str, Any]], dict[str, Any]]:
    """(arm, fold) -> settings with the best recall on inner groups of the fold's training people, and the record of all tried.

    They are chosen with `count` videos of each task of a set; with 0, on tasks that are not trained on.
    """
    jobs, cells = [], []
    for number, fold in enumerate(design.folds):
        few = design.sets[number % len(design.sets)]
        inner = inner_groups(design.corpus, fold.test_groups, design.part, design.config.seed + number)
        changed: dict[str, Any] = {"test_groups": list(inner), "unused_groups": list(fold.test_groups)}
        changed["tested"] = _judged_tasks(design, fold, few, inner, count)
        for arm in arms:
            options = settings_of(arm)
            for i, settings in enumerate(options if changed["tested"] else []):
                values = job_values(design, arm, fold, few, count, **changed, learning=settings)
                jobs.append(Job(f"choose-{file_name(arm.name)}-{number}-{i}", values))
                cells.append((arm.name, number, i))
    results = dict(zip(cells, design.config.run_jobs("choice of settings", jobs, train_on_few), strict=True))
    chosen: dict[tuple[str, int], dict[str, Any]] = {}
    record: dict[str, Any] = {}
    for arm in arms:
        options = settings_of(arm)
        for number in range(len(design.folds)):
            tried = [i for i in range(len(options)) if (arm.name, number, i) in results]
            recalls = [fmean(results[arm.name, number, i]["recall"].values()) for i in tried]
            best = max(range(len(recalls)), key=lambda i: (recalls[i], -i)) if recalls else 0
            chosen[arm.name, number] = options[best]
            record.setdefault(arm.name, []).append({"chosen": options[best], "recall": recalls, "edge": on_edge(options, best)})
    return chosen, record


def _judged_tasks(design: Design, fold: Fold, few: Sequence[str], inner: Sequence[str], count: int) -> list[str]:
    """The tasks of a set with a video of an inner group and, unless `count` is 0, a training video outside inner and test groups."""
    corpus, part = design.corpus, design.part
    judged = {v.task for v in corpus.videos if group_of(v, part) in inner and v.key in corpus.annotations} & set(few)
    if count == 0:
        return sorted(judged)
    train = training_videos(corpus, [*fold.test_groups, *inner], few, count, False, part, design.config.seed, count)
    return sorted(judged & {video.task for video in train})


def pooled(results: Sequence[Mapping[str, Any]], part: int) -> Hits:
    """Hits and present steps by task and group over jobs that tested different videos."""
    table: Hits = {}
    for result in results:
        for key, steps in result["hits"].items():
            video = parse_video_key(key)
            groups = table.setdefault(video.task, {})
            hits, present = groups.get(name := _group(video.video, part), (0.0, 0.0))
            shown = [step for step in steps if step is not None]
            groups[name] = (hits + sum(shown), present + len(shown))
    return table


def _group(video_id: str, part: int) -> str:
    return video_id.split("_")[part - 1]


def summarise(results: Sequence[Mapping[str, Any]], part: int, seed: int) -> dict[str, Any]:
    """Recall with its interval over tasks; mAP, starts within 5 s and IoU as means over tasks of means over folds."""
    table = pooled(results, part)
    recall = mean_recall(table, seed)
    summary: dict[str, Any] = {"recall": recall, "of_tasks": len(recall["tasks"])}
    for metric in ("map", "start_5s", "iou"):
        tasks = sorted({task for result in results for task in result[metric]})
        by_task = {task: fmean(r[metric][task] for r in results if task in r[metric]) for task in tasks}
        summary[metric] = {"mean": fmean(by_task.values()) if by_task else None, "tasks": by_task}
    summary["trained_on"] = round(fmean(result["trained_on"] for result in results), 1)
    summary["videos"] = sum(len(result["hits"]) for result in results)
    summary["skipped"] = sum(len(result["skipped"]) for result in results)
    return summary


def file_name(name: str) -> str:
    """A name as part of a file name."""
    return "".join(c if c.isalnum() else "-" for c in name)
