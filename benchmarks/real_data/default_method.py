"""The default method and the paper's on real data, paired over splits. Writes JSON.

python -m benchmarks.real_data.default_method breakfast DATA/breakfast --out results/default-method-breakfast.json

    Breakfast (real features, simulated windows), tested on people that are not trained on. Also without sharing, without windows, with the windows of
    another video, and with every task left out of training in turn. Constants of the default method were chosen on part of these people, so this
    is not an untouched test.

CROSSTASK_DATA=DATA python -m benchmarks.real_data.speech_corpus OUT
python -m benchmarks.real_data.default_method speech OUT --out results/default-method-speech.json

    Real CrossTask annotation with speech as features: 30 training videos a task. Both methods use the same features and the same windows, made
    as in the paper. Both tasks were in view while the default method was developed.
"""

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np
from benchmarks.real_data.breakfast_zhukov19 import SETTINGS
from benchmarks.real_data.float16_features import METHODS, split_of
from benchmarks.scripts import arguments_of, paired_points, write_result

from crosstask import open_corpus
from crosstask.evaluation.evaluate import evaluate_videos
from crosstask.evaluation.splits import group_split
from crosstask.features.packed_corpus import with_packed_features
from crosstask.methods.hmm import HiddenMarkovModel
from crosstask.methods.order_only import Uniform
from crosstask.methods.zhukov19 import Zhukov19
from crosstask.records import Corpus, Interval, StepInterval
from crosstask.text.stems import stems_of_step_parts


def with_random_windows(corpus: Corpus, seed: int) -> Corpus:
    """Every video gets the windows of another video of its task, scaled to its own length: in order, but without information."""
    rng = np.random.default_rng(seed)
    windows = {}
    for task in corpus.tasks:
        videos = [v for v in corpus.videos_of(task) if v.key in corpus.windows]
        for video, other in zip(videos, [videos[i] for i in _derangement(len(videos), rng)], strict=True):
            stretch = corpus.n_segments(video) / corpus.n_segments(other)
            windows[video.key] = tuple(
                StepInterval(w.step, Interval(w.interval.start_s * stretch, w.interval.start_s * stretch + w.interval.length_s))
                for w in corpus.windows[other.key]
            )
    return replace(corpus, windows=windows)


def _derangement(n: int, rng: np.random.Generator) -> np.ndarray:
    order = rng.permutation(n)
    return order[(np.argsort(order) + 1) % n] if n > 1 else order


def one_split(corpus: Corpus, seed: int) -> dict[str, dict[str, float]]:
    """Recall per task of every method on one split."""
    split = group_split(corpus, np.random.default_rng(seed))
    train = corpus.only(split.train)
    asked = {
        "uniform": (Uniform(), train),
        "paper": (Zhukov19(settings=SETTINGS), train),
        "paper, no windows": (Zhukov19(settings=SETTINGS), train.without_windows()),
        "best": (HiddenMarkovModel(), train),
        "best, no windows": (HiddenMarkovModel(), train.without_windows()),
        "best, random windows": (HiddenMarkovModel(), with_random_windows(train, seed)),
        "best, no sharing": (HiddenMarkovModel("none"), train),
    }
    found = {
        name: evaluate_videos(corpus, m.fit(c, np.random.default_rng(seed)), split.test).by_metric["recall"]
        for name, (m, c) in asked.items()
    }
    found["best, task never trained"] = {}
    for task in corpus.tasks:
        rest = train.only_tasks(set(corpus.tasks) - {task})
        tested = [video for video in split.test if video.task == task]
        found["best, task never trained"] |= evaluate_videos(
            corpus, HiddenMarkovModel().fit(rest, np.random.default_rng(seed)), tested
        ).by_metric["recall"]
    return found


def half_shared(corpus: Corpus) -> list[str]:
    """Tasks at least half of whose words stand in other tasks."""
    words = {t.id: {w for step in t.steps for w in stems_of_step_parts(step)} for t in corpus.tasks.values()}
    others = {t: set().union(*(w for o, w in words.items() if o != t)) for t in words}
    return [t for t in words if len(words[t] & others[t]) >= len(words[t]) / 2]


