"""Every decoder on the scores of the default method and of the paper's, on held-out people of Breakfast and captaincook. Writes JSON.

python -m benchmarks.real_data.decoders DATA/breakfast DATA/captaincook --out results/decoders.json

Splits and settings are those of benchmarks.real_data.accuracy: people of the final half are tested, and the learning rate and dropout of `zhukov19`
are those that it chose on the development half (results/accuracy.json). A model is trained once for each split, and its scores are decoded by
every decoder. Windows of both corpora are simulated; they are used in training alone. No setting was chosen on this table.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.real_data.accuracy import CELLS, METRICS, arms_of, difference, mean_by_task, training_corpus
from benchmarks.scripts import arguments_of

from crosstask import open_corpus
from crosstask.evaluation.evaluate import Evaluation, evaluate_videos
from crosstask.features.packed_corpus import with_packed_features
from crosstask.inference.decoders import DECODERS, decoder_of
from crosstask.methods.protocols import Method
from crosstask.records import Corpus
from crosstask.storage import write_json

ACCURACY = Path(__file__).parents[2] / "results" / "accuracy.json"
TRIED = ("Breakfast, windows", "Breakfast, order alone", "captaincook, windows", "captaincook, order alone")
METHODS = ("hmm", "zhukov19")

ByTask = dict[str, dict[str, float]]  # metric -> task -> value


def decoded(corpus: Corpus, cell: str, arm: str, method: Method) -> tuple[str, dict[str, ByTask]]:
    """The method's own decoder, and the metrics by task of every decoder, mean over splits."""
    name, splits, windows = CELLS[cell]
    found: dict[str, list[Evaluation]] = {decoder: [] for decoder in DECODERS}
    own = ""
    for split in splits(corpus, name, "final"):
        scorer = method.fit(training_corpus(corpus, split, windows, arm), np.random.default_rng(0))
        own = decoder_of(scorer)
        for decoder, evaluations in found.items():
            evaluations.append(evaluate_videos(corpus, scorer, split.test, decoder=decoder))
    return own, {decoder: mean_by_task(evaluations) for decoder, evaluations in found.items()}


def summary(own: str, by_decoder: dict[str, ByTask]) -> dict[str, Any]:
    """Metrics in percent, mean over tasks, of each decoder; recall less that of the method's own decoder in points, with its interval."""
    return {
        "own decoder": own,
        "table": {d: {m: 100 * float(np.mean(list(of[m].values()))) for m in METRICS} for d, of in by_decoder.items()},
        "recall less own decoder, points": {
            d: difference({"": of}, {"": by_decoder[own]}, [""]) for d, of in by_decoder.items() if d != own
        },
        "recall by task": {d: of["recall"] for d, of in by_decoder.items()},
    }


def main() -> None:
    parser = arguments_of(__doc__)
    parser.add_argument("breakfast", type=Path)
    parser.add_argument("captaincook", type=Path)
    arguments = parser.parse_args()
    corpora = {name: with_packed_features(open_corpus(getattr(arguments, name))) for name in ("breakfast", "captaincook")}
    chosen = json.loads(ACCURACY.read_text("utf-8"))["settings"]
    cells: dict[str, dict[str, Any]] = {}
    for cell in TRIED:
        name = CELLS[cell][0]
        settings = {arm: tuple(values) for arm, values in chosen[name].items()}
        cells[cell] = {method: summary(*decoded(corpora[name], cell, method, arms_of(settings)[method]())) for method in METHODS}
        print(cell, {m: {d: round(v["recall"], 1) for d, v in of["table"].items()} for m, of in cells[cell].items()}, flush=True)
    write_json(
        arguments.out,
        {
            "what": "recall, starts within 5 s and IoU in %, mean over tasks, of each decoder on the same scores; held-out people; "
            "windows are simulated and used in training alone",
            "command": "python -m benchmarks.real_data.decoders DATA/breakfast DATA/captaincook --out results/decoders.json",
            "protocol": "splits, halves and settings of results/protocols/accuracy.json; people of the final half are tested; "
            "one model for each split and method, decoded four times; 95 % intervals by drawing tasks with replacement; "
            "no decoder was chosen on this table",
            "seeds": [0],
            "settings of zhukov19": {name: chosen[name]["zhukov19"] for name in corpora},
            "cells": cells,
        },
    )


if __name__ == "__main__":
    main()
