"""Tasks never trained on in the third planted world at the paper's shape, two hidden at a time. Writes JSON.

python benchmarks/planted_matched_unseen.py --out results/planted-matched-unseen.json --work DIR

By the protocol in results/planted-matched-unseen-protocol.json. What is done is kept, world by world, so a stopped run goes on.
"""

import argparse
import json
import logging
from pathlib import Path

import numpy as np
from planted_matched_sharing import TUNED
from planted_sharing import Recalls, interval, never_trained, recall_of

from crosstask.evaluation.splits import paper_split
from crosstask.methods.order_only import Uniform
from crosstask.methods.zhukov19 import Zhukov19
from crosstask.storage import write_json
from crosstask.synthetic import Shape, generate_corpus

SHAPE = Shape("paper without validation", 18, 65, 30, 30, 0, 30)
FIRST_SEED, N_SEEDS = 200, 6


def score(difficulty: str, seed: int) -> dict[str, Recalls]:
    """Uniform, trained and never trained on one world, by task."""
    corpus = generate_corpus(SHAPE, difficulty, seed, 128)
    split = paper_split(corpus, np.random.default_rng([seed, 0]), SHAPE.train_videos_per_task)
    return {
        "uniform": recall_of(corpus, Uniform(), split.train, split.test, seed),
        "component": recall_of(corpus, Zhukov19("component", TUNED["component"]), split.train, split.test, seed),
        "never trained": never_trained(corpus, split, seed, TUNED["component"]),
    }


def summary(runs: list[dict[str, Recalls]]) -> dict[str, object]:
    """Means over seeds, the share of the way, and its surplus over half with an interval."""
    low, own, high = (
        np.array([float(np.mean(list(run[m].values()))) for run in runs]) for m in ("uniform", "never trained", "component")
    )
    result: dict[str, object] = {
        "uniform": round(float(low.mean()), 4),
        "never_trained": round(float(own.mean()), 4),
        "component": round(float(high.mean()), 4),
        "share_of_the_way": round(float((own - low).mean() / (high - low).mean()), 3),
        "share_by_seed": [round(float(share), 3) for share in (own - low) / (high - low)],
        "seeds": len(runs),
    }
    return result | ({"never_trained - half_way": interval(own - (low + high) / 2)} if len(runs) > 1 else {})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True, help="folder for what is done so far")
    parser.add_argument("--difficulties", nargs="+", default=["matched-default", "matched-clear"])
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.ERROR)
    arguments.work.mkdir(parents=True, exist_ok=True)
    results: dict[str, object] = {}
    for name in arguments.difficulties:
        runs: list[dict[str, Recalls]] = []
        for seed in range(FIRST_SEED, FIRST_SEED + N_SEEDS):
            kept = arguments.work / f"{name}-{seed}.json"
            if not kept.exists():
                write_json(kept, score(name, seed))
            runs.append(json.loads(kept.read_text("utf-8")))
            results[name] = summary(runs)
            print(name, seed, results[name], flush=True)
            write_json(
                arguments.out,
                {
                    "what": "synthetic planted corpus, matched world, paper's shape: tasks never trained on, two hidden at a time",
                    "command": "python benchmarks/planted_matched_unseen.py --out results/planted-matched-unseen.json --work DIR",
                    "protocol": "planted-matched-unseen-protocol.json, committed before the first run",
                    "first_seed": FIRST_SEED,
                    "results": results,
                },
            )


if __name__ == "__main__":
    main()
