"""The demonstration on rendered films: the stages of `run`, the gain from sharing, and tasks left out of training."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from crosstask.datasets import open_corpus
from crosstask.evaluation.evaluate import Evaluation, evaluate_videos
from crosstask.extraction.containers import need_pyav
from crosstask.extraction.feature_spec import parse_feature_spec
from crosstask.inference import decoder_of
from crosstask.methods.hmm import HiddenMarkovModel
from crosstask.methods.hmm_ensemble import HmmEnsemble
from crosstask.methods.order_only import Uniform
from crosstask.methods.protocols import Scorer
from crosstask.metrics.recall import mean_over_tasks
from crosstask.model.localization import localization_of, video_scores
from crosstask.pipeline.extract import Workers
from crosstask.pipeline.frame_strips import write_strips
from crosstask.pipeline.localize_corpus import DEMO_KIND
from crosstask.pipeline.run import RunConfig, RunResult, run_stages
from crosstask.records import Corpus, Localization, Progress, Video, VideoKey
from crosstask.report.page import write_report
from crosstask.runs import claim_run_folder, open_run, refuse_outside, write_run
from crosstask.storage import nonblocking_lock
from crosstask.synthetic.films.corpus import render_corpus
from crosstask.synthetic.films.scripts import TASKS
from crosstask.text.encoders.choice import choose_encoder

ALONE, STRANGER = "hmm, no sharing", "hmm, task left out"


@dataclass(frozen=True)
class FilmSet:
    """The number of films, and their features; by default so many that the demonstration takes about a minute on two cores."""

    videos_per_task: int = 12
    test_videos_per_task: int = 3
    n_tasks: int = len(TASKS)
    features: str = "light"


@dataclass(frozen=True)
class FilmDemoResult:
    """The run, the test films, the metrics by method, the recall of tasks left out of training, and the seconds of each stage."""

    result: RunResult
    tested: tuple[VideoKey, ...]
    methods: dict[str, Evaluation]
    left_out: dict[str, dict[str, float]]  # task -> recall by uniform, never trained, trained
    seconds: dict[str, float]


def run_film_demo(
    out: Path,
    seed: int,
    progress: Progress,
    workers: int = 1,
    films: FilmSet | None = None,
) -> FilmDemoResult:
    """Render films into `out/corpus`, run on them into `out`, and compare; nobody else may write `out` meanwhile."""
    need_pyav()
    with nonblocking_lock(out):
        return _demonstrate(out, seed, progress, workers, films or FilmSet())


def _demonstrate(out: Path, seed: int, progress: Progress, workers: int, films: FilmSet) -> FilmDemoResult:
    claim_run_folder(out, DEMO_KIND)
    refuse_outside(out, out / "corpus")
    tasks = TASKS[: films.n_tasks]
    clock = Clock()
    with progress("rendering", films.n_tasks * films.videos_per_task) as advance:
        tested = render_corpus(
            out / "corpus", seed, films.videos_per_task, films.test_videos_per_task, tasks, workers=workers, advance=advance
        )
    clock.stop("rendering")
    names = [f"{task.id}-{i:02d}" for task in tasks for i in range(films.videos_per_task)]
    train = frozenset(VideoKey(name.rpartition("-")[0], name) for name in names) - frozenset(tested)
    config = RunConfig(
        parse_feature_spec(films.features),
        seed,
        workers=Workers("local", workers),
        transcribe=False,
        command=f"crosstask demo --seed {seed}",
        synthetic=True,
        train_videos=train,
        decode_with_narration=False,
        encoder=lambda documents: choose_encoder("tfidf", None, documents),  # the same in every installation
    )
    result = run_stages(open_corpus(out / "corpus"), out, config, progress)
    clock.stop("extracting features, training, localising")
    compared = compare(result.corpus, train, tested, result.model.scorer, seed)
    _add_to_run(out, compared, frozenset(tested))
    clock.stop("comparing: without sharing, each task left out of training")
    clock.seconds["CPU, workers included"] = cpu_seconds()
    return FilmDemoResult(result, tuple(tested), compared.methods, compared.left_out, clock.seconds)


@dataclass
class Clock:
    """How long each stage took."""

    begun: float = field(default_factory=perf_counter)
    seconds: dict[str, float] = field(default_factory=dict)

    def stop(self, stage: str) -> None:
        """The stage has ended; the next begins."""
        now = perf_counter()
        self.seconds[stage], self.begun = now - self.begun, now


def cpu_seconds() -> float:
    """CPU time of this process and of its workers that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


