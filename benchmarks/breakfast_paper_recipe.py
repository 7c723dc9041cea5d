"""The paper's recipe on Breakfast (real visual features, simulated windows), unseen people, 30 training videos a task. Writes JSON.

python benchmarks/breakfast_paper_recipe.py DATA/breakfast --out results/breakfast-paper-recipe.json [--published NUMBERS.json]

`--published` takes the published code's recalls on the same splits (`{"windows": [..], "no windows": [..]}`, split 0 first), measured beside
ours with the same learning rate, dropout and epochs, and adds paired differences.
"""

import argparse
import json
import logging
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from crosstask import open_corpus
from crosstask.evaluation.evaluate import evaluate
from crosstask.evaluation.paired import mean_interval
from crosstask.evaluation.splits import group_split
from crosstask.features.packed_corpus import with_packed_features
from crosstask.learning.zhukov19.alternation import AlternationSettings
from crosstask.methods.order_only import Uniform
from crosstask.methods.supervised import Supervised
from crosstask.methods.zhukov19 import Zhukov19
from crosstask.storage import write_json

SETTINGS = AlternationSettings(learning_rate=1e-3, dropout=0.3, initial_epochs=10, epochs=20)


def recalls(folder: Path, n_splits: int) -> dict[str, list[float]]:
    """Mean recall over tasks of each method on each split."""
    corpus = with_packed_features(open_corpus(folder))
    published_form = replace(SETTINGS, label_cost="linearised")
    found: dict[str, list[float]] = {}
    for seed in range(n_splits):
        split = group_split(corpus, np.random.default_rng(seed))
        train = corpus.only(split.train)
        asked = {
            "uniform": (Uniform(), train),
            "windows": (Zhukov19(settings=published_form), train),
            "no windows": (Zhukov19(settings=published_form), train.without_windows()),
            "windows, Eq. (17)": (Zhukov19(settings=SETTINGS), train),
            "no windows, Eq. (17)": (Zhukov19(settings=SETTINGS), train.without_windows()),
            "windows, no sharing": (Zhukov19("none", SETTINGS), train),
            "supervised": (Supervised(settings=SETTINGS), train),
        }
        for name, (method, videos) in asked.items():
            scorer = method.fit(videos, np.random.default_rng(seed))
            found.setdefault(name, []).append(evaluate(corpus, scorer, split.test).to_json()["recall"]["mean"])
    return found


def paired(ours: list[float], theirs: list[float]) -> dict[str, float]:
    """Mean difference in points with its 95 % interval over splits."""
    return mean_interval(100 * (np.array(ours) - np.array(theirs)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--published", type=Path)
    arguments = parser.parse_args()
    logging.disable(logging.WARNING)
    found = recalls(arguments.corpus, arguments.splits)
    result = {
        "what": "step recall, mean over 10 tasks, Breakfast, unseen people, 30 training videos a task; windows are simulated",
        "command": "python benchmarks/breakfast_paper_recipe.py DATA/breakfast --out results/breakfast-paper-recipe.json --published published.json",
        "seeds": list(range(arguments.splits)),
        "settings": asdict(SETTINGS),
        "ours": {name: {"mean": float(np.mean(values)), "splits": values} for name, values in found.items()},
    }
    if arguments.published:
        published = json.loads(arguments.published.read_text())
        result["published"] = {name: {"mean": float(np.mean(values)), "splits": values} for name, values in published.items()}
        result["ours minus published, points"] = {name: paired(found[name], published[name]) for name in published}
    write_json(arguments.out, result)
    print(json.dumps(result, indent=1))


if __name__ == "__main__":
    main()
