"""Does sharing components between tasks help on the synthetic corpus, at each difficulty? Writes JSON.

python -m benchmarks.synthetic.sharing first --out results/synthetic-sharing-first.json --work DIR
python -m benchmarks.synthetic.sharing whole --out results/synthetic-sharing.json --work DIR --seeds 10
python -m benchmarks.synthetic.sharing steps --out results/synthetic-sharing-steps.json --work DIR --seeds 28

Protocols, written before the runs: results/protocols/. `first`: half of the paper's related videos, short training. `whole`: new seeds, the paper's shape
and number of epochs. `steps`: more seeds of `whole`, only for the comparison of shared whole steps with no sharing. The negative control has the
videos of the default difficulty and permuted step names. Finished corpora are kept in DIR, so a stopped run continues.
"""

import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
from benchmarks.scripts import arguments_of, recall_of, rounded_interval

from crosstask.evaluation.splits import Split, paper_split
from crosstask.learning.zhukov19.alternation import AlternationSettings
from crosstask.methods.order_only import Uniform
from crosstask.methods.protocols import Method
from crosstask.methods.supervised import Supervised
from crosstask.methods.zhukov19 import Zhukov19
from crosstask.records import Corpus, Video
from crosstask.storage import write_json
from crosstask.synthetic import DIFFICULTIES, Shape, generate_corpus, permuted_tasks

SHAPE = Shape("half of the related videos", 18, 65, 30, 30, 0, 15)
PAPER_SHAPE = Shape("paper without validation", 18, 65, 30, 30, 0, 30)
N_DIMENSIONS = 128
SETTINGS = AlternationSettings(learning_rate=1e-3, dropout=0.3, initial_epochs=15, epochs=15)
PAPER_EPOCHS = AlternationSettings(learning_rate=3e-4, dropout=0.7, initial_epochs=30, epochs=30)
DEFAULT = "default"
CONTROL = f"{DEFAULT}, names permuted"
HIDDEN_TASKS_SEEDS = 6  # for these seeds half of the primary tasks are hidden: the even ones for even seeds
PAIRS = (("component", "step"), ("step", "none"), ("component", "none"), ("supervised", "component"))

Recalls = dict[str, float]  # task -> recall


@dataclass(frozen=True)
class Variant:
    """One of the three protocols."""

    shape: Shape
    settings: AlternationSettings
    first_seed: int
    methods: Literal["all", "step and none"] = "all"


VARIANTS = {
    "first": Variant(SHAPE, SETTINGS, 0),
    "whole": Variant(PAPER_SHAPE, PAPER_EPOCHS, 300),
    "steps": Variant(PAPER_SHAPE, PAPER_EPOCHS, 400, "step and none"),
}


def compare(corpus: Corpus, split: Split, seed: int, settings: AlternationSettings) -> dict[str, Recalls]:
    """Recalls of every method on one split with the same settings; without sharing, related tasks cannot matter and are left out."""
    primary = [video for video in split.train if corpus.task_of(video).primary]
    methods: Mapping[str, tuple[Method, Iterable[Video]]] = {
        "component": (Zhukov19("component", settings), split.train),
        "step": (Zhukov19("step", settings), split.train),
        "none": (Zhukov19("none", settings), primary),
        "supervised": (Supervised("component", SETTINGS), primary),
        "uniform": (Uniform(), primary),
    }
    return {name: recall_of(corpus, method, train, split.test, seed) for name, (method, train) in methods.items()}


def never_trained(corpus: Corpus, split: Split, seed: int) -> Recalls:
    """Recall of the component model on the primary tasks that were hidden from it."""
    hidden = {task.id for task in corpus.primary_tasks()[seed % 2 :: 2]}
    train = [video for video in split.train if video.task not in hidden]
    test = [video for video in split.test if video.task in hidden]
    return recall_of(corpus, Zhukov19("component", SETTINGS), train, test, seed)


def step_and_none(corpus: Corpus, split: Split, seed: int, settings: AlternationSettings) -> dict[str, Recalls]:
    """Recalls with shared whole steps and without sharing."""
    primary = [video for video in split.train if corpus.task_of(video).primary]
    levels = {"step": split.train, "none": primary}
    return {name: recall_of(corpus, Zhukov19(name, settings), train, split.test, seed) for name, train in levels.items()}


