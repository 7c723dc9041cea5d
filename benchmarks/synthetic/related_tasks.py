"""Do the top-ranked related tasks help one task more than as many random ones? Synthetic corpus. Writes JSON.

python -m benchmarks.synthetic.related_tasks --out results/synthetic-related-tasks.json --work DIR

Protocol: results/protocols/synthetic-related-tasks.json. Each primary task in turn is the target. `unseen`: only related tasks are trained on;
`few_videos`: also the first videos of the target. Related tasks are ranked by shared step words, as `corpus related` does; labels are not used.
"""

import json
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
from benchmarks.scripts import arguments_of, recall_of, rounded_interval
from benchmarks.synthetic.sharing import DEFAULT, N_DIMENSIONS, SETTINGS, SHAPE

from crosstask.corpus_building.task_map import component_distances
from crosstask.evaluation.splits import Split, paper_split
from crosstask.methods.order_only import Uniform
from crosstask.methods.protocols import Method
from crosstask.methods.zhukov19 import Zhukov19
from crosstask.records import Corpus, Video
from crosstask.storage import write_json
from crosstask.synthetic import generate_corpus

N_RELATED, DRAWS, OWN_VIDEOS = 5, 2, 5

Row = dict[str, float]  # training set -> recall of the task


def ranked_for(corpus: Corpus, task: str) -> list[str]:
    """Related tasks, most similar to one task first."""
    tasks = list(corpus.tasks.values())
    distances = component_distances(tasks)[list(corpus.tasks).index(task)]
    related = [i for i, other in enumerate(tasks) if not other.primary]
    return [tasks[i].id for i in sorted(related, key=lambda i: (distances[i], tasks[i].id))]


def one_task(corpus: Corpus, split: Split, task: str, seed: int) -> dict[str, Row]:
    """Recall of one task by training set, in both designs."""
    own = [video for video in split.train if video.task == task][:OWN_VIDEOS]
    test = [video for video in split.test if video.task == task]
    ranked = ranked_for(corpus, task)
    rng = np.random.default_rng([seed, 2, int(task)])
    drawn = [sorted(rng.choice(sorted(ranked), N_RELATED, replace=False).tolist()) for _ in range(DRAWS)]

    def recall(method: Method, helpers: Sequence[str], more: Sequence[Video]) -> float:
        train = [*more, *(video for helper in sorted(helpers) for video in corpus.videos_of(helper))]
        return recall_of(corpus, method, train, test, seed)[task]

    component = Zhukov19("component", SETTINGS)
    designs = {"unseen": ([], recall(Uniform(), [], own)), "few_videos": (own, recall(component, [], own))}
    return {
        name: {
            "alone": alone,
            "top_ranked": recall(component, ranked[:N_RELATED], more),
            "random": float(np.mean([recall(component, helpers, more) for helpers in drawn])),
        }
        for name, (more, alone) in designs.items()
    }


def kept_or_scored(folder: Path, seed: int) -> dict[str, dict[str, Row]]:
    """Task -> design -> recalls on one corpus, from `folder` if they are there."""
    kept, start = folder / f"related-{seed}.json", time.process_time()
    if not kept.exists():
        corpus = generate_corpus(SHAPE, DEFAULT, seed, N_DIMENSIONS)
        split = paper_split(corpus, np.random.default_rng([seed, 0]), SHAPE.train_videos_per_task)
        write_json(kept, {task.id: one_task(corpus, split, task.id, seed) for task in corpus.primary_tasks()})
    found: dict[str, dict[str, Row]] = json.loads(kept.read_text("utf-8"))
    print(seed, f"{time.process_time() - start:.0f} s", flush=True)
    return found


def summary(rows: Sequence[Sequence[Row]]) -> dict[str, object]:
    """Means over tasks by seed, and paired differences with intervals over seeds; rows are (seeds, tasks)."""
    by_seed = {name: np.array([np.mean([row[name] for row in of_seed]) for of_seed in rows]) for name in rows[0][0]}
    better = np.mean([row["top_ranked"] > row["random"] for of_seed in rows for row in of_seed])
    return {
        "recall": {
            name: {"mean": round(float(v.mean()), 4), "by_seed": [round(float(x), 4) for x in v]} for name, v in by_seed.items()
        },
        "pairs_in_which_top_ranked_is_better": round(float(better), 3),
        "top_ranked - random": rounded_interval(by_seed["top_ranked"] - by_seed["random"]),
        "top_ranked - alone": rounded_interval(by_seed["top_ranked"] - by_seed["alone"]),
        "random - alone": rounded_interval(by_seed["random"] - by_seed["alone"]),
    }


def main() -> None:
    parser = arguments_of(__doc__)
    parser.add_argument("--work", type=Path, required=True, help="folder for finished corpora")
    parser.add_argument("--seeds", type=int, default=10)
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    found: list[dict[str, dict[str, Row]]] = []
    for seed in range(arguments.seeds):
        found.append(kept_or_scored(arguments.work, seed))
        if seed < 1:
            continue
        result = {
            "what": "synthetic corpus: step recall of one task by which related tasks are trained on; 95 % intervals over seeds",
            "command": f"python -m benchmarks.synthetic.related_tasks --out results/{arguments.out.name} --work DIR --seeds {len(found)}",
            "protocol": "protocols/synthetic-related-tasks.json, committed before the first run",
            "seeds": len(found),
            "shape": asdict(SHAPE),
            "difficulty": DEFAULT,
            "n_dimensions": N_DIMENSIONS,
            "related_tasks": N_RELATED,
            "random_draws": DRAWS,
            "own_videos": OWN_VIDEOS,
            "settings": asdict(SETTINGS),
            "unseen": summary([[row["unseen"] for row in of_corpus.values()] for of_corpus in found]),
            "few_videos": summary([[row["few_videos"] for row in of_corpus.values()] for of_corpus in found]),
        }
        write_json(arguments.out, result)


if __name__ == "__main__":
    main()
