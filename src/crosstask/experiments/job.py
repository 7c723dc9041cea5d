"""One job: plain values -> train one setting on one split and judge it -> plain values. Importable by name, so that any engine can call it."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from crosstask.evaluation.evaluate import evaluate, features_of
from crosstask.evaluation.splits import Split, group_split, inner_split, paper_split, validation_videos, without_shared_videos
from crosstask.experiments.arms import method_of
from crosstask.experiments.corpora import open_once
from crosstask.methods.protocols import Scorer
from crosstask.metrics.recall import mean_over_tasks
from crosstask.model.localization import absence_thresholds_of, localization_of
from crosstask.records import Corpus, InputError, Video

SHOWN_VIDEOS_PER_TASK = 2


def train_and_judge(values: Mapping[str, Any]) -> dict[str, Any]:
    """What `Evaluation.to_json` says, recall per step, and how many videos trained; with `show`, some parses as well.

    One thread computes: sums come out the same on any engine, and jobs side by side do not fight over the cores.
    """
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped,unused-ignore]

    with threadpool_limits(1):
        return _train_and_judge(values)


def _train_and_judge(values: Mapping[str, Any]) -> dict[str, Any]:
    corpus = open_once(values["corpus"])
    split = split_of(corpus, values)
    if values["train_on"] != "others":
        return _judged(corpus, chosen_training(corpus, split.train, values), split.test, values)
    parts = []
    for task in corpus.primary_tasks():
        tested = [video for video in split.test if video.task == task.id]
        others = [video for video in split.train if video.task != task.id]
        parts.append(_judged(corpus, _some_tasks(others, values), tested, values))
    return _together(parts)


def split_of(corpus: Corpus, values: Mapping[str, Any]) -> Split:
    """Who trains and who is judged under a seed; judged on validation, the test videos are out of sight."""
    rng = np.random.default_rng(values["seed"])
    n, by = values["train_videos_per_task"], values["split"]
    if by not in ("paper", "group"):
        raise InputError(f"--split-by {by}: expected paper or group")
    split = paper_split(corpus, rng, n) if by == "paper" else group_split(corpus, rng, n)
    if values["judge"] == "validation":
        listed = validation_videos(corpus)
        split = Split(split.train, tuple(listed)) if listed else inner_split(corpus, split, rng)
    if values["shared_videos"] == "drop":
        split = without_shared_videos(split, corpus)
    test = tuple(v for v in split.test if v.key in corpus.annotations and corpus.knows_length(v))
    if not test:
        raise InputError(
            f"corpus '{corpus.name}': no annotated video is left to judge with {n} training videos a task; use fewer of them "
            "(--train-videos) or --split-by group"
        )
    return Split(split.train, test)


def chosen_training(corpus: Corpus, train: Sequence[Video], values: Mapping[str, Any]) -> list[Video]:
    """The training videos of the tasks a setting may learn from."""
    which = values["train_on"]
    if which == "all":
        return list(train)
    videos = [video for video in train if corpus.task_of(video).primary == (which == "primary")]
    return _some_tasks(videos, values) if which == "related" else videos


def _some_tasks(videos: Sequence[Video], values: Mapping[str, Any]) -> list[Video]:
    """The videos of the first n tasks in an order drawn per run: larger n hold smaller ones."""
    if values["n_tasks"] is None:
        return list(videos)
    tasks = sorted({video.task for video in videos})
    order = np.random.default_rng([values["seed"], 2]).permutation(len(tasks))
    kept = {tasks[i] for i in order[: values["n_tasks"]]}
    return [video for video in videos if video.task in kept]


def _judged(corpus: Corpus, train: Sequence[Video], test: Sequence[Video], values: Mapping[str, Any]) -> dict[str, Any]:
    learnt_from = corpus.only_tasks({video.task for video in train}).only(train)
    if not values["narration"]:
        learnt_from = learnt_from.without_windows()
    method = method_of(values["method"], values["sharing"], values["learning"])
    scorer = method.fit(learnt_from, np.random.default_rng([values["seed"], 1]))
    evaluation = evaluate(corpus, scorer, test)
    result = evaluation.to_json() | {"steps": evaluation.recall.by_step(), "trained_on": len(train)}
    if values.get("show"):
        result["parses"] = _parses(corpus, scorer, test)
    return result


def _parses(corpus: Corpus, scorer: Scorer, test: Sequence[Video]) -> list[dict[str, Any]]:
    """Parses of the first test videos of every task, for people to look at."""
    found: list[dict[str, Any]] = []
    for task in corpus.primary_tasks():
        for video in [v for v in test if v.task == task.id][:SHOWN_VIDEOS_PER_TASK]:
            scores = np.asarray(scorer.score(task, features_of(corpus, video)))
            found.append(localization_of(task, scores, video.id, absence_thresholds_of(scorer, task)).to_json())
    return found


def _together(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The results of models that were judged on different tasks, as one."""
    merged: dict[str, Any] = {}
    for measure in ("recall", "map", "f1"):
        tasks = {task: value for part in parts for task, value in part[measure]["tasks"].items()}
        merged[measure] = {"mean": mean_over_tasks(tasks), "tasks": tasks}
    merged["map"]["steps_without_positives"] = sum(part["map"]["steps_without_positives"] for part in parts)
    merged["steps"] = {task: steps for part in parts for task, steps in part["steps"].items()}
    merged["skipped"] = {key: why for part in parts for key, why in part["skipped"].items()}
    merged["videos"] = sum(part["videos"] for part in parts)
    merged["trained_on"] = round(sum(part["trained_on"] for part in parts) / len(parts))
    return merged
