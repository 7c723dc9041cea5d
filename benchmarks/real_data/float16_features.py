"""Effect of float16 features on recall: both methods on the same real features in float32 and float16, paired over splits. Writes JSON.

CROSSTASK_DATA=DATA python -m benchmarks.real_data.speech_corpus OUT
python -m benchmarks.real_data.float16_features OUT --out float16-features.json

The features of that folder are stored in float16 already: their columns are scaled by random factors in float32, so that rounding changes them.
(With a rotation instead of a scaling, equal seconds differ in the last bit of float32 and are equal again in float16, so ties are broken
differently: that alone changes the recall of the paper's method by half a point.)
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
from benchmarks.scripts import arguments_of, paired_points, write_result

from crosstask import open_corpus
from crosstask.evaluation.evaluate import evaluate_videos
from crosstask.features import FeaturesInMemory
from crosstask.learning.zhukov19.alternation import AlternationSettings
from crosstask.methods.hmm import HiddenMarkovModel
from crosstask.methods.zhukov19 import Zhukov19
from crosstask.records import Corpus, Video

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
    parser = arguments_of(__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--splits", type=int, default=5)
    arguments = parser.parse_args()
    opened = open_corpus(arguments.corpus)
    width = opened.features.rows(next(iter(opened.features))).shape[1]
    stretch = np.random.default_rng(0).uniform(0.5, 2, size=width).astype(np.float32)
    rows = {video_id: np.asarray(opened.features.rows(video_id), dtype=np.float32) * stretch for video_id in opened.features}
    assert all((x != x.astype(np.float16)).any() for x in rows.values()), "rounding must change every video"
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
                found[f"{name}, {kind}"].append(
                    float(np.mean(list(evaluate_videos(corpus, scorer, test).by_metric["recall"].values())))
                )
    result = {
        "what": "step recall on real CrossTask annotation with speech as features; rows kept in float32 and in float16",
        "command": "python -m benchmarks.real_data.float16_features OUT --out float16-features.json",
        "recall": found,
        "float16 - float32, points": {
            name: paired_points(found[f"{name}, float16"], found[f"{name}, float32"]) for name in METHODS
        },
    }
    write_result(arguments.out, result)


if __name__ == "__main__":
    main()
