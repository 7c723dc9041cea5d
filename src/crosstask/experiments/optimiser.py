"""Is our optimiser on par with DIFFRAC? The five-task check: K discovered steps, the same features, order and windows, F1 of Alayrac'16.

Judged on the training videos themselves, as in 2016: nothing in training is labelled, and K need not be the number of true steps. Windows
of K steps come from beside the set (`windows/K/`); elsewhere they are made from the windows of the J listed steps: a window in K / J parts, or every
J / K-th one. Without features only the rows that know nothing but order can be filled.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from crosstask.datasets.niv import windows_for
from crosstask.evaluation.evaluate import features_of
from crosstask.evaluation.paired import paired_difference, run_statistics
from crosstask.experiments.arms import method_of
from crosstask.experiments.corpora import corpus_of_run, open_once
from crosstask.experiments.figures import entitle, new_figure, save_figure
from crosstask.experiments.job import split_of
from crosstask.experiments.runner import ExperimentConfig
from crosstask.experiments.tables import FORMAT, ExperimentResult, cell, difference_cell, write_result
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
    """The five-task check on this corpus."""
    corpus = config.opened()
    has_rows = config.synthetic or any(video.id in corpus.features for video in corpus.videos)
    methods = METHODS if has_rows else METHODS[:2]
    names = {f"{method}, K = {K}": (method, K) for K in KS for method in methods}
    jobs = []
    for run in range(config.runs):
        for method, K in names.values():
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
    done = config.do("optimiser", jobs, discover_and_judge)
    results = {name: _figures(done[i :: len(names)]) for i, name in enumerate(names)}
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
    rows = [[name, cell(of["f1"]), _paper(name)] for name, of in results.items()]
    rows += [[name, difference_cell(of["f1"]), ""] for name, of in differences.items()]
    result = ExperimentResult(summary, "F1 of K discovered steps, in percent", ["", "F1", "paper"], rows, _csv(results))
    return write_result(config, result, _draw)


def discover_and_judge(values: Mapping[str, Any]) -> dict[str, Any]:
    """F1 per task of one method with K steps, and the videos too short for them."""
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped,unused-ignore]

    corpus, K = open_once(values["corpus"]), values["n_steps"]
    with threadpool_limits(1):
        videos = _videos(corpus, values)
        fitting = [video for video in videos if corpus.n_segments(video) >= K]
        changed = with_discovered_steps(corpus.only_tasks({v.task for v in fitting}).only(fitting), K)
        method = method_of(values["method"], "none", values["learning"])
        scorer = method.fit(changed, np.random.default_rng([values["seed"], 1]))
        f1 = MatchedF1()
        for video in fitting:
            scores = scorer.score(changed.task_of(video), features_of(corpus, video))
            f1.add(video.task, decode_once(-np.asarray(scores)), true_segments(corpus, video))
    tasks = f1.by_task()
    return {
        "f1": {"mean": mean_over_tasks(tasks), "tasks": tasks},
        "videos": len(fitting),
        "too_short": len(videos) - len(fitting),
    }


def _videos(corpus: Corpus, values: Mapping[str, Any]) -> list[Video]:
    """Annotated training videos of the primary tasks; all of them where the corpus has no features to train on."""
    known = [v for v in corpus.videos if v.key in corpus.annotations and corpus.knows_length(v) and corpus.task_of(v).primary]
    if len(known) and corpus.name == "five tasks":
        return known
    split = split_of(corpus, {**values, "judge": "test", "shared_videos": "keep"})
    train = set(split.train)
    return [video for video in known if video in train]


def with_discovered_steps(corpus: Corpus, n_steps: int) -> Corpus:
    """The same videos under step lists of K nameless steps, with windows for these."""
    names = tuple(f"step {k + 1}" for k in range(n_steps))
    tasks = {t.id: replace(t, steps=names) for t in corpus.tasks.values()}
    given = windows_for(corpus, n_steps) if corpus.name == "five tasks" else {}
    windows = dict(given) or {v.key: _spread_windows(corpus, v, n_steps) for v in corpus.videos if v.key in corpus.windows}
    return replace(corpus, tasks=tasks, windows=windows, annotations={})


def _spread_windows(corpus: Corpus, video: Video, n_steps: int) -> tuple[StepInterval, ...]:
    return spread_windows(corpus.windows[video.key], corpus.task_of(video), n_steps)


def spread_windows(windows: Sequence[StepInterval], task: Task, n_steps: int) -> tuple[StepInterval, ...]:
    """Windows of K discovered steps from those of the J listed ones.

    >>> made = spread_windows([StepInterval(0, Interval(0, 8)), StepInterval(1, Interval(8, 9))], Task("1", "t", ("a", "b")), 3)
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


def _figures(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    tasks = sorted(results[0]["f1"]["tasks"])
    per_task = {task: run_statistics([result["f1"]["tasks"].get(task, 0.0) for result in results]) for task in tasks}
    figure = run_statistics([result["f1"]["mean"] for result in results]) | {"tasks": per_task}
    return {"f1": figure, "videos": [r["videos"] for r in results], "too_short": [r["too_short"] for r in results]}


def _paper(name: str) -> str:
    return f"{100 * PAPER[name]:.1f}" if name in PAPER else ""


def _csv(results: Mapping[str, Any]) -> list[list[Any]]:
    rows: list[list[Any]] = [["setting", "run", "task", "f1"]]
    for name, of in results.items():
        for task, figure in [("mean", of["f1"]), *of["f1"]["tasks"].items()]:
            rows += [[name, run, task, repr(value)] for run, value in enumerate(figure["runs"])]
    return rows


def _draw(config: ExperimentConfig, summary: Mapping[str, Any]) -> None:
    """F1 of every row with its deviation over runs."""
    names = list(summary["results"])
    figures = [summary["results"][name]["f1"] for name in names]
    figure, axes = new_figure(6.4, 0.4 * len(names) + 1.4)
    axes.barh(names, [100 * f["mean"] for f in figures], xerr=[100 * (f["deviation"] or 0) for f in figures], color="#4c78a8")
    axes.invert_yaxis()
    axes.set(xlabel="F1, %, mean over tasks")
    entitle(figure, summary, "optimiser")
    save_figure(figure, config.out)