@dataclass(frozen=True)
class Compared:
    """Figures by method, recall of each task by models that knew it or not, and the parses of the models besides the run's own."""

    methods: dict[str, Evaluation]
    left_out: dict[str, dict[str, float]]
    parses: dict[str, list[Localization]]


def compare(corpus: Corpus, train: frozenset[VideoKey], tested: Sequence[VideoKey], shared: Scorer, seed: int) -> Compared:
    """Uniform, no sharing and component sharing on the test videos; then each task in turn without any training video of its own."""
    judged = [video for video in corpus.videos if video.key in set(tested)]
    trained = [video for video in corpus.videos if video.key in train and video.id in corpus.features]
    uniform = Uniform().fit(corpus, np.random.default_rng(seed))
    alone = _fit(corpus, trained, "none", seed)
    methods = {
        "uniform": evaluate_videos(corpus, uniform, judged),
        ALONE: evaluate_videos(corpus, alone, judged),
        "hmm": evaluate_videos(corpus, shared, judged),
    }
    left_out, strangers = {}, []
    for task in corpus.primary_tasks():
        rest = _fit(corpus, [video for video in trained if video.task != task.id], "component", seed)
        own = [video for video in judged if video.task == task.id]
        found = evaluate_videos(corpus, rest, own).by_metric["recall"].get(task.id, 0.0)
        by_task = {name: evaluation.by_metric["recall"].get(task.id, 0.0) for name, evaluation in methods.items()}
        left_out[task.id] = {"uniform": by_task["uniform"], "never_trained": found, "trained": by_task["hmm"]}
        strangers += _parses(corpus, rest, own)
    return Compared(methods, left_out, {ALONE: _parses(corpus, alone, judged), STRANGER: strangers})


def _parses(corpus: Corpus, scorer: Scorer, videos: Sequence[Video]) -> list[Localization]:
    """Where a model puts the steps; videos too short for their steps are left out, as they are in the figures."""
    found = []
    for video in videos:
        task, rows = corpus.task_of(video), np.asarray(corpus.features.rows(video.id))
        if len(rows) >= len(task.steps):
            found.append(localization_of(task, video_scores(scorer, task, rows), video.id, decoder_of(scorer)))
    return found


def _add_to_run(out: Path, compared: Compared, tested: frozenset[VideoKey]) -> None:
    """The run in `out` shows the test films alone, with the compared models beside its own: metrics, localizations, frames, report."""
    before = open_run(out)
    by_task = {task: row["never_trained"] for task, row in compared.left_out.items()}
    results = {
        **before.run.results,
        ALONE: compared.methods[ALONE].to_json(),
        STRANGER: {"recall": {"mean": mean_over_tasks(by_task), "tasks": by_task}},
    }
    run = replace(
        before.run,
        title="Steps found in synthetic how-to films",
        kind=DEMO_KIND,
        videos=tuple(video for video in before.run.videos if video.key in tested),
        methods=("hmm", STRANGER, ALONE, "uniform"),
        results=results,
        notes=(*_notes(results, len(before.run.videos) - len(tested)), *before.run.notes),
    )
    localizations = {
        method: [found[key] for key in sorted(tested & set(found))] for method, found in before.machine_localizations.items()
    }
    write_run(out, run, localizations | compared.parses)
    write_strips(out, dict.fromkeys(compared.left_out, STRANGER), tested)
    write_report(out)


def _notes(results: Mapping[str, Any], n_trained: int) -> tuple[str, str]:
    """Two paragraphs that tell a stranger what was done and what the methods are."""
    found, unseen, guessed = (f"{100 * results[name]['recall']['mean']:.0f} %" for name in ("hmm", STRANGER, "uniform"))
    return (
        f"In each film somebody prepares a dish. From lists of steps and {n_trained} other narrated films, without any marked times, a model "
        f"learnt what the steps look and sound like. In the films shown here it finds {found} of the steps from picture and sound; evenly "
        f"spaced guesses find {guessed}. Where a dish was left out of training and only its list of steps is known, it finds {unseen}.",
        f"'hmm' is the model; '{STRANGER}' is trained on the other dishes alone; '{ALONE}' learns each dish by itself; 'uniform' guesses.",
    )


def _fit(corpus: Corpus, videos: Sequence[Video], sharing: str, seed: int) -> HmmEnsemble:
    chosen = corpus.only_tasks({video.task for video in videos}).only(videos)
    return HiddenMarkovModel(sharing).fit(chosen, np.random.default_rng(seed))
