"""The method of Zhukov et al. (2019) on Breakfast (real visual features, simulated windows), unseen people, 30 training videos a task. Writes JSON.

python -m benchmarks.real_data.breakfast_zhukov19 DATA/breakfast --out results/breakfast-zhukov19.json [--published NUMBERS.json]

`--published` takes the published code's recalls on the same splits (`{"windows": [..], "no windows": [..]}`, split 0 first), measured with
ours with the same learning rate, dropout and epochs, and adds paired differences.
"""

import json
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
from benchmarks.scripts import arguments_of, paired_points, write_result

from crosstask import open_corpus
from crosstask.evaluation.evaluate import evaluate_videos
from crosstask.evaluation.splits import group_split
from crosstask.features.packed_corpus import with_packed_features
from crosstask.learning.zhukov19.alternation import AlternationSettings
from crosstask.methods.order_only import Uniform
from crosstask.methods.supervised import Supervised
from crosstask.methods.zhukov19 import Zhukov19

SETTINGS = AlternationSettings(learning_rate=1e-3, dropout=0.3, initial_epochs=10, epochs=20)


def recalls(folder: Path, n_splits: int) -> dict[str, list[float]]:
    """Mean recall over tasks of each method on each split."""
    corpus = with_packed_features(open_corpus(folder))
    published_form = replace(SETTINGS, label_cost="linearised")
    found: dict[str, list[float]] = {}
    for seed in range(n_splits):
        split = group_split(corpus, np.random.default_rng(seed))
        train = corpus.only(split.train)
        methods = {
            "uniform": (Uniform(), train),
            "windows": (Zhukov19(settings=published_form), train),
            "no windows": (Zhukov19(settings=published_form), train.without_windows()),
            "windows, Eq. (17)": (Zhukov19(settings=SETTINGS), train),
            "no windows, Eq. (17)": (Zhukov19(settings=SETTINGS), train.without_windows()),
            "windows, no sharing": (Zhukov19("none", SETTINGS), train),
            "supervised": (Supervised(settings=SETTINGS), train),
        }
        for name, (method, videos) in methods.items():
            scorer = method.fit(videos, np.random.default_rng(seed))
            found.setdefault(name, []).append(evaluate_videos(corpus, scorer, split.test).to_json()["recall"]["mean"])
    return found


def main() -> None:
    parser = arguments_of(__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--published", type=Path)
    arguments = parser.parse_args()
    found = recalls(arguments.corpus, arguments.splits)
    result = {
        "what": "step recall, mean over 10 tasks, Breakfast, unseen people, 30 training videos a task; windows are simulated",
        "command": "python -m benchmarks.real_data.breakfast_zhukov19 DATA/breakfast --out results/breakfast-zhukov19.json --published published.json",
        "seeds": list(range(arguments.splits)),
        "settings": asdict(SETTINGS),
        "ours": {name: {"mean": float(np.mean(values)), "splits": values} for name, values in found.items()},
    }
    if arguments.published:
        published = json.loads(arguments.published.read_text())
        result["published"] = {name: {"mean": float(np.mean(values)), "splits": values} for name, values in published.items()}
        result["ours minus published, points"] = {name: paired_points(found[name], published[name]) for name in published}
    write_result(arguments.out, result)


if __name__ == "__main__":
    main()
