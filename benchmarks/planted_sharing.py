"""Does sharing words between tasks help on the planted corpus, and only where words mean something? Writes JSON.

python benchmarks/planted_sharing.py --out results/planted-sharing.json

Every seed draws a new world (directions, videos, split). On the same split: the component model at three levels of sharing, Uniform, and
full supervision; on the negative control the step names are dealt anew; and primary tasks that were never trained on, two at a time.
The settings were fixed before the first run and are the same for all methods.
"""

import argparse
import logging
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path

import numpy as np

from crosstask.evaluation.evaluate import evaluate
from crosstask.evaluation.paired import mean_interval
from crosstask.evaluation.splits import Split, paper_split
from crosstask.learning.zhukov19.alternation import AlternationSettings
from crosstask.methods.order_only import Uniform
from crosstask.methods.protocols import Method
from crosstask.methods.supervised import Supervised
from crosstask.methods.zhukov19 import Zhukov19
from crosstask.records import Corpus, Video
from crosstask.storage import write_json
from crosstask.synthetic import DIFFICULTIES, Shape, generate_corpus, generate_with_permuted_names

SHAPE = Shape("sharing", 10, 30, 30, 20, 0, 30)
N_DIMENSIONS = 128
SETTINGS = AlternationSettings(learning_rate=1e-3, dropout=0.3, initial_epochs=15, epochs=15)
CONTROL = "default, names permuted"
PAIRS = (("component", "step"), ("step", "none"), ("component", "none"), ("supervised", "component"))
NEVER_TRAINED_AT_ONCE = 2

Recalls = dict[str, float]  # task -> recall


def recall_of(corpus: Corpus, method: Method, train: Iterable[Video], test: Iterable[Video], seed: int) -> Recalls:
    """Recall per task of a method trained on some videos; tasks without training videos stay out of its sight."""
    videos = tuple(train)
    seen = corpus.only_tasks({video.task for video in videos}).only(videos)
    scorer = method.fit(seen, np.random.default_rng([seed, 1]))
    return evaluate(corpus, scorer, test).recall.by_task()


def compare(
    corpus: Corpus, split: Split, seed: int, tuned: Mapping[str, AlternationSettings] | None = None
) -> dict[str, Recalls]:
    """Every method on one split, by the same settings or its own; without sharing the related tasks cannot matter, and are left out."""
    of = dict.fromkeys(("component", "step", "none", "supervised"), SETTINGS) | dict(tuned or {})
    primary = [video for video in split.train if corpus.task_of(video).primary]
    runs: Mapping[str, tuple[Method, Iterable[Video]]] = {
        "component": (Zhukov19("component", of["component"]), split.train),
        "step": (Zhukov19("step", of["step"]), split.train),
        "none": (Zhukov19("none", of["none"]), primary),
        "supervised": (Supervised("component", of["supervised"]), primary),
        "uniform": (Uniform(), primary),
    }
    return {name: recall_of(corpus, method, train, split.test, seed) for name, (method, train) in runs.items()}


def never_trained(corpus: Corpus, split: Split, seed: int, settings: AlternationSettings = SETTINGS) -> Recalls:
    """Recall of the component model on primary tasks whose videos it never saw, two hidden at a time."""
    recalls: Recalls = {}
    ids = [task.id for task in corpus.primary_tasks()]
    for first in range(0, len(ids), NEVER_TRAINED_AT_ONCE):
        hidden = set(ids[first : first + NEVER_TRAINED_AT_ONCE])
        train = [video for video in split.train if video.task not in hidden]
        test = [video for video in split.test if video.task in hidden]
        recalls |= recall_of(corpus, Zhukov19("component", settings), train, test, seed)
    return recalls


def interval(differences: np.ndarray) -> dict[str, float]:
    """Mean of paired differences, and its 95 % interval by Student's t."""
    return {name: round(value, 4) for name, value in mean_interval(differences).items()}


def summary(by_seed: list[dict[str, Recalls]]) -> dict[str, object]:
    """Means over seeds, and the paired gains: over the seeds' mean recalls, and over all (seed, task) pairs."""
    methods = sorted(by_seed[0])
    table = {
        m: np.array([[run[m][task] for task in sorted(run["uniform"])] for run in by_seed]) for m in methods
    }  # (seeds, tasks)
    gains = {
        f"{a} - {b}": {
            "over_seeds": interval(table[a].mean(axis=1) - table[b].mean(axis=1)),
            "over_seeds_and_tasks": interval((table[a] - table[b]).ravel()),
        }
        for a, b in PAIRS
    }
    recall = {
        m: {"mean": round(float(t.mean()), 4), "by_seed": [round(float(v), 4) for v in t.mean(axis=1)]} for m, t in table.items()
    }
    result: dict[str, object] = {"recall": recall, "gains": gains}
    if "never trained" in table:
        uniform, trained = table["uniform"].mean(), table["component"].mean()
        result["share_of_the_way_when_never_trained"] = round(
            float((table["never trained"].mean() - uniform) / (trained - uniform)), 3
        )
    return result


def run_setting(name: str, seeds: Iterable[int]) -> dict[str, object]:
    by_seed = []
    for seed in seeds:
        start = time.perf_counter()
        make, difficulty = (generate_with_permuted_names, "default") if name == CONTROL else (generate_corpus, name)
        corpus = make(SHAPE, difficulty, seed, N_DIMENSIONS)
        split = paper_split(corpus, np.random.default_rng([seed, 0]), SHAPE.train_videos_per_task)
        recalls = compare(corpus, split, seed)
        if name == "default":
            recalls["never trained"] = never_trained(corpus, split, seed)
        by_seed.append(recalls)
        shown = ", ".join(f"{m} {np.mean(list(r.values())):.3f}" for m, r in recalls.items())
        print(f"{name}, seed {seed}: {shown} ({time.perf_counter() - start:.0f} s)", flush=True)
    return summary(by_seed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.WARNING)
    seeds = list(range(arguments.seeds))
    result = {
        "what": "synthetic planted corpus: step recall by level of sharing; 95 % intervals of paired differences",
        "command": f"python benchmarks/planted_sharing.py --out results/{arguments.out.name} --seeds {arguments.seeds}",
        "seeds": seeds,
        "shape": asdict(SHAPE),
        "n_dimensions": N_DIMENSIONS,
        "settings": asdict(SETTINGS),
        "never_trained_at_once": NEVER_TRAINED_AT_ONCE,
        "results": {},
    }
    for name in ("default", CONTROL, *(name for name in DIFFICULTIES if name != "default")):
        result["results"] |= {name: run_setting(name, seeds)}
        write_json(arguments.out, result)


if __name__ == "__main__":
    main()
