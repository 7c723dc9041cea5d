"""What packing in float16 costs: the paper's recipe and the best one on the same real rows in float32 and in float16, paired over splits. Writes JSON.

CROSSTASK_DATA=DATA python benchmarks/speech_corpus.py OUT
python benchmarks/half_precision.py OUT --out results/half-precision.json

The rows of that folder are stored in float16 already: their columns are stretched by random factors, in float32, so that rounding them costs something.
(A rotation would not do: equal seconds come out of a matrix product unequal in the last bit, which float16 makes equal again, and ties are then broken
otherwise: that alone was worth half a point, against float16, with the paper's recipe.)
"""

import argparse
import json
import logging
from dataclasses import replace
from pathlib import Path

import numpy as np
from breakfast_paper_recipe import paired

from crosstask import open_corpus
from crosstask.evaluation.evaluate import evaluate
from crosstask.features import FeaturesInMemory
from crosstask.learning.zhukov19.alternation import AlternationSettings
from crosstask.methods.hmm import HiddenMarkovModel
from crosstask.methods.zhukov19 import Zhukov19
from crosstask.records import Corpus, Video
from crosstask.storage import write_json

TRAIN_VIDEOS_PER_TASK = 30
METHODS = {
    "paper": Zhukov19(settings=AlternationSettings(learning_rate=1e-3, dropout=0.3, initial_epochs=15, epochs=15)),
    "best": HiddenMarkovModel(),
}


def split_of(corpus: Corpus, seed: int) -> tuple[list[Video], list[Video]]:
    """30 training videos a task; the others are tested."""
    rng = np.random.default_rng(seed)
    train: list[Video] = []
    test: list[Video] = []
    for task in corpus.tasks:
        videos = list(corpus.videos_of(task))
        order = rng.permutation(len(videos))
        train += [videos[i] for i in sorted(order[:TRAIN_VIDEOS_PER_TASK])]
        test += [videos[i] for i in sorted(order[TRAIN_VIDEOS_PER_TASK:])]
    return train, test


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--splits", type=int, default=5)
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)
    opened = open_corpus(arguments.corpus)
    width = opened.features.rows(next(iter(opened.features))).shape[1]
    stretch = np.random.default_rng(0).uniform(0.5, 2, size=width).astype(np.float32)
    rows = {video_id: np.asarray(opened.features.rows(video_id), dtype=np.float32) * stretch for video_id in opened.features}
    assert all((x != x.astype(np.float16)).any() for x in rows.values()), "rounding must cost something"
    corpora = {
        kind: replace(opened, features=FeaturesInMemory({video_id: x.astype(kind) for video_id, x in rows.items()}))
        for kind in ("float32", "float16")
    }
    found: dict[str, list[float]] = {f"{name}, {kind}": [] for name in METHODS for kind in corpora}
    for seed in range(arguments.splits):
        train, test = split_of(opened, seed)
        for name, method in METHODS.items():
            for kind, corpus in corpora.items():
                scorer = method.fit(corpus.only(train), np.random.default_rng(seed))
                found[f"{name}, {kind}"].append(float(np.mean(list(evaluate(corpus, scorer, test).recall.by_task().values()))))
    result = {
        "what": "step recall on real CrossTask annotation with speech as features; rows kept in float32 and in float16",
        "command": "python benchmarks/half_precision.py OUT --out results/half-precision.json",
        "recall": found,
        "float16 - float32, points": {name: paired(found[f"{name}, float16"], found[f"{name}, float32"]) for name in METHODS},
    }
    write_json(arguments.out, result)
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
