"""The demonstration: a synthetic corpus, five methods on the same split, and a task that was never trained on."""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from crosstask.evaluation.evaluate import Evaluation, evaluate_videos
from crosstask.evaluation.splits import Split, paper_split
from crosstask.learning.zhukov19.alternation import AlternationSettings
from crosstask.methods.hmm import HiddenMarkovModel
from crosstask.methods.order_only import Uniform
from crosstask.methods.protocols import Method, Scorer
from crosstask.methods.supervised import Supervised
from crosstask.methods.zhukov19 import Zhukov19
from crosstask.records import Corpus, Task, Video
from crosstask.synthetic import Shape, generate_corpus

SETTINGS = AlternationSettings(learning_rate=3e-4, dropout=0.3, initial_epochs=30, epochs=30)
SHAPE = Shape("demo", 6, 18, 24, 16, 0, 24, mean_log_seconds=5.0)
DIFFICULTY = "easy"
N_DIMENSIONS = 128


@dataclass(frozen=True)
class Shown:
    """One method of the demonstration: what it learnt, how good it is, and the seconds it took."""

    scorer: Scorer
    evaluation: Evaluation
    seconds: float
    losses: tuple[float, ...] = ()


@dataclass(frozen=True)
class DemoResult:
    """Everything the demonstration found out."""

    corpus: Corpus
    split: Split
    methods: dict[str, Shown]
    unseen_task: Task
    unseen: Shown  # the best recipe, trained without the unseen task
    seconds: dict[str, float]


def run_demo(seed: int = 0, say: Callable[[str], None] = lambda line: None) -> DemoResult:
    """Run it; a minute on two cores."""
    begun = perf_counter()
    say(f"generating a synthetic corpus: {SHAPE.primary_tasks + SHAPE.related_tasks} tasks whose steps share words")
    corpus = generate_corpus(SHAPE, DIFFICULTY, seed, N_DIMENSIONS)
    seconds = {"generating the corpus": perf_counter() - begun}
    split = paper_split(corpus, np.random.default_rng(seed), SHAPE.train_videos_per_task)
    primary = tuple(video for video in split.train if corpus.task_of(video).primary)
    config: dict[str, tuple[Method, tuple[Video, ...]]] = {
        "uniform": (Uniform(), primary),
        "task-specific": (Zhukov19("none", SETTINGS), primary),
        "zhukov19": (Zhukov19("component", SETTINGS), split.train),
        "hmm": (HiddenMarkovModel(), split.train),
        "supervised": (Supervised("component", SETTINGS), primary),
    }
    shown = {}
    for name, (method, train) in config.items():
        say(f"training {name} on {len(train)} videos")
        shown[name] = _show(corpus, method, train, split.test, seed)
    unseen_task = corpus.primary_tasks()[0]
    say(f"training again without '{unseen_task.title}', then finding its steps from its step list alone")
    rest = tuple(video for video in split.train if video.task != unseen_task.id)
    tested = tuple(video for video in split.test if video.task == unseen_task.id)
    unseen = _show(corpus, HiddenMarkovModel(), rest, tested, seed)
    seconds |= {f"learning: {name}": one.seconds for name, one in shown.items()}
    seconds["learning: without one task"] = unseen.seconds
    return DemoResult(corpus, split, shown, unseen_task, unseen, seconds)


def _show(corpus: Corpus, method: Method, train: tuple[Video, ...], test: tuple[Video, ...], seed: int) -> Shown:
    losses: list[float] = []
    if isinstance(method, Zhukov19):
        method = Zhukov19(method.sharing, method.settings, after_epoch=lambda progress: losses.append(progress.losses[-1]))
    begun = perf_counter()
    learnt_from = corpus.only_tasks({video.task for video in train}).only(train)
    scorer = method.fit(learnt_from, np.random.default_rng(seed))
    seconds = perf_counter() - begun
    return Shown(scorer, evaluate_videos(corpus, scorer, test), seconds, tuple(losses))
