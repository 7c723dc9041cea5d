"""The demonstration from raw video: synthetic films, the stages of `run`, and what sharing and a task's absence change."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time

import numpy as np

from crosstask.experiments.evaluation import Evaluation, evaluate
from crosstask.extraction.recipe import read_recipe
from crosstask.methods.contracts import Scorer
from crosstask.methods.self_labelled import SelfLabelled, SelfLabelledScorer
from crosstask.methods.uniform import Uniform
from crosstask.pipeline.extracting import Workers
from crosstask.pipeline.whole import Finished, Progress, Wishes, run_folder
from crosstask.records import Corpus, Video, VideoKey
from crosstask.rendering.corpus import render_corpus
from crosstask.rendering.scripts import TASKS
from crosstask.text.encoders import Encoder


@dataclass(frozen=True)
class FilmSet:
    """How much is filmed."""

    videos_per_task: int = 12
    test_videos_per_task: int = 4
    n_tasks: int = len(TASKS)
    features: str = "default"


@dataclass(frozen=True)
class VideoDemonstration:
    """What came out, by method; and of the task that was left out of training."""

    finished: Finished
    tested: tuple[VideoKey, ...]
    methods: dict[str, Evaluation]
    left_out: dict[str, dict[str, float]]  # task -> recall by uniform, never trained, trained
    seconds: dict[str, float]


def demonstrate_on_video(
    out: Path,
    seed: int,
    encoder_for: Callable[[Sequence[str]], Encoder],
    progress: Progress,
    workers: int = 1,
    films: FilmSet | None = None,
) -> VideoDemonstration:
    """Render into `out/corpus`, run on it into `out`, compare; about six minutes on two cores."""
    films = films or FilmSet()
    tasks = TASKS[: films.n_tasks]
    seconds: dict[str, float] = {}
    begun = perf_counter()
    with progress("rendering", films.n_tasks * films.videos_per_task) as advance:
        tested = render_corpus(
            out / "corpus", seed, films.videos_per_task, films.test_videos_per_task, tasks, workers=workers, advance=advance
        )
    seconds["rendering"], begun = perf_counter() - begun, perf_counter()
    names = [f"{task.id}-{i:02d}" for task in tasks for i in range(films.videos_per_task)]
    train = frozenset(VideoKey(name.rpartition("-")[0], name) for name in names) - frozenset(tested)
    command = f"crosstask demo --video --seed {seed}"
    wishes = Wishes(
        read_recipe(films.features),
        seed,
        workers=Workers("local", workers),
        listen=False,
        command=command,
        synthetic=True,
        train_videos=train,
    )
    finished = run_folder(out / "corpus", out, wishes, encoder_for, progress)
    seconds["describing, narrating, training, localising"], begun = perf_counter() - begun, perf_counter()
    methods, left_out = compare(finished.corpus, train, tested, finished.model.scorer, seed)
    seconds["comparing: no sharing, tasks left out"] = perf_counter() - begun
    seconds["CPU of this process, without its workers"] = process_time()
    return VideoDemonstration(finished, tuple(tested), methods, left_out, seconds)


def compare(
    corpus: Corpus, train: frozenset[VideoKey], tested: Sequence[VideoKey], shared: Scorer, seed: int
) -> tuple[dict[str, Evaluation], dict[str, dict[str, float]]]:
    """Uniform, no sharing and component sharing on the test videos; then each task in turn without any training video of its own."""
    judged = [video for video in corpus.videos if video.key in set(tested)]
    trained = [video for video in corpus.videos if video.key in train and video.id in corpus.features]
    uniform = Uniform().fit(corpus, np.random.default_rng(seed))
    alone = _fit(corpus, trained, "none", seed)
    methods = {
        "uniform": evaluate(corpus, uniform, judged),
        "no sharing": evaluate(corpus, alone, judged),
        "best": evaluate(corpus, shared, judged),
    }
    left_out = {}
    for task in corpus.primary_tasks():
        rest = _fit(corpus, [video for video in trained if video.task != task.id], "component", seed)
        own = [video for video in judged if video.task == task.id]
        found = evaluate(corpus, rest, own).recall.by_task().get(task.id, 0.0)
        by_task = {name: evaluation.recall.by_task().get(task.id, 0.0) for name, evaluation in methods.items()}
        left_out[task.id] = {"uniform": by_task["uniform"], "never_trained": found, "trained": by_task["best"]}
    return methods, left_out


def _fit(corpus: Corpus, videos: Sequence[Video], sharing: str, seed: int) -> SelfLabelledScorer:
    chosen = corpus.only_tasks({video.task for video in videos}).only(videos)
    return SelfLabelled(sharing).fit(chosen, np.random.default_rng(seed))
