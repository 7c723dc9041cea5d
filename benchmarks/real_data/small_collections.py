"""Is the default method ever worse than even spacing? Recall with 1 to 16 training videos a task, on held-out people. Writes JSON.

python -m benchmarks.real_data.small_collections DATA --out results/small-collections.json

Breakfast and captaincook (real features, simulated windows), people of the final half (see benchmarks/real_data/accuracy.py): those of captaincook in
turn, ten of Breakfast in three draws. Every task has at most the number of videos, drawn at random; the model is trained by order alone, or with
windows; "with narration" also decodes with the windows of the tested videos. Intervals are over tasks.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from benchmarks.real_data.accuracy import difference, groups_of
from benchmarks.scripts import arguments_of, write_result

from crosstask import open_corpus
from crosstask.evaluation.evaluate import evaluate_videos
from crosstask.evaluation.splits import Split, group_of
from crosstask.features.packed_corpus import with_packed_features
from crosstask.methods.hmm import HiddenMarkovModel
from crosstask.methods.order_only import Uniform
from crosstask.narration.joint_decoding import fit_joint_decoder
from crosstask.records import Corpus

NUMBERS = (1, 2, 4, 8, 16)


def splits(corpus: Corpus, name: str, number: int) -> Iterator[Split]:
    """Held-out people, and `number` training videos of every task by the others."""
    people = groups_of(corpus, name, "final")
    rng = np.random.default_rng(number)
    draws = (
        [[p] for p in people]
        if name == "captaincook"
        else [[people[i] for i in rng.permutation(len(people))[:10]] for _ in range(3)]
    )
    for tested in draws:
        train = set()
        for task in corpus.tasks:
            others = [v for v in corpus.videos_of(task) if group_of(v) not in tested]
            train.update(others[i] for i in rng.permutation(len(others))[:number])
        yield Split(tuple(v for v in corpus.videos if v in train), tuple(v for v in corpus.videos if group_of(v) in tested))


def recalls(corpus: Corpus, name: str, number: int) -> dict[str, dict[str, float]]:
    """Arm -> task -> recall, mean over splits."""
    found: dict[str, dict[str, list[float]]] = {}
    for split in splits(corpus, name, number):
        train = corpus.only_tasks({v.task for v in split.train}).only(split.train)
        by_windows = HiddenMarkovModel().fit(train, np.random.default_rng(0))
        evaluations = {
            "uniform": evaluate_videos(corpus, Uniform(), split.test),
            "order alone": evaluate_videos(
                corpus, HiddenMarkovModel().fit(train.without_windows(), np.random.default_rng(0)), split.test
            ),
            "windows": evaluate_videos(corpus, by_windows, split.test),
            "windows, decoded with narration": evaluate_videos(
                corpus, by_windows, split.test, joint=fit_joint_decoder(by_windows, corpus, split.test)
            ),
        }
        for arm, evaluation in evaluations.items():
            for task, value in evaluation.by_metric["recall"].items():
                found.setdefault(arm, {}).setdefault(task, []).append(value)
    return {arm: {task: float(np.mean(values)) for task, values in of.items()} for arm, of in found.items()}


def main() -> None:
    parser = arguments_of(__doc__)
    parser.add_argument("data", type=Path)
    arguments = parser.parse_args()
    result: dict = {}
    for name in ("breakfast", "captaincook"):
        corpus = with_packed_features(open_corpus(arguments.data / name))
        for number in NUMBERS:
            by_arm = recalls(corpus, name, number)
            nested = {arm: {"": {"recall": of}} for arm, of in by_arm.items()}
            result.setdefault(name, {})[str(number)] = {
                "recall": {arm: 100 * float(np.mean(list(of.values()))) for arm, of in by_arm.items()},
                "less uniform": {arm: difference(of, nested["uniform"], [""]) for arm, of in nested.items() if arm != "uniform"},
            }
            print(name, number, result[name][str(number)]["recall"], flush=True)
    write_result(
        arguments.out,
        {
            "what": "step recall in %, mean over tasks, by number of training videos a task; held-out people; windows are simulated",
            "command": "python -m benchmarks.real_data.small_collections DATA --out results/small-collections.json",
            "seeds": list(NUMBERS),
            "corpora": result,
        },
    )


if __name__ == "__main__":
    main()
