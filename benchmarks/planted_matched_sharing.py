"""The third planted world scored once, by the protocol in results/planted-matched-protocol.json. Writes JSON.

python benchmarks/planted_matched_sharing.py --out results/planted-matched-sharing.json --work DIR

With `--tuned`, the second look by results/planted-matched-tuned-protocol.json: fresh worlds, and each level of sharing by what validation chose for it.
With `--whole`, the third by results/planted-matched-whole-protocol.json: fresh worlds of the paper's whole shape, one setting for all levels.
With `--steps`, the fourth by results/planted-matched-steps-protocol.json: more such worlds, for the smallest of the gains alone, whole steps over none.

As planted_measured_sharing.py on the second world, at the paper's 18 + 65 tasks. The control has the very videos of the default setting, so they
are drawn once. What is done is kept, world by world, so a stopped run goes on.
"""

import argparse
import json
import logging
import time
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
from planted_sharing import PAIRS, SETTINGS, Recalls, compare, interval, recall_of

from crosstask.evaluation.splits import Split, paper_split
from crosstask.learning.zhukov19.alternation import AlternationSettings
from crosstask.methods.zhukov19 import Zhukov19
from crosstask.records import Corpus
from crosstask.storage import write_json
from crosstask.synthetic import MATCHED, Shape, generate_corpus
from crosstask.synthetic.random_streams import generator
from crosstask.synthetic.step_lists import permute_names

SHAPE = Shape("matched", 18, 65, 30, 30, 0, 15)
N_DIMENSIONS = 128
DEFAULT = "matched-default"
CONTROL = f"{DEFAULT}, names permuted"
# What `crosstask experiment sharing planted:paper:matched-default:0:128 --tune` chose on the validation videos of world 1000.
TUNED = {
    "component": AlternationSettings(learning_rate=3e-4, dropout=0.7, initial_epochs=30, epochs=30),
    "step": AlternationSettings(learning_rate=1e-4, dropout=0.7, initial_epochs=30, epochs=30),
    "none": AlternationSettings(learning_rate=1e-3, dropout=0.3, initial_epochs=30, epochs=30),
}
FIRST_FRESH_SEED = 100
WHOLE = Shape("paper without validation", 18, 65, 30, 30, 0, 30)
ONE_FOR_ALL = dict.fromkeys(
    ("component", "step", "none"), AlternationSettings(learning_rate=3e-4, dropout=0.7, initial_epochs=30, epochs=30)
)
NEVER_TRAINED_SEEDS = 6  # on these seeds half of the primary tasks are hidden, the even ones on even seeds

Worlds = dict[str, dict[str, Recalls]]  # setting -> method -> task -> recall


def control_of(corpus: Corpus, seed: int) -> Corpus:
    """The negative control over the same videos: as `generate_with_permuted_names`, without drawing them again."""
    dealt = permute_names(tuple(corpus.tasks.values()), generator(seed, "permuted names"))
    return replace(corpus, tasks={task.id: task for task in dealt})


def never_trained(corpus: Corpus, split: Split, seed: int, settings: AlternationSettings) -> Recalls:
    """Recall of the component model on the primary tasks whose videos it never saw."""
    hidden = {task.id for task in corpus.primary_tasks()[seed % 2 :: 2]}
    train = [video for video in split.train if video.task not in hidden]
    test = [video for video in split.test if video.task in hidden]
    return recall_of(corpus, Zhukov19("component", settings), train, test, seed)


def step_and_none(corpus: Corpus, split: Split, seed: int) -> dict[str, Recalls]:
    """Whole steps shared, and nothing shared, on one split; the rest of the methods is in the looks before."""
    primary = [video for video in split.train if corpus.task_of(video).primary]
    levels = {"step": split.train, "none": primary}
    return {name: recall_of(corpus, Zhukov19(name, ONE_FOR_ALL[name]), train, split.test, seed) for name, train in levels.items()}


def score(look: str, name: str, seed: int, tuned: Mapping[str, AlternationSettings], shape: Shape) -> Worlds:
    """Every method in one world; with the default setting also its control."""
    corpus = generate_corpus(shape, name, seed, N_DIMENSIONS)
    split = paper_split(corpus, np.random.default_rng([seed, 0]), SHAPE.train_videos_per_task)
    if look == "steps":
        return {name: step_and_none(corpus, split, seed)}
    found = {name: compare(corpus, split, seed, tuned)}
    if seed % FIRST_FRESH_SEED < NEVER_TRAINED_SEEDS and shape == SHAPE:
        found[name]["never trained"] = never_trained(corpus, split, seed, tuned.get("component", SETTINGS))
    if name == DEFAULT:
        found[CONTROL] = compare(control_of(corpus, seed), split, seed, tuned)
    return found