def breakfast(arguments: argparse.Namespace) -> dict:
    """Recalls of all methods on Breakfast, and paired differences in points."""
    corpus = with_packed_features(open_corpus(arguments.corpus))
    runs = [one_split(corpus, seed) for seed in range(arguments.splits)]
    means = {name: [float(np.mean(list(run[name].values()))) for run in runs] for name in runs[0]}
    half = half_shared(corpus)
    unseen = [float(np.mean([run["best, task never trained"][t] for t in half])) for run in runs]
    even = [float(np.mean([run["uniform"][t] for t in half])) for run in runs]
    by_task = {name: {t: float(np.mean([run[name][t] for run in runs])) for t in runs[0][name]} for name in runs[0]}
    pairs = [
        ("best", "paper"),
        ("best, no windows", "paper, no windows"),
        ("best", "best, no sharing"),
        ("best, random windows", "best, no windows"),
    ]
    return {
        "what": "step recall, mean over 10 tasks, Breakfast, unseen people, 30 training videos a task; windows are simulated",
        "command": "python -m benchmarks.real_data.default_method breakfast DATA/breakfast --out results/default-method-breakfast.json",
        "seeds": list(range(arguments.splits)),
        "recall": {name: {"mean": float(np.mean(values)), "splits": values} for name, values in means.items()},
        "by_task": by_task,
        "tasks above paper": sum(by_task["best"][t] > by_task["paper"][t] for t in by_task["best"]),
        "differences, points": {f"{a} - {b}": paired_points(means[a], means[b]) for a, b in pairs},
        "never trained, half of the words shared": {
            "tasks": half,
            "mean": float(np.mean(unseen)),
            "uniform": float(np.mean(even)),
            **paired_points(unseen, even),
        },
    }


def speech(arguments: argparse.Namespace) -> dict:
    """Recalls of both methods with speech as features, and paired differences in points."""
    corpus = with_packed_features(open_corpus(arguments.corpus))
    found: dict[str, list[dict[str, float]]] = {"uniform": [], "paper": [], "best": []}
    for seed in range(arguments.splits):
        train, test = split_of(corpus, seed)
        for name, method in {"uniform": Uniform(), **METHODS}.items():
            scorer = method.fit(corpus.only(train), np.random.default_rng(seed))
            found[name].append(evaluate_videos(corpus, scorer, test).by_metric["recall"])
        print(seed, {name: {t: round(r, 3) for t, r in runs[-1].items()} for name, runs in found.items()}, flush=True)
    tasks = {task: corpus.tasks[task].title for task in sorted(found["paper"][0])}
    by_task = {name: {t: float(np.mean([run[t] for run in runs])) for t in tasks} for name, runs in found.items()}
    means = {name: [float(np.mean(list(run.values()))) for run in runs] for name, runs in found.items()}
    return {
        "what": "step recall on real CrossTask annotation with speech as features; test time uses speech, which the paper's does not",
        "command": "python -m benchmarks.real_data.default_method speech OUT --out results/default-method-speech.json",
        "seeds": list(range(arguments.splits)),
        "tasks": tasks,
        "recall": {name: {"mean": float(np.mean(values)), "splits": values} for name, values in means.items()},
        "by_task": by_task,
        "best - paper, points": {
            **{t: paired_points([run[t] for run in found["best"]], [run[t] for run in found["paper"]]) for t in tasks},
            "mean": paired_points(means["best"], means["paper"]),
        },
    }


def main() -> None:
    parser = arguments_of(__doc__)
    parser.add_argument("data", choices=("breakfast", "speech"))
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--splits", type=int, default=10)
    arguments = parser.parse_args()
    write_result(arguments.out, {"breakfast": breakfast, "speech": speech}[arguments.data](arguments))


if __name__ == "__main__":
    main()
