"""What the third planted world was set from: how the release's step lists share words, where real windows lie, full supervision. Writes JSON.

CROSSTASK_DATA=DATA python benchmarks/planted_matched_measures.py --out results/planted-matched-measures.json

Windows of real transcripts are those on record in results/planted-window-counting.json and results/planted-measures.json. Nothing here looks at
a weakly supervised method; seeds are none of those scored.
"""

import argparse
import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import fmean

import numpy as np
from planted_matched_sharing import DEFAULT, N_DIMENSIONS, SHAPE
from planted_sharing import SETTINGS, recall_of
from planted_window_counting import counted
from planted_window_measures import window_measures

from crosstask.corpus_building.task_map import component_distances
from crosstask.datasets import open_corpus
from crosstask.evaluation.splits import paper_split
from crosstask.methods.order_only import Uniform
from crosstask.methods.supervised import Supervised
from crosstask.records import Task
from crosstask.storage import write_json
from crosstask.synthetic import MATCHED, Shape, generate_corpus, generate_without_features
from crosstask.text import stems_of_step

SEEDS = (1000, 1001, 1002)
LISTS = Shape("lists", 18, 65, 1, 0, 0, 1)
ONLY_PRIMARY = Shape("matched, primary", 18, 0, SHAPE.train_videos_per_task, SHAPE.test_videos_per_task, 0, 0)


def sharing_of(tasks: Sequence[Task]) -> dict[str, float]:
    """How tasks share words and whole steps."""
    words = {task.id: [set(stems_of_step(step)) for step in task.steps] for task in tasks}
    in_tasks = Counter(word for steps in words.values() for word in set().union(*steps))
    names = Counter(name for task in tasks for name in {step.lower() for step in task.steps})
    primary, related = ([task for task in tasks if task.primary == kind] for kind in (True, False))

    def over_steps(of: Sequence[Task], figure: Callable[[set[str]], float]) -> float:
        return fmean(figure(step) for task in of for step in words[task.id])

    nearest = np.sort(1 - component_distances([*primary, *related])[: len(primary), len(primary) :], axis=1)
    return {
        "components": len(in_tasks),
        "tasks a component": fmean(in_tasks.values()),
        "words a step": over_steps(tasks, len),
        "primary steps whose name is another task's too": fmean(names[s.lower()] > 1 for t in primary for s in t.steps),
        "related steps whose name is another task's too": fmean(names[s.lower()] > 1 for t in related for s in t.steps),
        "other tasks with the name of a primary step": fmean(names[s.lower()] - 1 for t in primary for s in t.steps),
        "other tasks with a word of a primary step": over_steps(primary, lambda step: fmean(in_tasks[w] - 1 for w in step)),
        "words of primary steps in another task": over_steps(primary, lambda step: fmean(in_tasks[w] > 1 for w in step)),
        "primary steps with no word in another task": over_steps(primary, lambda step: all(in_tasks[w] == 1 for w in step)),
        "likeness of a primary task to its nearest related one": float(nearest[:, -1].mean()),
        "likeness of a primary task to a related one": float(nearest.mean()),
    }


def windows_of(name: str, seed: int) -> dict[str, float]:
    """Where the windows of a planted world lie."""
    planted = generate_without_features(ONLY_PRIMARY, name, seed)
    return counted(planted, planted.windows) | window_measures(planted, planted.windows)


def bounds(name: str) -> dict[str, list[float]]:
    """Uniform and full supervision by seed, at the shape, width and settings of the scoring; related tasks matter to neither."""
    found: dict[str, list[float]] = {"uniform": [], "supervised": []}
    for seed in SEEDS:
        corpus = generate_corpus(ONLY_PRIMARY, name, seed, N_DIMENSIONS)
        split = paper_split(corpus, np.random.default_rng([seed, 0]), SHAPE.train_videos_per_task)
        for method, of in (("uniform", Uniform()), ("supervised", Supervised("component", SETTINGS))):
            found[method].append(round(fmean(recall_of(corpus, of, split.train, split.test, seed).values()), 4))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    real = open_corpus(Path(os.environ["CROSSTASK_DATA"]) / "crosstask")
    lists = {
        "release": real,
        "planted, first two worlds": generate_without_features(LISTS, "measured-default"),
        "planted, matched world": generate_without_features(LISTS, DEFAULT),
    }
    result = {
        "what": "the third planted world (synthetic) beside what it was set from; no weakly supervised method was looked at",
        "command": f"CROSSTASK_DATA=DATA python benchmarks/planted_matched_measures.py --out results/{arguments.out.name}",
        "seeds": list(SEEDS),
        "step_lists": {
            name: {figure: round(value, 4) for figure, value in sharing_of(list(corpus.tasks.values())).items()}
            for name, corpus in lists.items()
        },
        "windows": windows_of(DEFAULT, SEEDS[0]),
        "bounds": bounds(DEFAULT),
        "paper": {"uniform": 0.097, "supervised": 0.316},
        "shape": asdict(SHAPE),
        "n_dimensions": N_DIMENSIONS,
        "difficulties": {name: asdict(difficulty) for name, difficulty in MATCHED.items()},
    }
    write_json(arguments.out, result)


if __name__ == "__main__":
    main()
