"""Sec. 5.1: our optimiser compared with DIFFRAC on five tasks: K discovered steps, the same features, order and windows, F1 of Alayrac'16.

Evaluated on the training videos, as in 2016: training uses no labels, and K need not be the number of true steps. Windows of K steps are
read from `windows/K/` of the five-task dataset; for other corpora they are derived from the windows of the J listed steps, by splitting a
window into K / J parts or by taking every J / K-th one. Without features only the methods that use order alone are evaluated.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from crosstask.datasets.niv import windows_for
from crosstask.evaluation.evaluate import features_of
from crosstask.evaluation.paired import paired_difference, run_statistics
from crosstask.experiments.arms import build_method
from crosstask.experiments.corpora import corpus_of_run, open_once
from crosstask.experiments.figures import new_figure, save_figure, set_title
from crosstask.experiments.job import split_for_job
from crosstask.experiments.runner import ExperimentConfig
from crosstask.experiments.tables import FORMAT, ExperimentResult, difference_cell, mean_cell, write_result
from crosstask.inference import decode_once
from crosstask.jobs import Job
from crosstask.metrics.matched_f1 import MatchedF1
from crosstask.metrics.recall import mean_over_tasks
from crosstask.metrics.truth import true_segments
from crosstask.records import Corpus, Interval, StepInterval, Task, Video

KS = (10, 15)  # paper, Sec. 5.1
METHODS = ("uniform", "random", "alayrac16", "task-specific")
PAPER = {"alayrac16, K = 10": 0.228, "task-specific, K = 10": 0.218, "alayrac16, K = 15": 0.21, "task-specific, K = 15": 0.211}


def optimiser(config: ExperimentConfig) -> ExperimentResult:
    """`experiment optimiser`: the comparison of Sec. 5.1 on this corpus."""
    corpus = config.open_first_corpus()
    has_features = config.synthetic or any(video.id in corpus.features for video in corpus.videos)
    methods = METHODS if has_features else METHODS[:2]
    names = {f"{method}, K = {K}": (method, K) for K in KS for method in methods}
    done = config.run_jobs("optimiser", _jobs(config, list(names.values())), discover_and_evaluate)
    results = {name: _summarise(done[i :: len(names)]) for i, name in enumerate(names)}
    differences = {}
    for K in KS if "alayrac16" in methods else ():
        a, b = f"task-specific, K = {K}", f"alayrac16, K = {K}"
        differences[f"{a} - {b}"] = {"f1": paired_difference(results[a]["f1"]["runs"], results[b]["f1"]["runs"])}
    summary: dict[str, Any] = {
        "format": FORMAT,
        "experiment": "optimiser",
        **config.protocol(),
        "learning": dict(sorted(config.learning.items())),
        "tasks": {task.id: task.title for task in corpus.primary_tasks()},
        "results": results,
        "differences": differences,
        "paper": PAPER,
    }
    rows = [[name, mean_cell(of["f1"])] for name, of in results.items()]
    rows += [[name, difference_cell(of["f1"])] for name, of in differences.items()]
    result = ExperimentResult(summary, "F1 of K discovered steps, in percent", ["", "F1"], rows, _csv(results))
    return write_result(config, result, _draw)


def _jobs(config: ExperimentConfig, arms: Sequence[tuple[str, int]]) -> list[Job]:
    """One job for every run and every pair of a method and a number of steps K; runs are the outer loop."""
    jobs = []
    for run in range(config.runs):
        for method, K in arms:
            values = {
                "corpus": corpus_of_run(config.corpus, run),
                "seed": config.seed + run,
                "split": config.split_by,
                "train_videos_per_task": config.train_videos_per_task,
                "method": method,
                "n_steps": K,
                "learning": dict(sorted(config.learning.items())),
            }
            jobs.append(Job(f"{method}-{K}-{run:03d}", values))
    return jobs


def discover_and_evaluate(values: Mapping[str, Any]) -> dict[str, Any]:
    """F1 per task of one method with K steps, the number of videos used, and the number of videos shorter than K segments."""
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped,unused-ignore]

    corpus, K = open_once(values["corpus"]), values["n_steps"]
    with threadpool_limits(1):
        videos = _videos(corpus, values)
        long_enough = [video for video in videos if corpus.n_segments(video) >= K]
        discovered = with_discovered_steps(corpus.only_tasks({v.task for v in long_enough}).only(long_enough), K)
        method = build_method(values["method"], "none", values["learning"])
        scorer = method.fit(discovered, np.random.default_rng([values["seed"], 1]))
        f1 = MatchedF1()
        for video in long_enough:
            scores = scorer.score(discovered.task_of(video), features_of(corpus, video))
            f1.add(video.task, decode_once(-np.asarray(scores)), true_segments(corpus, video))
    tasks = f1.by_task()
    return {
        "f1": {"mean": mean_over_tasks(tasks), "tasks": tasks},
        "videos": len(long_enough),
        "too_short": len(videos) - len(long_enough),
    }


def _videos(corpus: Corpus, values: Mapping[str, Any]) -> list[Video]:
    """Annotated training videos of the primary tasks; all of them where the corpus has no features to train on."""
    known = [v for v in corpus.videos if v.key in corpus.annotations and corpus.knows_length(v) and corpus.task_of(v).primary]
    if len(known) and corpus.name == "five tasks":
        return known
    split = split_for_job(corpus, {**values, "judge": "test", "shared_videos": "keep"})
    train = set(split.train)
    return [video for video in known if video in train]


def with_discovered_steps(corpus: Corpus, n_steps: int) -> Corpus:
    """The same videos with step lists of K steps named by number, and windows for these steps."""
    names = tuple(f"step {k + 1}" for k in range(n_steps))
    tasks = {t.id: replace(t, steps=names, order=(), descriptions=()) for t in corpus.tasks.values()}
    published = windows_for(corpus, n_steps) if corpus.name == "five tasks" else {}
    windows = dict(published) or {
        v.key: windows_of_discovered_steps(corpus.windows[v.key], corpus.task_of(v), n_steps)
        for v in corpus.videos
        if v.key in corpus.windows
    }
    return replace(corpus, tasks=tasks, windows=windows, annotations={})


def windows_of_discovered_steps(windows: Sequence[StepInterval], task: Task, n_steps: int) -> tuple[StepInterval, ...]:
    """Windows of K discovered steps from those of the J listed ones.

    >>> made = windows_of_discovered_steps([StepInterval(0, Interval(0, 8)), StepInterval(1, Interval(8, 9))], Task("1", "t", ("a", "b")), 3)
    >>> [(w.step, w.interval.start_s, w.interval.end_s) for w in made]
    [(0, 0.0, 4.0), (1, 4.0, 8.0), (2, 8.0, 9.0)]
    """
    J = len(task.steps)
    listed = [k * J // n_steps for k in range(n_steps)]  # the listed step that each discovered one is taken from
    made = []
    for k, j in enumerate(listed):
        part, parts = k - listed.index(j), listed.count(j)
        for window in windows:
            if window.step == j:
                start, length = window.interval.start_s, window.interval.length_s / parts
                made.append(StepInterval(k, Interval(start + part * length, start + (part + 1) * length)))
    return tuple(made)


def _summarise(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    tasks = sorted(results[0]["f1"]["tasks"])
    per_task = {task: run_statistics([result["f1"]["tasks"].get(task, 0.0) for result in results]) for task in tasks}
    figure = run_statistics([result["f1"]["mean"] for result in results]) | {"tasks": per_task}
    return {"f1": figure, "videos": [r["videos"] for r in results], "too_short": [r["too_short"] for r in results]}


def _csv(results: Mapping[str, Any]) -> list[list[Any]]:
    rows: list[list[Any]] = [["setting", "run", "task", "f1"]]
    for name, of in results.items():
        for task, figure in [("mean", of["f1"]), *of["f1"]["tasks"].items()]:
            rows += [[name, run, task, repr(value)] for run, value in enumerate(figure["runs"])]
    return rows


def _draw(config: ExperimentConfig, summary: Mapping[str, Any]) -> None:
    """Bars of the F1 of every row with its standard deviation over runs."""
    names = list(summary["results"])
    figures = [summary["results"][name]["f1"] for name in names]
    figure, axes = new_figure(6.4, 0.4 * len(names) + 1.4)
    axes.barh(names, [100 * f["mean"] for f in figures], xerr=[100 * (f["deviation"] or 0) for f in figures], color="#4c78a8")
    axes.invert_yaxis()
    axes.set(xlabel="F1, %, mean over tasks")
    set_title(figure, summary, "optimiser")
    save_figure(figure, config.out)