def score(variant: Variant, difficulty: str, seed: int) -> dict[str, dict[str, Recalls]]:
    """Recalls by difficulty and method on one corpus; for the default difficulty also on its control."""
    corpus = generate_corpus(variant.shape, difficulty, seed, N_DIMENSIONS)
    split = paper_split(corpus, np.random.default_rng([seed, 0]), variant.shape.train_videos_per_task)
    if variant.methods == "step and none":
        return {difficulty: step_and_none(corpus, split, seed, variant.settings)}
    found = {difficulty: compare(corpus, split, seed, variant.settings)}
    if seed < HIDDEN_TASKS_SEEDS:
        found[difficulty]["never trained"] = never_trained(corpus, split, seed)
    if difficulty == DEFAULT:
        control = replace(corpus, tasks=permuted_tasks(corpus.tasks, seed))
        found[CONTROL] = compare(control, split, seed, variant.settings)
    return found


def kept_or_scored(folder: Path, variant: Variant, difficulty: str, seed: int) -> dict[str, dict[str, Recalls]]:
    """The recalls on one corpus, from `folder` if they are there."""
    kept, start = folder / f"{difficulty}-{seed}.json", time.process_time()
    if not kept.exists():
        write_json(kept, score(variant, difficulty, seed))
    found: dict[str, dict[str, Recalls]] = json.loads(kept.read_text("utf-8"))
    for name, recalls in found.items():
        shown = ", ".join(f"{m} {_mean(r):.3f}" for m, r in recalls.items())
        print(f"{name}, seed {seed}: {shown} ({time.process_time() - start:.0f} s)", flush=True)
    return found


def summary(runs: list[dict[str, Recalls]]) -> dict[str, object]:
    """Means over seeds, paired gains with their intervals, and recalls of tasks that were not trained on."""
    methods = [method for method in runs[0] if method != "never trained"]
    by_seed = {m: np.array([_mean(run[m]) for run in runs]) for m in methods}
    result: dict[str, object] = {
        "recall": {
            m: {"mean": round(float(v.mean()), 4), "by_seed": [round(float(x), 4) for x in v]} for m, v in by_seed.items()
        },
        "gains": {f"{a} - {b}": rounded_interval(by_seed[a] - by_seed[b]) for a, b in PAIRS if {a, b} <= set(methods)}
        if len(runs) > 1
        else {},
    }
    hidden = [run for run in runs if "never trained" in run]
    return result | ({"never_trained": _never_trained(hidden)} if hidden else {})


def _never_trained(runs: list[dict[str, Recalls]]) -> dict[str, object]:
    """Recalls of Uniform, of the model that did not see the hidden tasks, and of the one that did; and the share of the gap that the second closes."""
    low, own, high = (
        np.array([_mean({task: run[m][task] for task in run["never trained"]}) for run in runs])
        for m in ("uniform", "never trained", "component")
    )
    return {
        "uniform": round(float(low.mean()), 4),
        "never_trained": round(float(own.mean()), 4),
        "component": round(float(high.mean()), 4),
        "share_of_the_way": round(float((own.mean() - low.mean()) / (high.mean() - low.mean())), 3),
        "seeds": len(runs),
    }


def _mean(recalls: Mapping[str, float]) -> float:
    return float(np.mean(list(recalls.values())))


def main() -> None:
    parser = arguments_of(__doc__)
    parser.add_argument("variant", choices=sorted(VARIANTS))
    parser.add_argument("--work", type=Path, required=True, help="folder for finished corpora")
    parser.add_argument("--seeds", type=int, default=12)
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    variant = VARIANTS[arguments.variant]
    difficulties = (DEFAULT, *(name for name in DIFFICULTIES if name not in (DEFAULT, "easy")))
    runs: dict[str, list[dict[str, Recalls]]] = {name: [] for name in (*difficulties, CONTROL)}
    result = {
        "what": "synthetic corpus: step recall by level of sharing; 95 % intervals of paired differences over seeds",
        "command": f"python -m benchmarks.synthetic.sharing {arguments.variant} --out results/{arguments.out.name} --work DIR"
        f" --seeds {arguments.seeds}",
        "protocol": f"protocols/synthetic-sharing-{arguments.variant}.json, committed before the first run",
        "shape": asdict(variant.shape),
        "n_dimensions": N_DIMENSIONS,
        "settings": asdict(variant.settings),
        "first_seed": variant.first_seed,
    }
    for number in range(arguments.seeds):
        for difficulty in difficulties:
            for name, recalls in kept_or_scored(arguments.work, variant, difficulty, variant.first_seed + number).items():
                runs[name].append(recalls)
        results = {name: summary(of) for name, of in runs.items() if of}
        write_json(arguments.out, result | {"seeds": number + 1, "results": results})


if __name__ == "__main__":
    main()
