"""The configuration of an experiment, and the jobs that train and evaluate its arms: tuning first if asked for, then every run."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import Any

from crosstask.evaluation.evaluate import log_skipped
from crosstask.experiments.arms import Arm
from crosstask.experiments.corpora import corpora_for_tuning, corpus_digest, corpus_of_run, open_without_features, synthetic_name
from crosstask.experiments.installation import installation
from crosstask.experiments.job import train_and_evaluate
from crosstask.jobs import Job, run_all
from crosstask.records import Corpus
from crosstask.runs import EXPERIMENT_KIND

Results = dict[str, list[dict[str, Any]]]  # name of the arm -> result of each run
Progress = Callable[
    [str, int], AbstractContextManager[Callable[[], None]]
]  # stage, number of jobs -> function to call after each job
RUN_KIND = EXPERIMENT_KIND  # of the run folder of an experiment
_TUNING_SEED_OFFSET = 1000  # seeds of tuning jobs; larger than any number of runs

_RATES = (1e-5, 3e-5, 1e-4, 3e-4, 1e-3)  # from the paper's at D = 3200 to what narrower features need
_DROPOUTS = (0.3, 0.5, 0.7)
_RATE_AND_DROPOUT = [{"learning_rate": rate, "dropout": dropout} for rate in _RATES for dropout in _DROPOUTS]
TUNING_GRIDS: Mapping[str, Sequence[Mapping[str, Any]]] = dict.fromkeys(
    ("zhukov19", "task-specific", "deep"), _RATE_AND_DROPOUT
) | {
    "supervised": [{**settings, "sharing": level} for level in ("component", "none") for settings in _RATE_AND_DROPOUT],
    "alayrac16": [{"ridge": ridge} for ridge in (None, 0.01, 0.1, 1.0, 10.0)],  # None: as published
    "richard18": [{"classifier_rate": rate} for rate in (0.03, 0.1, 0.3)],  # 0.1: as published
    "richard18-linear": [{"classifier_rate": rate} for rate in (1e-3, 1e-2)],
}


def on_edge(options: Sequence[Mapping[str, Any]], best: int) -> list[str]:
    """Names of the settings whose chosen value is the smallest or largest of three or more numbers tried.

    >>> on_edge([{"rate": 1, "dropout": 0.3}, {"rate": 2, "dropout": 0.3}, {"rate": 3, "dropout": 0.7}], 2)
    ['rate']
    """
    edges = []
    for name, value in options[best].items():
        tried = sorted({option[name] for option in options if isinstance(option.get(name), int | float)})
        if len(tried) > 2 and value in (tried[0], tried[-1]):
            edges.append(name)
    return edges


@dataclass(frozen=True)
class ExperimentConfig:
    """What `experiment` runs: the corpus, the number of runs, the split, settings of the methods, and how jobs are executed."""

    corpus: str
    out: Path
    runs: int = 20  # paper, Sec. 5.1
    seed: int = 0
    split_by: str = "paper"
    shared_videos: str = "keep"
    train_videos_per_task: int = 30  # paper, Sec. 5.1
    learning: Mapping[str, Any] = field(
        default_factory=dict
    )  # learning rate, dropout, epochs: for every arm whose method has them
    tune: bool = False
    with_hmm: bool = False  # add the default method as a row
    methods: tuple[str, ...] = ()  # cross-task: the rows, instead of the paper's
    sharing: str | None = None  # of the methods that share: a level, or FILE.py:NAME
    counts: tuple[int, ...] = (1, 2, 3, 5)  # few-videos: training videos per task
    folds: int = 3  # few-videos, never-trained, sharing-controls: parts of the groups, each tested once
    names: str = "given"  # the same: step names as given, or "published": cut from published descriptions
    supervision: tuple[str, ...] = ()  # the same: windows, order, labels; empty for all
    engine: str = "local"
    workers: int = 1
    address: str | None = None
    encoder_files: Mapping[str, str] = field(default_factory=dict)
    progress: Progress = lambda stage, total: nullcontext(lambda: None)
    command: str = ""  # recorded in run.json

    def open_first_corpus(self) -> Corpus:
        """The corpus of the first run; a synthetic one without features."""
        return open_without_features(corpus_of_run(self.corpus, 0))

    @property
    def synthetic(self) -> bool:
        """True if the corpus is synthetic."""
        return synthetic_name(self.corpus) is not None

    def protocol(self) -> dict[str, Any]:
        """The protocol of the experiment as recorded in results.json, without machine, engine or date."""
        return {
            "corpus": self.corpus if self.synthetic else self.open_first_corpus().name,
            "synthetic": self.synthetic,
            "runs": self.runs,
            "seed": self.seed,
            "split_by": self.split_by,
            "shared_videos": self.shared_videos,
            "train_videos_per_task": self.train_videos_per_task,
            "tuned": self.tune,
        }

    def run_jobs(
        self, stage: str, jobs: Sequence[Job], work: Callable[[Mapping[str, Any]], Any] = train_and_evaluate
    ) -> list[Any]:
        """The results of jobs in their order; finished ones are read from their files, unless the corpus or the installation has changed since."""
        made_from = {"installation": installation()} | ({} if self.synthetic else {"corpus_digest": corpus_digest(self.corpus)})
        jobs = [replace(job, values={**job.values, **made_from}) for job in jobs]
        with self.progress(stage, len(jobs)) as advance:
            results = run_all(work, jobs, self.out / "jobs", self.engine, self.workers, advance, self.address)
        log_skipped(
            {key: why for of_job in results if isinstance(of_job, Mapping) for key, why in of_job.get("skipped", {}).items()}
        )
        return results


def job_values(config: ExperimentConfig, arm: Arm, run: int) -> dict[str, Any]:
    """The plain values of one job."""
    return {
        "corpus": corpus_of_run(config.corpus, run),
        "split": config.split_by,
        "seed": config.seed + run,
        "shared_videos": config.shared_videos,
        "train_videos_per_task": config.train_videos_per_task,
        "judge": "test",
        **arm.values(),
    }


def run_arms(config: ExperimentConfig, arms: Sequence[Arm], show: Sequence[str] = ()) -> tuple[Results, dict[str, Any]]:
    """The results of every arm in every run, and the record of the tuning; `show` names the arms whose localizations are kept.

    Runs are the outer loop, so that a corpus is opened once.
    """
    configured = [arm.with_settings(**{k: v for k, v in config.learning.items() if k not in arm.learning}) for arm in arms]
    arm_in_run = [[arm] * config.runs for arm in configured]
    tuned: dict[str, Any] = {}
    if config.tune:
        arm_in_run, tuned = tune(config, configured)
    jobs = []
    for run in range(config.runs):
        for arm in (of_runs[run] for of_runs in arm_in_run):
            values = job_values(config, arm, run)
            if run == 0 and arm.name in show:
                values["show"] = True
            generated = values["corpus"] if config.synthetic else ""  # generating a corpus is slow; opening a folder is not
            jobs.append(Job(f"{_file_name(arm.name)}-{run:03d}", values, resource=generated))
    results = config.run_jobs("experiment", jobs)
    return {arm.name: results[i :: len(arms)] for i, arm in enumerate(arms)}, tuned


def tune(config: ExperimentConfig, arms: Sequence[Arm]) -> tuple[list[list[Arm]], dict[str, Any]]:
    """Each arm with the settings of its grid that have the best recall on validation videos, for every run; and the record.

    Settings are chosen once where the corpus lists validation videos (never used for training or testing); for synthetic corpora on
    several of them, since one is too noisy to distinguish similar settings; otherwise for each run, on a part of the training groups.
    """
    groups = _tuning_groups(config)
    recalls = _grid_recalls(config, arms, groups)
    chosen: list[list[Arm]] = []
    record: dict[str, Any] = {}
    for number, arm in enumerate(arms):
        by_group = []
        for group in range(len(groups)):
            grid = TUNING_GRIDS.get(arm.method, ())
            tried = [fmean(recalls[group, number, i]) for i in range(len(grid))]
            best = tried.index(max(tried)) if tried else 0  # the first of equal ones
            by_group.append(arm.with_settings(**grid[best]) if tried else arm)
            if tried:
                entry = {"chosen": grid[best], "tried": [{**c, "recall": r} for c, r in zip(grid, tried, strict=True)]}
                record.setdefault(arm.name, []).append({**entry, "edge": on_edge(grid, best)})
        chosen.append(by_group if len(groups) == config.runs else by_group * config.runs)
    return chosen, record


def _grid_recalls(
    config: ExperimentConfig, arms: Sequence[Arm], groups: Sequence[Sequence[tuple[str, int]]]
) -> dict[tuple[int, int, int], list[float]]:
    """(group, arm, position in the grid) -> recall on each corpus of the group."""
    jobs, cells = [], []
    for group, (corpus, seed) in ((group, member) for group, members in enumerate(groups) for member in members):
        for number, arm in enumerate(arms):
            for i, changed in enumerate(TUNING_GRIDS.get(arm.method, ())):
                values = job_values(config, arm.with_settings(**changed), group)
                values |= {"judge": "validation", "corpus": corpus, "seed": seed}
                name = f"tune-{_file_name(arm.name)}-{seed - config.seed:03d}-{i}"
                jobs.append(Job(name, values, resource=corpus if config.synthetic else ""))
                cells.append((group, number, i))
    recalls: dict[tuple[int, int, int], list[float]] = {}
    for cell, result in zip(cells, config.run_jobs("tuning", jobs), strict=True):
        recalls.setdefault(cell, []).append(result["recall"]["mean"])
    return recalls


def _tuning_groups(config: ExperimentConfig) -> list[list[tuple[str, int]]]:
    """Corpora and seeds to tune on, in groups: one group for all runs, or one for each run."""
    corpora = corpora_for_tuning(config.corpus)
    if open_without_features(corpora[0]).validation:
        return [[(corpus, config.seed + _TUNING_SEED_OFFSET + i) for i, corpus in enumerate(corpora)]]
    return [[(corpus_of_run(config.corpus, run), config.seed + run)] for run in range(config.runs)]


def _file_name(name: str) -> str:
    return "".join(c if c.isalnum() else "-" for c in name)
