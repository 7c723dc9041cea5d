"""The whole method on real CrossTask annotation, with speech as features: 30 training videos a task, the others tested, 5 splits.

Test time uses speech too, which the paper does not. Run:
CROSSTASK_DATA=DATA python benchmarks/speech_features.py results/narration-speech-features.json
"""

import os
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from crosstask.experiments.evaluation import evaluate
from crosstask.features import FeaturesInMemory
from crosstask.learning.alternation import AlternationSettings
from crosstask.methods.proposed import Proposed
from crosstask.methods.uniform import Uniform
from crosstask.narration.recipes import RECIPES, usable_videos
from crosstask.sources import open_corpus
from crosstask.storing import write_json
from crosstask.storing.places import cache_folder
from crosstask.text.encoders import CachedEncoder, open_encoder
from crosstask.text.encoders.speech import speech_features

SPLITS = 5
TRAIN_VIDEOS_PER_TASK = 30
SETTINGS = {"learning_rate": 1e-3, "dropout": 0.3, "initial_epochs": 15, "epochs": 15}  # as the published code was run


def main(out: Path) -> None:
    corpus = open_corpus(Path(os.environ["CROSSTASK_DATA"]) / "crosstask")
    videos = [v for v in corpus.videos if v.id in corpus.subtitles and v.key in corpus.annotations]
    corpus = corpus.only_tasks({v.task for v in videos}).only(videos)
    encoder = CachedEncoder(open_encoder("sentence"), cache_folder() / "embeddings")
    usable, _ = usable_videos(corpus, videos)
    features = {v.video.id: speech_features(v.narration, v.n_segments, encoder) for v in usable}
    corpus = replace(corpus, features=FeaturesInMemory(features), validation=frozenset())
    rows: list[dict] = []
    for recipe in (None, "paper", "best"):
        for split in range(SPLITS):
            rng = np.random.default_rng(split)
            train, test = [], []
            for task in corpus.tasks:
                of_task = [v for v in videos if v.task == task]
                chosen = set(rng.permutation(len(of_task))[:TRAIN_VIDEOS_PER_TASK].tolist())
                train += [v for i, v in enumerate(of_task) if i in chosen]
                test += [v for i, v in enumerate(of_task) if i not in chosen]
            # Windows are made from the training videos alone: nothing of a tested video is used.
            trained = [v for v in usable if v.video in set(train)]
            windows = RECIPES[recipe](corpus, trained, encoder).windows if recipe else {}
            start = time.perf_counter()
            model = Proposed(settings=AlternationSettings(**SETTINGS)).fit(
                replace(corpus.only(train), windows=windows), np.random.default_rng(split)
            )
            recall = evaluate(corpus, model, test).to_json()["recall"]
            rows.append(
                {"windows": recipe or "none", "split": split, "recall": recall, "train_seconds": time.perf_counter() - start}
            )
            print(recipe, split, {k: round(v, 3) for k, v in recall["tasks"].items()}, flush=True)
    uniform = evaluate(corpus, Uniform().fit(corpus, np.random.default_rng(0)), videos).to_json()["recall"]
    summary = {
        name: {
            task: {
                "mean": float(np.mean(values := [r["recall"]["tasks"][task] for r in rows if r["windows"] == name])),
                "deviation": float(np.std(values, ddof=1)),
            }
            for task in sorted(corpus.tasks)
        }
        for name in ("none", "paper", "best")
    }
    command = f"CROSSTASK_DATA=DATA python benchmarks/speech_features.py {out.as_posix()}"
    write_json(out, {"command": command, "settings": SETTINGS, "summary": summary, "uniform": uniform, "rows": rows})
    print(summary)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
