"""Is the model that shares nothing merely badly tuned? It again on the worlds of the second look, by two other settings. Writes JSON.

python benchmarks/planted_matched_unshared.py --tuned results/planted-matched-tuned.json --out results/planted-matched-unshared.json --work DIR

On validation 1e-3 with dropout 0.3 (17.6) was hardly ahead of 3e-4 with 0.7 (17.5), and the first look had fewer epochs: both are tried on the very worlds
that are scored, which favours the model that shares nothing.
"""

import argparse
import json
import logging
from pathlib import Path

import numpy as np
from planted_matched_sharing import DEFAULT, FIRST_FRESH_SEED, N_DIMENSIONS, SHAPE
from planted_sharing import SETTINGS, interval, recall_of

from crosstask.evaluation.splits import paper_split
from crosstask.learning.zhukov19.alternation import AlternationSettings
from crosstask.methods.zhukov19 import Zhukov19
from crosstask.storage import write_json
from crosstask.synthetic import MATCHED, generate_corpus

OTHERS = {
    "3e-4, dropout 0.7, 30 + 30 epochs": AlternationSettings(learning_rate=3e-4, dropout=0.7, initial_epochs=30, epochs=30),
    "1e-3, dropout 0.3, 15 + 15 epochs": SETTINGS,
}


def score(name: str, seed: int) -> dict[str, float]:
    """Mean recall of the model that shares nothing, by setting."""
    corpus = generate_corpus(SHAPE, name, seed, N_DIMENSIONS)
    split = paper_split(corpus, np.random.default_rng([seed, 0]), SHAPE.train_videos_per_task)
    primary = [video for video in split.train if corpus.task_of(video).primary]
    return {
        text: float(np.mean(list(recall_of(corpus, Zhukov19("none", settings), primary, split.test, seed).values())))
        for text, settings in OTHERS.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tuned", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True, help="folder for what is done so far")
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.ERROR)
    arguments.work.mkdir(parents=True, exist_ok=True)
    scored = json.loads(arguments.tuned.read_text("utf-8"))["results"]
    results = {}
    for name in (DEFAULT, *(name for name in MATCHED if name != DEFAULT)):
        by_seed = {level: np.array(scored[name]["recall"][level]["by_seed"]) for level in ("component", "step", "none")}
        runs = []
        for seed in range(FIRST_FRESH_SEED, FIRST_FRESH_SEED + len(by_seed["none"])):
            kept = arguments.work / f"{name}-{seed}.json"
            if not kept.exists():
                write_json(kept, score(name, seed))
            runs.append(json.loads(kept.read_text("utf-8")))
        found = {text: np.array([run[text] for run in runs]) for text in OTHERS}
        results[name] = {
            text: {
                "recall": round(float(values.mean()), 4),
                "step - none": interval(by_seed["step"] - values),
                "component - none": interval(by_seed["component"] - values),
            }
            for text, values in found.items()
        }
        print(name, results[name], flush=True)
        write_json(
            arguments.out,
            {
                "what": "synthetic planted corpus, matched world: the model that shares nothing by other settings, on the worlds of the second look",
                "command": "python benchmarks/planted_matched_unshared.py --tuned results/planted-matched-tuned.json"
                " --out results/planted-matched-unshared.json --work DIR",
                "first_seed": FIRST_FRESH_SEED,
                "results": results,
            },
        )


if __name__ == "__main__":
    main()
