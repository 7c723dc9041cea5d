"""A question put to a corpus: who asks it how often, and the jobs that answer it."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from crosstask.experiments.arms import Arm
from crosstask.experiments.corpora import corpora_for_tuning, corpus_of_run, open_without_features, synthetic_name
from crosstask.experiments.job import train_and_judge
from crosstask.jobs import Job, run_all
from crosstask.records import Corpus

Results = dict[str, list[dict[str, Any]]]  # setting name -> result of each run
Watch = Callable[[str, int], AbstractContextManager[Callable[[], None]]]  # what, how many jobs -> call after each

GRIDS: Mapping[str, Sequence[Mapping[str, Any]]] = {
    name: [{"learning_rate": rate, "dropout": dropout} for rate in (1e-4, 3e-4, 1e-3) for dropout in (0.3, 0.7)]
    for name in ("proposed", "task-specific", "supervised", "deep")
} | {
    "alayrac16": [{"ridge": ridge} for ridge in (0.01, 0.1, 1.0, 10.0)],
    "richard18": [{"classifier_rate": rate} for rate in (1e-3, 1e-2)],
}


@dataclass(frozen=True)
class ExperimentConfig:
    """What the command line says."""

    corpus: str
    out: Path
    runs: int = 20  # paper, Sec. 5.1
    seed: int = 0
    split_by: str = "paper"
    shared_videos: str = "keep"
    train_videos_per_task: int = 30  # paper, Sec. 5.1
    learning: Mapping[str, Any] = field(default_factory=dict)  # learning rate, dropout, epochs: for every setting that knows them
    tune: bool = False
    with_best: bool = False
    engine: str = "local"
    workers: int = 1
    address: str | None = None
    encoder_files: Mapping[str, str] = field(default_factory=dict)
    watch: Watch = lambda what, total: nullcontext(lambda: None)

    def opened(self) -> Corpus:
        """The corpus of the first run; a synthetic one without features."""
        return open_without_features(corpus_of_run(self.corpus, 0))

    @property
    def synthetic(self) -> bool:
        """True if the corpus is generated."""
        return synthetic_name(self.corpus) is not None

    def protocol(self) -> dict[str, Any]:
        """How the numbers came about, without machine, engine or clock."""
        return {
            "corpus": self.corpus if self.synthetic else self.opened().name,
            "synthetic": self.synthetic,
            "runs": self.runs,
            "seed": self.seed,
            "split_by": self.split_by,
            "shared_videos": self.shared_videos,
            "train_videos_per_task": self.train_videos_per_task,
            "tuned": self.tune,
        }

    def do(self, what: str, jobs: Sequence[Job], work: Callable[[Mapping[str, Any]], Any] = train_and_judge) -> list[Any]:
        """The results of jobs, from their files where they are finished."""
        with self.watch(what, len(jobs)) as advance:
            return run_all(work, jobs, self.out / "jobs", self.engine, self.workers, advance, self.address)


def job_values(config: ExperimentConfig, setting: Arm, run: int) -> dict[str, Any]:
    """The plain values of one job."""
    return {
        "corpus": corpus_of_run(config.corpus, run),
        "split": config.split_by,
        "seed": config.seed + run,
        "shared_videos": config.shared_videos,
        "train_videos_per_task": config.train_videos_per_task,
        "judge": "test",
        **setting.values(),
    }


def run_settings(config: ExperimentConfig, settings: Sequence[Arm], show: Sequence[str] = ()) -> tuple[Results, dict[str, Any]]:
    """Every setting on every run (runs outside, so that a corpus is opened once), and what was tuned."""
    ready = [s.learning_with(**{k: v for k, v in config.learning.items() if k not in s.learning}) for s in settings]
    chosen = [[s] * config.runs for s in ready]
    tuned: dict[str, Any] = {}
    if config.tune:
        chosen, tuned = tune(config, ready)
    jobs = []
    for run in range(config.runs):
        for of_setting in chosen:
            values = job_values(config, of_setting[run], run)
            if run == 0 and of_setting[run].name in show:
                values["show"] = True
            opens = (
                values["corpus"] if config.synthetic else ""
            )  # a synthetic corpus takes long to generate; a folder opens at once
            jobs.append(Job(f"{_file_name(of_setting[run].name)}-{run:03d}", values, opens=opens))
    done = config.do("experiment", jobs)
    n = len(settings)
    return {s.name: done[i::n] for i, s in enumerate(settings)}, tuned


def tune(config: ExperimentConfig, settings: Sequence[Arm]) -> tuple[list[list[Arm]], dict[str, Any]]:
    """Each setting with the best of its grid by recall on validation videos, for every run.

    Chosen once where the corpus lists validation videos (never trained, never tested), over several corpora where it is synthetic, since one
    is too noisy to tell near settings apart; else run by run, on a part of the training groups.
    """
    groups = _places_to_tune_on(config)
    jobs, cells = [], []
    for group, (corpus, seed) in ((group, place) for group, places in enumerate(groups) for place in places):
        for number, setting in enumerate(settings):
            for i, changed in enumerate(GRIDS.get(setting.method, ())):
                values = job_values(config, setting.learning_with(**changed), group)
                values |= {"judge": "validation", "corpus": corpus, "seed": seed}
                name = f"tune-{_file_name(setting.name)}-{seed - config.seed:03d}-{i}"
                jobs.append(Job(name, values, opens=corpus if config.synthetic else ""))
                cells.append((group, number, i))
    recalls: dict[tuple[int, int, int], list[float]] = {}
    for cell, result in zip(cells, config.do("tuning", jobs), strict=True):
        recalls.setdefault(cell, []).append(result["recall"]["mean"])
    chosen: list[list[Arm]] = []
    record: dict[str, Any] = {}
    for number, setting in enumerate(settings):
        of_groups = []
        for group in range(len(groups)):
            tried = [(c, fmean(recalls[group, number, i])) for i, c in enumerate(GRIDS.get(setting.method, ()))]
            best = max(tried, key=lambda pair: pair[1])[0] if tried else {}  # the first of equals
            of_groups.append(setting.learning_with(**best))
            if tried:
                record.setdefault(setting.name, []).append({"chosen": best, "tried": [{**c, "recall": r} for c, r in tried]})
        chosen.append(of_groups if len(groups) == config.runs else of_groups * config.runs)
    return chosen, record


def _places_to_tune_on(config: ExperimentConfig) -> list[list[tuple[str, int]]]:
    """Corpora and seeds to try settings on, in groups: one group for all runs, or one for each run."""
    corpora = corpora_for_tuning(config.corpus)
    if open_without_features(corpora[0]).validation:
        return [[(corpus, config.seed + 1000 + i) for i, corpus in enumerate(corpora)]]
    return [[(corpus_of_run(config.corpus, run), config.seed + run)] for run in range(config.runs)]


def _file_name(name: str) -> str:
    return "".join(c if c.isalnum() else "-" for c in name)
