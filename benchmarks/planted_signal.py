"""How much the planted features tell, and what holds weak supervision back on them; single seeds, for diagnosis; writes JSON.

python benchmarks/planted_signal.py --out results/planted-signal.json

First part: full supervision, the only fit that was looked at before the defaults were frozen. Second part: looked at after the freeze and
after the first scoring, to explain it; one world each, so no intervals: nothing here is evidence for an ordering of methods.
"""

import argparse
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from crosstask.evaluation.evaluate import evaluate
from crosstask.evaluation.splits import Split, paper_split
from crosstask.learning.zhukov19.alternation import AlternationSettings
from crosstask.methods.order_only import Uniform
from crosstask.methods.protocols import Method
from crosstask.methods.supervised import Supervised
from crosstask.methods.zhukov19 import Zhukov19
from crosstask.records import Corpus
from crosstask.storage import write_json
from crosstask.synthetic import DIFFICULTIES, Shape, generate_corpus

SIGNAL_SHAPE, SIGNAL_SEED = Shape("signal", 10, 0, 30, 20, 0, 0), 99
SUPERVISED = AlternationSettings(learning_rate=1e-3, dropout=0.3, initial_epochs=0, epochs=30)
WEAK_SHAPE, PAPER_SHAPE, WEAK_SEED = Shape("sharing", 10, 30, 30, 20, 0, 30), Shape("paper", 18, 65, 30, 30, 0, 30), 1000
WEAK = AlternationSettings(learning_rate=1e-3, dropout=0.3, initial_epochs=15, epochs=15)
WEAK_AT_512 = replace(WEAK, learning_rate=5e-4)


def recall(corpus: Corpus, split: Split, method: Method, trained: Corpus, seed: int) -> float:
    scorer = method.fit(trained, np.random.default_rng([seed, 1]))
    return round(evaluate(corpus, scorer, split.test).to_json()["recall"]["mean"], 4)


def drawn(shape: Shape, difficulty: str, seed: int, n_dimensions: int) -> tuple[Corpus, Split, Corpus, Corpus]:
    """A corpus, its split, all training videos, and those of primary tasks."""
    corpus = generate_corpus(shape, difficulty, seed, n_dimensions)
    split = paper_split(corpus, np.random.default_rng([seed, 0]), shape.train_videos_per_task)
    primary = [video for video in split.train if corpus.task_of(video).primary]
    return corpus, split, corpus.only(split.train), corpus.only_tasks(t.id for t in corpus.primary_tasks()).only(primary)


def supervised(difficulty: str, n_dimensions: int) -> dict[str, float]:
    corpus, split, _, primary = drawn(SIGNAL_SHAPE, difficulty, SIGNAL_SEED, n_dimensions)
    methods: dict[str, Method] = {"supervised": Supervised("component", SUPERVISED), "uniform": Uniform()}
    return {name: recall(corpus, split, method, primary, SIGNAL_SEED) for name, method in methods.items()}


def by_windows() -> dict[str, float]:
    """Without sharing, D = 128: the planted windows, none, and the truth as windows."""
    corpus, split, _, primary = drawn(WEAK_SHAPE, "default", WEAK_SEED, 128)
    kinds = {"planted": primary, "none": primary.without_windows(), "truth": replace(primary, windows=corpus.annotations)}
    return {name: recall(corpus, split, Zhukov19("none", WEAK), trained, WEAK_SEED) for name, trained in kinds.items()}


def at_paper_shape() -> dict[str, float]:
    """The levels of sharing on all 83 tasks at D = 512."""
    corpus, split, everything, primary = drawn(PAPER_SHAPE, "default", WEAK_SEED, 512)
    runs: dict[str, tuple[Method, Corpus]] = {
        "component": (Zhukov19("component", WEAK_AT_512), everything),
        "step": (Zhukov19("step", WEAK_AT_512), everything),
        "none": (Zhukov19("none", WEAK_AT_512), primary),
        "supervised": (Supervised("component", WEAK_AT_512), primary),
        "uniform": (Uniform(), primary),
    }
    return {name: recall(corpus, split, method, trained, WEAK_SEED) for name, (method, trained) in runs.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    result: dict[str, object] = {
        "what": "synthetic planted corpus, step recall, one seed each: full supervision; and, after the freeze, a diagnosis of the first scoring",
        "command": f"python benchmarks/planted_signal.py --out results/{arguments.out.name}",
        "seeds": {"supervised": SIGNAL_SEED, "diagnosis": WEAK_SEED},
        "settings": {"supervised": asdict(SUPERVISED), "weak": asdict(WEAK), "weak_at_512": asdict(WEAK_AT_512)},
        "supervised_at_128_columns": {name: supervised(name, 128) for name in DIFFICULTIES},
        "supervised_by_columns": {str(n): supervised("default", n) for n in (64, 128, 512)},
        "diagnosis_no_sharing_by_windows": by_windows(),
    }
    write_json(arguments.out, result)
    write_json(arguments.out, result | {"diagnosis_paper_shape_512_columns": at_paper_shape()})


if __name__ == "__main__":
    main()
