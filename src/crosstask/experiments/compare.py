"""`crosstask.compare`: methods on the same splits of a corpus, with paired intervals over the runs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from crosstask.evaluation.evaluate import evaluate_videos, log_skipped
from crosstask.evaluation.paired import METRICS, compare_methods, summarise_method
from crosstask.experiments.arms import arm_of_method
from crosstask.experiments.job import split_for_job, training_videos
from crosstask.experiments.tables import difference_cell, mean_cell
from crosstask.methods.protocols import Method
from crosstask.methods.table import method_title, resolve_method
from crosstask.records import Corpus, InputError, choice_argument, corpus_argument, whole_argument

_MOST_RUNS = 100_000  # more is a slip

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False)
class Comparison:
    """The metrics of each method over the runs, and the paired differences of each two of them."""

    results: Mapping[str, Mapping[str, Any]]  # method -> metric -> mean, deviation, runs, tasks
    differences: Mapping[str, Mapping[str, Any]]  # "A - B" -> metric -> mean, low, high, tasks, tasks_won, of_tasks

    def to_json(self) -> dict[str, Any]:
        """`{"results": {METHOD: ..}, "differences": {"A - B": ..}}`, fractions."""
        return {"results": dict(self.results), "differences": dict(self.differences)}

    def to_dataframe(self) -> "pd.DataFrame":
        """A pandas DataFrame with the mean of each metric by method; needs pandas."""
        import pandas as pd

        means = {name: {metric: of[metric]["mean"] for metric in METRICS} for name, of in self.results.items()}
        return pd.DataFrame.from_dict(means, orient="index", columns=list(METRICS))

    def __repr__(self) -> str:
        """Step recall of each method and the differences, in percent."""
        lines = [f"Comparison of {len(self.results)} methods, step recall in %"]
        rows = [(name, mean_cell(of["recall"])) for name, of in self.results.items()]
        rows += [(name, difference_cell(of["recall"])) for name, of in self.differences.items()]
        width = max(len(name) for name, _ in rows)
        lines += [f"  {name:<{width}}  {cell}" for name, cell in rows[:7]]
        return "\n".join([*lines, *([f"  ... and {len(rows) - 7} more"] if len(rows) > 7 else [])])


def compare(
    corpus: Corpus,
    methods: Sequence[str | Method] = ("hmm", "zhukov19", "uniform"),
    runs: int = 5,
    split_by: str = "paper",
    train_videos: int = 30,
    seed: int = 0,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    advance: Callable[[], None] = lambda: None,
) -> Comparison:
    """Methods on the same random splits: the paper's (`split_by="paper"`), or by the part of the video id before "_" (`"group"`).

    `settings` gives settings by the method's name. `crosstask experiment cross-task` does the same with kept, resumable jobs.
    """
    corpus, seed, runs = corpus_argument(corpus), whole_argument(seed, "seed"), whole_argument(runs, "runs", 1, _MOST_RUNS)
    train_videos = whole_argument(train_videos, "train_videos", 1)
    choice_argument(split_by, "split_by", ["paper", "group"])
    if settings is not None and not (isinstance(settings, Mapping) and all(isinstance(s, Mapping) for s in settings.values())):
        raise InputError(
            f"settings is {settings!r:.60}; expected settings by the name of a method: {{'zhukov19': {{'epochs': 5}}}}"
        )
    if isinstance(methods, str) or not isinstance(methods, Sequence):
        raise InputError(f"methods {methods!r:.60}: expected a list such as ['hmm', 'uniform']")
    names = [method_title(method) for method in methods]
    if not names or len(set(names)) < len(names):
        raise InputError(f"methods {names}: expected at least one, each with its own name")
    given = {method_title(name): dict(of_method) for name, of_method in (settings or {}).items()}
    if unknown := sorted(given.keys() - set(names)):
        raise InputError(f"settings of '{unknown[0]}', which is not compared; expected those of {', '.join(names)}")
    built = [resolve_method(method, **given.get(name, {})) for name, method in zip(names, methods, strict=True)]
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    skipped: dict[str, str] = {}
    for run in range(runs):
        values = {
            "seed": seed + run,
            "train_videos_per_task": train_videos,
            "split": split_by,
            "judge": "test",
            "shared_videos": "keep",
        }
        split = split_for_job(corpus, values)
        for name, method, one in zip(names, methods, built, strict=True):
            train_on = arm_of_method(method).train_on if isinstance(method, str) else "all"
            train = training_videos(corpus, split.train, {"train_on": train_on, "n_tasks": None})
            chosen = corpus.only_tasks({video.task for video in train}).only(train)
            scorer = one.fit(chosen, np.random.default_rng([seed + run, 1]))
            evaluation = evaluate_videos(corpus, scorer, split.test)
            skipped.update(evaluation.skipped)
            found[name].append(evaluation.to_json() | {"trained_on": len(train)})
            advance()
    log_skipped(skipped)
    results = {name: summarise_method(of_runs) for name, of_runs in found.items()}
    return Comparison(results, {f"{a} - {b}": compare_methods(results[a], results[b]) for a, b in combinations(names, 2)})
