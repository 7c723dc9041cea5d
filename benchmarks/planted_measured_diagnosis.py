"""What holds weak supervision back on the measured planted world: looked at after its scoring; one world, so no evidence for an ordering. Writes JSON.

python benchmarks/planted_measured_diagnosis.py --out results/planted-measured-diagnosis.json
"""

import argparse
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import numpy as np
from planted_sharing import N_DIMENSIONS, SETTINGS, SHAPE, recall_of

from crosstask.evaluation.splits import paper_split
from crosstask.methods.order_only import Uniform
from crosstask.methods.supervised import Supervised
from crosstask.methods.zhukov19 import Zhukov19
from crosstask.records import Corpus
from crosstask.storage import write_json
from crosstask.synthetic import MEASURED, MeasuredDifficulty, generate_corpus

SEED = 1001
DEFAULT = MEASURED["measured-default"]
OTHER_WORLDS: Mapping[str, MeasuredDifficulty] = {
    "as it is": DEFAULT,
    "every related video relevant": replace(DEFAULT, irrelevant_related=0.0),
    "no objects lying about": replace(DEFAULT, lying_share=0.0),
    "one look for all videos": replace(DEFAULT, video_look=0.0),
    "windows: one in five outside": replace(DEFAULT, outside=0.2),
}


def levels(corpus: Corpus) -> dict[str, float]:
    """Recall by level of sharing, with the bounds."""
    split = paper_split(corpus, np.random.default_rng([SEED, 0]), SHAPE.train_videos_per_task)
    primary = [video for video in split.train if corpus.task_of(video).primary]
    runs = {
        "component": (Zhukov19("component", SETTINGS), split.train),
        "none": (Zhukov19("none", SETTINGS), primary),
        "supervised": (Supervised("component", SETTINGS), primary),
        "supervised, none": (Supervised("none", SETTINGS), primary),
        "uniform": (Uniform(), primary),
    }
    return {name: round(fmean(recall_of(corpus, m, v, split.test, SEED).values()), 4) for name, (m, v) in runs.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    result: dict[str, object] = {
        "what": "synthetic planted corpus, measured world, one seed: a diagnosis after the scoring, no evidence for an ordering of methods",
        "command": f"python benchmarks/planted_measured_diagnosis.py --out results/{arguments.out.name}",
        "seed": SEED,
    }
    for name, difficulty in OTHER_WORLDS.items():
        result[name] = levels(generate_corpus(SHAPE, difficulty, SEED, N_DIMENSIONS))
        print(name, result[name], flush=True)
        write_json(arguments.out, result)


if __name__ == "__main__":
    main()
