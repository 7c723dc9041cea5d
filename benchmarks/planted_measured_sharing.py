"""The measured planted world scored once, by the protocol in results/planted-measured-protocol.json. Writes JSON.

python benchmarks/planted_measured_sharing.py --out results/planted-measured-sharing.json

As planted_sharing.py on the first world, with the same shape, width and training settings; besides: the best recipe, and tasks never
trained on at every difficulty, half of the primary tasks hidden at a time. What is done is kept, so a stopped run goes on.
"""

import argparse
import json
import logging
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import numpy as np
import planted_sharing as first
from planted_sharing import N_DIMENSIONS, SETTINGS, SHAPE, Recalls, compare, interval, recall_of

from crosstask.evaluation.splits import Split, paper_split
from crosstask.methods.hmm import HiddenMarkovModel
from crosstask.methods.zhukov19 import Zhukov19
from crosstask.records import Corpus
from crosstask.storage import write_json
from crosstask.synthetic import MEASURED, generate_corpus, generate_with_permuted_names

CONTROL = "measured-default, names permuted"
PAIRS = (*first.PAIRS, ("best", "component"))
SEEDS = range(5)


def never_trained(corpus: Corpus, split: Split, seed: int) -> Recalls:
    """Recall of the component model on primary tasks whose videos it never saw, every second task hidden."""
    recalls: Recalls = {}
    ids = [task.id for task in corpus.primary_tasks()]
    for hidden in (set(ids[::2]), set(ids[1::2])):
        train = [video for video in split.train if video.task not in hidden]
        test = [video for video in split.test if video.task in hidden]
        recalls |= recall_of(corpus, Zhukov19("component", SETTINGS), train, test, seed)
    return recalls


def world(name: str, seed: int) -> tuple[Corpus, Split]:
    """A world and its split."""
    make, difficulty = (generate_with_permuted_names, "measured-default") if name == CONTROL else (generate_corpus, name)
    corpus = make(SHAPE, difficulty, seed, N_DIMENSIONS)
    return corpus, paper_split(corpus, np.random.default_rng([seed, 0]), SHAPE.train_videos_per_task)


def score(name: str, seed: int) -> dict[str, Recalls]:
    """Every method but the best recipe on one world."""
    corpus, split = world(name, seed)
    recalls = compare(corpus, split, seed)
    return recalls if name == CONTROL else recalls | {"never trained": never_trained(corpus, split, seed)}


def score_best(name: str, seed: int) -> dict[str, Recalls]:
    """The best recipe on one world."""
    corpus, split = world(name, seed)
    return {"best": recall_of(corpus, HiddenMarkovModel(), split.train, split.test, seed)}


def summary(runs: list[dict[str, Recalls]]) -> dict[str, object]:
    """Means over seeds, paired gains with their intervals, shares of the way and of the gap; the best recipe on the seeds it has."""
    by_seed = {
        m: {i: float(np.mean(list(run[m].values()))) for i, run in enumerate(runs) if m in run} for run in runs for m in run
    }
    mean = {m: float(np.mean(list(values.values()))) for m, values in by_seed.items()}
    result: dict[str, object] = {
        "recall": {
            m: {"mean": round(mean[m], 4), "by_seed": [round(v, 4) for v in values.values()]} for m, values in by_seed.items()
        },
        "gap_closed": {m: _gap_closed(by_seed, m) for m in ("component", "step", "none", "best") if m in mean},
        "gains": {},
    }
    for a, b in PAIRS:
        both = [i for i in by_seed.get(a, {}) if i in by_seed[b]]
        if len(both) > 1:
            result["gains"] |= {f"{a} - {b}": interval(np.array([by_seed[a][i] - by_seed[b][i] for i in both]))}  # type: ignore[operator]
    if "never trained" in mean:
        way = (mean["never trained"] - mean["uniform"]) / (mean["component"] - mean["uniform"])
        result["share_of_the_way_when_never_trained"] = round(way, 3)
    return result


def _gap_closed(by_seed: Mapping[str, Mapping[int, float]], method: str) -> float:
    """Share of the way from Uniform to supervised, over the seeds the method has."""
    low, high, own = (np.mean([by_seed[m][i] for i in by_seed[method]]) for m in ("uniform", "supervised", method))
    return round(float((own - low) / (high - low)), 3)


def kept_or_scored(folder: Path, name: str, seed: int, phase: str) -> dict[str, Recalls]:
    """What was found on a world, now or before."""
    kept, start = folder / f"{phase}-{name}-{seed}.json", time.perf_counter()
    if not kept.exists():
        write_json(kept, (score_best if phase == "best" else score)(name, seed))
    found: dict[str, Recalls] = json.loads(kept.read_text("utf-8"))
    shown = ", ".join(f"{m} {np.mean(list(r.values())):.3f}" for m, r in found.items())
    print(f"{name}, seed {seed}: {shown} ({time.perf_counter() - start:.0f} s)", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True, help="folder for what is done so far")
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.ERROR)
    arguments.work.mkdir(parents=True, exist_ok=True)
    names = ("measured-default", CONTROL, *(name for name in MEASURED if name != "measured-default"))
    runs: dict[str, list[dict[str, Recalls]]] = {name: [] for name in names}
    result = {
        "what": "synthetic planted corpus, measured world: step recall by level of sharing; 95 % intervals of paired differences over seeds",
        "command": f"python benchmarks/planted_measured_sharing.py --out results/{arguments.out.name} --work DIR",
        "protocol": "planted-measured-protocol.json, committed before the first run",
        "shape": asdict(SHAPE),
        "n_dimensions": N_DIMENSIONS,
        "settings": asdict(SETTINGS),
    }
    for seed in SEEDS:
        for name in names:
            runs[name].append(kept_or_scored(arguments.work, name, seed, "sharing"))
        write_json(arguments.out, result | {"seeds": seed + 1, "results": {name: summary(runs[name]) for name in names}})
    for seed in SEEDS:
        for name in MEASURED:
            runs[name][seed] |= kept_or_scored(arguments.work, name, seed, "best")
            write_json(arguments.out, result | {"seeds": len(SEEDS), "results": {name: summary(runs[name]) for name in names}})


if __name__ == "__main__":
    main()
