"""One job: plain values -> train on few videos, evaluate on other groups -> plain values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from crosstask.evaluation.evaluate import evaluate_videos
from crosstask.experiments.arms import build_method
from crosstask.experiments.corpora import open_once
from crosstask.experiments.few_videos.design import group_of, training_videos, usable_videos
from crosstask.experiments.few_videos.step_lists import (
    with_graph_order,
    with_intervals_in_memory,
    with_permuted_words,
    with_published_names,
    with_training_order,
)
from crosstask.experiments.installation import refuse_other_installation
from crosstask.experiments.job import with_all_labels
from crosstask.inference import ordered_ceiling
from crosstask.metrics.truth import true_segments
from crosstask.records import Corpus, Video
from crosstask.text.stems import stems_of_step

SUPERVISION = ("windows", "order", "labels")  # narration windows and order; order alone; all annotation
STRATA = ("name trained", "words trained", "unknown word")


@dataclass(frozen=True)
class FewArm:
    """A curve: a method, what it shares, its supervision, and whether the other tasks are trained on as well."""

    method: str
    sharing: str
    supervision: str
    beside: bool

    @property
    def name(self) -> str:
        """The name in tables: 'hmm, component, order, beside'."""
        return ", ".join([self.method, self.sharing, self.supervision, "beside" if self.beside else "alone"])

    @property
    def trained_method(self) -> str:
        """The method that is fitted: full supervision of the paper's model is called `supervised`."""
        return "supervised" if self.supervision == "labels" and self.method == "zhukov19" else self.method

    def values(self) -> dict[str, Any]:
        """Plain values for a job."""
        return {
            "method": self.trained_method,
            "sharing": self.sharing,
            "supervision": self.supervision,
            "beside": self.beside,
        }


def train_on_few(values: Mapping[str, Any]) -> dict[str, Any]:
    """Hits by video and step, mAP, starts and IoU by task, the stratum of each step, and the number of training videos."""
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped,unused-ignore]

    refuse_other_installation(values)
    with threadpool_limits(1):
        return _train_on_few(values)


def _train_on_few(values: Mapping[str, Any]) -> dict[str, Any]:
    corpus = corpus_with_lists(values["corpus"], values["names"], values["order"] == "graph", values["permuted"])
    part, few = values["part"], values["few"]
    held_out = [*values["test_groups"], *values["unused_groups"]]
    train = training_videos(corpus, held_out, few, values["count"], values["beside"], part, values["seed"], values["most"])
    if values["order"] == "training":
        corpus = with_training_order(corpus, train)
    tested = [v for v in usable_videos(corpus) if v.task in values["tested"] and group_of(v, part) in values["test_groups"]]
    method = build_method(values["method"], values["sharing"], values["learning"])
    scorer = method.fit(_training_corpus(corpus, train, values), np.random.default_rng([values["seed"], 1]))
    evaluation = evaluate_videos(corpus, scorer, tested)
    found = evaluation.to_json()
    return {
        "hits": dict(evaluation.hits_by_video),
        **{metric: found[metric]["tasks"] for metric in ("recall", "map", "start_5s", "iou")},
        "strata": strata(corpus, train, sorted({v.task for v in tested})),
        "trained_on": len(train),
        "skipped": found["skipped"],
    }


@lru_cache(maxsize=4)
def corpus_with_lists(name: str, names: str, graph_order: bool, permuted: int | None) -> Corpus:
    """The corpus with the step lists of a control."""
    corpus = with_intervals_in_memory(open_once(name))
    if names == "published":
        corpus = with_published_names(corpus)
    if graph_order:
        corpus = with_graph_order(corpus)
    return corpus if permuted is None else with_permuted_words(corpus, permuted)


def _training_corpus(corpus: Corpus, train: Sequence[Video], values: Mapping[str, Any]) -> Corpus:
    chosen = corpus.only_tasks({video.task for video in train}).only(train)
    if values["supervision"] != "windows":
        chosen = chosen.without_windows()
    return with_all_labels(chosen) if values["supervision"] == "labels" else chosen


def strata(corpus: Corpus, train: Sequence[Video], tasks: Sequence[str]) -> dict[str, list[str]]:
    """For each step of each task: its name was trained in another task, all its words were, or one of its words was not."""
    found = {}
    for task_id in tasks:
        others = [corpus.tasks[t] for t in sorted({v.task for v in train} - {task_id})]
        names = {frozenset(stems_of_step(step)) for task in others for step in task.steps}
        words = {word for name in names for word in name}
        steps = [frozenset(stems_of_step(step)) for step in corpus.tasks[task_id].steps]
        found[task_id] = [STRATA[0] if s in names else STRATA[1] if s <= words else STRATA[2] for s in steps]
    return found


def ceilings(corpus: Corpus, tasks: Sequence[str]) -> dict[str, float]:
    """The ordered ceiling of each task: the recall of the best choice of moments that keeps the order of the list."""
    found = {}
    for task in tasks:
        counts = [ordered_ceiling(true_segments(corpus, v)) for v in usable_videos(corpus) if v.task == task]
        hits, present = (sum(c[i] for c in counts) for i in (0, 1))
        if present:
            found[task] = hits / present
    return found