def kept_or_scored(
    folder: Path, look: str, name: str, seed: int, tuned: Mapping[str, AlternationSettings], shape: Shape
) -> Worlds:
    """What was found in a world, now or before."""
    kept, start = folder / f"{name}-{seed}.json", time.process_time()
    if not kept.exists():
        write_json(kept, score(look, name, seed, tuned, shape))
    found: Worlds = json.loads(kept.read_text("utf-8"))
    for setting, recalls in found.items():
        shown = ", ".join(f"{m} {np.mean(list(r.values())):.3f}" for m, r in recalls.items())
        print(f"{setting}, seed {seed}: {shown} ({time.process_time() - start:.0f} s)", flush=True)
    return found


def summary(runs: list[dict[str, Recalls]]) -> dict[str, object]:
    """Means over seeds, paired gains with their intervals, and the way to tasks never trained on."""
    methods = [method for method in runs[0] if method != "never trained"]
    by_seed = {m: np.array([_mean(run[m]) for run in runs]) for m in methods}
    result: dict[str, object] = {
        "recall": {
            m: {"mean": round(float(v.mean()), 4), "by_seed": [round(float(x), 4) for x in v]} for m, v in by_seed.items()
        },
        "gains": {f"{a} - {b}": interval(by_seed[a] - by_seed[b]) for a, b in PAIRS if {a, b} <= set(methods)}
        if len(runs) > 1
        else {},
    }
    hidden = [run for run in runs if "never trained" in run]
    return result | ({"never_trained": _never_trained(hidden)} if hidden else {})


def _never_trained(runs: list[dict[str, Recalls]]) -> dict[str, object]:
    """Uniform, never trained and trained over the same hidden tasks, and the share of the way from the first to the last."""
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
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True, help="folder for what is done so far")
    parser.add_argument("--seeds", type=int, default=12)
    parser.add_argument("--tuned", action="store_true", help="the second look: fresh worlds, settings by validation")
    parser.add_argument(
        "--whole", action="store_true", help="the third look: the paper's whole shape, one setting for all levels"
    )
    parser.add_argument("--steps", action="store_true", help="the fourth look: whole steps over none in more worlds of the third")
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.ERROR)
    arguments.work.mkdir(parents=True, exist_ok=True)
    settings = (DEFAULT, *(name for name in MATCHED if name != DEFAULT))
    runs: dict[str, list[dict[str, Recalls]]] = {name: [] for name in (*settings, CONTROL)}
    look, tuned, first_seed, shape = "", {}, 0, SHAPE
    if arguments.tuned:
        look, tuned, first_seed = "tuned", TUNED, FIRST_FRESH_SEED
    if arguments.whole:
        look, tuned, first_seed, shape = "whole", ONE_FOR_ALL, 300, WHOLE
    if arguments.steps:
        look, tuned, first_seed, shape = "steps", ONE_FOR_ALL, 400, WHOLE
    result = {
        "what": "synthetic planted corpus, matched world: step recall by level of sharing; 95 % intervals of paired differences over seeds",
        "command": f"python benchmarks/planted_matched_sharing.py --out results/{arguments.out.name} --work DIR"
        f" --seeds {arguments.seeds}{f' --{look}' if look else ''}",
        "protocol": f"planted-matched-{f'{look}-' if look else ''}protocol.json, committed before the first run",
        "shape": asdict(shape),
        "n_dimensions": N_DIMENSIONS,
        "settings": {name: asdict(own) for name, own in tuned.items()} or asdict(SETTINGS),
        "first_seed": first_seed,
    }
    for number in range(arguments.seeds):
        for name in settings:
            for setting, recalls in kept_or_scored(arguments.work, look, name, first_seed + number, tuned, shape).items():
                runs[setting].append(recalls)
        write_json(
            arguments.out, result | {"seeds": number + 1, "results": {name: summary(runs[name]) for name in runs if runs[name]}}
        )


if __name__ == "__main__":
    main()
