"""Statistics of the real release and the recall of Uniform and Random, with the paper's numbers; no features are needed. Writes JSON.

CROSSTASK_DATA=DATA python -m benchmarks.real_data.release_baselines --out results/release-baselines.json
"""

import numpy as np
from benchmarks.scripts import arguments_of, data_folder

from crosstask import open_corpus
from crosstask.evaluation.evaluate import evaluate_videos
from crosstask.evaluation.paired import METRICS, summarise_method
from crosstask.evaluation.splits import paper_split
from crosstask.methods import method_named
from crosstask.metrics.statistics import overall_statistics, task_statistics, task_statistics_to_json
from crosstask.storage import write_json

PAPER = {
    "missing": 0.31,
    "background": 0.72,
    "order_consistency": 0.86,
    "uniform recall": 0.097,
    "random recall": 0.0827,
    "random map": 0.043,
}


def main() -> None:
    parser = arguments_of(__doc__)
    parser.add_argument("--runs", type=int, default=20)
    arguments = parser.parse_args()
    corpus = open_corpus(data_folder() / "crosstask")
    rows = {task.id: task_statistics(corpus, task) for task in corpus.primary_tasks()}
    found: dict[str, list[dict]] = {"uniform": [], "random": []}
    for seed in range(arguments.runs):
        split = paper_split(corpus, np.random.default_rng(seed))
        for name, results in found.items():
            scorer = method_named(name).fit(corpus, np.random.default_rng([seed, 1]))
            results.append(evaluate_videos(corpus, scorer, split.test).to_json() | {"trained_on": 0})
    result = {
        "what": "the real CrossTask release, 20 paper splits of 1,850 test videos, methods that need no features",
        "command": f"CROSSTASK_DATA=DATA python -m benchmarks.real_data.release_baselines --out results/{arguments.out.name}",
        "seeds": list(range(arguments.runs)),
        "statistics": {
            "overall": overall_statistics(list(rows.values())),
            "tasks": {task: task_statistics_to_json(row) for task, row in rows.items()},
        },
        "results": {name: summarise_method(results) for name, results in found.items()},
        "paper": PAPER,
    }
    for of in result["results"].values():
        for measure in METRICS:
            for task in of[measure]["tasks"].values():
                del task["runs"]
    write_json(arguments.out, result)
    for name, of in result["results"].items():
        print(name, {m: round(100 * of[m]["mean"], 2) for m in ("recall", "map", "f1")})


if __name__ == "__main__":
    main()
