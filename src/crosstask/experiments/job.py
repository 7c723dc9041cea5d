"""One job: plain values -> train one arm on one split and evaluate it -> plain values. Importable by name, so any engine can call it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from crosstask.evaluation.evaluate import evaluate_videos, features_of
from crosstask.evaluation.paired import METRICS
from crosstask.evaluation.splits import Split, group_split, inner_split, paper_split, validation_videos, without_shared_videos
from crosstask.experiments.arms import build_method
from crosstask.experiments.corpora import open_once
from crosstask.experiments.installation import refuse_other_installation
from crosstask.inference import decoder_of
from crosstask.methods.protocols import Scorer
from crosstask.metrics.recall import mean_over_tasks
from crosstask.model.localization import localization_of, video_scores
from crosstask.records import Corpus, InputError, Video, labels_from_annotation

SHOWN_VIDEOS_PER_TASK = 2


def train_and_evaluate(values: Mapping[str, Any]) -> dict[str, Any]:
    """`Evaluation.to_json`, the recall per step, and the number of training videos; with `show`, some localizations as well.

    Computed by one thread: sums are the same on any engine, and parallel jobs do not compete for the cores.
    """
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped,unused-ignore]

    refuse_other_installation(values)
    with threadpool_limits(1):
        return _train_and_evaluate(values)


def _train_and_evaluate(values: Mapping[str, Any]) -> dict[str, Any]:
    corpus = open_once(values["corpus"])
    split = split_for_job(corpus, values)
    if values["train_on"] != "others":
        return _fit_and_evaluate(corpus, training_videos(corpus, split.train, values), split.test, values)
    parts = []
    for task in corpus.primary_tasks():
        tested = [video for video in split.test if video.task == task.id]
        others = [video for video in split.train if video.task != task.id]
        parts.append(_fit_and_evaluate(corpus, _subset_of_tasks(others, values), tested, values))
    return _merge_over_tasks(parts)


def split_for_job(corpus: Corpus, values: Mapping[str, Any]) -> Split:
    """The split of a job by its seed; with `judge` = validation, the validation videos take the place of the test videos."""
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
    test = tuple(v for v in split.test if v.key in corpus.annotations)
    if not any(video.key in corpus.annotations for video in corpus.videos):
        raise InputError(f"corpus '{corpus.name}': no video is annotated, and an experiment compares with annotation")
    if not any(map(corpus.knows_length, test)):
        raise InputError(
            f"corpus '{corpus.name}': no annotated video is left to evaluate with {n} training videos per task; use fewer of them "
            "(--train-videos) or --split-by group"
        )
    return Split(split.train, test)


def training_videos(corpus: Corpus, train: Sequence[Video], values: Mapping[str, Any]) -> list[Video]:
    """The training videos of the tasks on which an arm is trained."""
    which = values["train_on"]
    if which == "all":
        return list(train)
    videos = [video for video in train if corpus.task_of(video).primary == (which == "primary")]
    return _subset_of_tasks(videos, values) if which == "related" else videos


def _subset_of_tasks(videos: Sequence[Video], values: Mapping[str, Any]) -> list[Video]:
    """The videos of the first n tasks in an order drawn per run, so that subsets for larger n contain those for smaller n."""
    if values["n_tasks"] is None:
        return list(videos)
    tasks = sorted({video.task for video in videos})
    order = np.random.default_rng([values["seed"], 2]).permutation(len(tasks))
    kept = {tasks[i] for i in order[: values["n_tasks"]]}
    return [video for video in videos if video.task in kept]


def _fit_and_evaluate(corpus: Corpus, train: Sequence[Video], test: Sequence[Video], values: Mapping[str, Any]) -> dict[str, Any]:
    training_corpus = corpus.only_tasks({video.task for video in train}).only(train)
    if not values["narration"]:
        training_corpus = training_corpus.without_windows()
    if values.get("labels"):
        training_corpus = with_all_labels(training_corpus)
    method = build_method(values["method"], values["sharing"], values["learning"])
    scorer = method.fit(training_corpus, np.random.default_rng([values["seed"], 1]))
    evaluation = evaluate_videos(corpus, scorer, test)
    if test and not evaluation.n_videos:
        raise InputError(f"corpus '{corpus.name}': no video could be evaluated; the first: {min(evaluation.skipped.values())}")
    result = evaluation.to_json() | {"steps": dict(evaluation.recall_by_step), "trained_on": len(train)}
    if values.get("show"):
        result["parses"] = _localizations(corpus, scorer, [v for v in test if str(v.key) not in evaluation.skipped])
    return result


def with_all_labels(corpus: Corpus) -> Corpus:
    """The corpus with the annotation of all its videos as labels, which methods that take labels are trained on."""
    annotated = [video for video in corpus.videos if video.key in corpus.annotations]
    labels = {v.key: labels_from_annotation(corpus.annotations[v.key], len(corpus.task_of(v).steps)) for v in annotated}
    return replace(corpus, labels=labels)


def _localizations(corpus: Corpus, scorer: Scorer, test: Sequence[Video]) -> list[dict[str, Any]]:
    """Localizations of the first test videos of every task, for the report and the viewer."""
    localizations: list[dict[str, Any]] = []
    for task in corpus.primary_tasks():
        for video in [v for v in test if v.task == task.id][:SHOWN_VIDEOS_PER_TASK]:
            scored = video_scores(scorer, task, features_of(corpus, video))
            found = localization_of(task, scored, video.id, decoder_of(scorer))
            localizations.append(found.to_json())
    return localizations


def _merge_over_tasks(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The results of models evaluated on different tasks, merged into one result."""
    merged: dict[str, Any] = {}
    for measure in METRICS:
        tasks = {task: value for part in parts for task, value in part[measure]["tasks"].items()}
        merged[measure] = {"mean": mean_over_tasks(tasks), "tasks": tasks}
    merged["map"]["steps_without_positives"] = sum(part["map"]["steps_without_positives"] for part in parts)
    merged["steps"] = {task: steps for part in parts for task, steps in part["steps"].items()}
    merged["skipped"] = {key: why for part in parts for key, why in part["skipped"].items()}
    merged["videos"] = sum(part["videos"] for part in parts)
    merged["trained_on"] = round(sum(part["trained_on"] for part in parts) / len(parts))
    return merged
