"""Do the related tasks that rank first help more than as many drawn at random? Synthetic planted worlds, paired over seeds. Writes JSON.

python benchmarks/related_beat_random.py --out results/related-beat-random.json
python benchmarks/related_beat_random.py --unseen --out results/related-beat-random-unseen.json

Each seed draws a new world. Trained on the primary tasks alone, with the N related tasks nearest to them by shared step words, and with N drawn
at random; the mean over DRAWS draws stands for random. Settings were fixed before the first run.

`--unseen` asks it for tasks that have no training videos at all: the N related tasks are the whole training set, so that all that is known of a primary
task comes from them (the paper's transfer figure). The recipe is the default one, the world the same; fixed before its first run, which
came after the first question had found no difference.
"""

import argparse
import time
from dataclasses import asdict
from pathlib import Path

import numpy as np

from crosstask.corpus_building.task_map import component_distances
from crosstask.evaluation.evaluate import evaluate
from crosstask.evaluation.paired import mean_interval
from crosstask.learning.zhukov19.alternation import AlternationSettings
from crosstask.methods.hmm import HiddenMarkovModel
from crosstask.methods.order_only import Uniform
from crosstask.methods.zhukov19 import Zhukov19
from crosstask.records import Corpus
from crosstask.storage import write_json
from crosstask.synthetic import Shape, generate_corpus

SHAPE = Shape("related", 6, 48, 8, 12, 0, 15)
N_RELATED, DRAWS, N_DIMENSIONS, DIFFICULTY = 8, 2, 64, "clear"
SETTINGS = AlternationSettings(learning_rate=1e-3, dropout=0.3, initial_epochs=10, epochs=10)


def ranked_related(corpus: Corpus) -> list[str]:
    """Related tasks, nearest first: each primary task names its nearest in turn."""
    tasks = list(corpus.tasks.values())
    distances = component_distances(tasks)
    primary = [i for i, task in enumerate(tasks) if task.primary]
    related = [i for i, task in enumerate(tasks) if not task.primary]
    queues = [sorted(related, key=lambda j, i=i: (distances[i, j], tasks[j].id)) for i in primary]
    turns = [queue[rank] for rank in range(len(related)) for queue in queues]
    return [tasks[j].id for j in dict.fromkeys(turns)]


def recall_from(corpus: Corpus, helpers: list[str], seed: int) -> float:
    """Mean recall of the primary tasks when these related tasks alone train, by the default recipe."""
    train = [video for task in helpers for video in corpus.videos_of(task)]
    test = [video for task in corpus.primary_tasks() for video in corpus.videos_of(task.id)]
    scorer = HiddenMarkovModel().fit(corpus.only_tasks(set(helpers)).only(train), np.random.default_rng([seed, 1]))
    return float(np.mean(list(evaluate(corpus, scorer, test).recall.by_task().values())))


def uniform_recall(corpus: Corpus) -> float:
    """Mean recall of the primary tasks when each step is put at its even share."""
    test = [video for task in corpus.primary_tasks() for video in corpus.videos_of(task.id)]
    return float(np.mean(list(evaluate(corpus, Uniform().fit(corpus, np.random.default_rng(0)), test).recall.by_task().values())))


def recall_with(corpus: Corpus, helpers: list[str], seed: int) -> float:
    """Mean recall of the primary tasks when these related tasks train as well."""
    primary = [task.id for task in corpus.primary_tasks()]
    train, test = [], []
    for task in primary:
        videos = corpus.videos_of(task)
        train += videos[: SHAPE.train_videos_per_task]
        test += videos[SHAPE.train_videos_per_task :]
    train += [video for task in helpers for video in corpus.videos_of(task)]
    seen = corpus.only_tasks({*primary, *helpers}).only(train)
    scorer = Zhukov19("component", SETTINGS).fit(seen, np.random.default_rng([seed, 1]))
    return float(np.mean(list(evaluate(corpus, scorer, test).recall.by_task().values())))


def one_world(seed: int, unseen: bool) -> dict[str, float]:
    """Recall in one world: without related tasks, with the top-ranked, with random ones."""
    corpus = generate_corpus(SHAPE, DIFFICULTY, seed, N_DIMENSIONS)
    ranked = ranked_related(corpus)
    rng = np.random.default_rng([seed, 2])
    drawn = [sorted(rng.choice(sorted(ranked), N_RELATED, replace=False).tolist()) for _ in range(DRAWS)]
    recall = recall_from if unseen else recall_with
    return {
        "alone": uniform_recall(corpus) if unseen else recall_with(corpus, [], seed),
        "top_ranked": recall(corpus, ranked[:N_RELATED], seed),
        "random": float(np.mean([recall(corpus, helpers, seed) for helpers in drawn])),
    }


def interval(differences: np.ndarray) -> dict[str, float]:
    """Mean of paired differences, and its 95 % interval by Student's t."""
    return {name: round(value, 4) for name, value in mean_interval(differences).items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--unseen", action="store_true", help="the related tasks alone train; `alone` is then Uniform")
    arguments = parser.parse_args()
    rows: list[dict[str, float]] = []
    for seed in range(arguments.seeds):
        start = time.perf_counter()
        rows.append(one_world(seed, arguments.unseen))
        print(seed, rows[-1], f"{time.perf_counter() - start:.0f} s", flush=True)
        if seed < 2:
            continue
        table = {name: np.array([row[name] for row in rows]) for name in rows[0]}
        result = {
            "what": "synthetic planted worlds: step recall of primary tasks by which related tasks train too; paired 95 % intervals",
            "command": f"python benchmarks/related_beat_random.py {'--unseen ' * arguments.unseen}--out results/{arguments.out.name} --seeds {len(rows)}",
            "seeds": list(range(len(rows))),
            "shape": asdict(SHAPE),
            "difficulty": DIFFICULTY,
            "n_dimensions": N_DIMENSIONS,
            "related_tasks": N_RELATED,
            "random_draws": DRAWS,
            "settings": "best" if arguments.unseen else asdict(SETTINGS),
            "recall": {
                name: {"mean": round(float(v.mean()), 4), "by_seed": [round(float(x), 4) for x in v]} for name, v in table.items()
            },
            "top_ranked - random": interval(table["top_ranked"] - table["random"]),
            "top_ranked - alone": interval(table["top_ranked"] - table["alone"]),
            "random - alone": interval(table["random"] - table["alone"]),
        }
        write_json(arguments.out, result)


if __name__ == "__main__":
    main()
