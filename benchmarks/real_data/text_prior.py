"""What the meaning of step names is worth as prior knowledge about class means: the sentence kernel of `hmm` beside words alone. Writes JSON.

python -m benchmarks.real_data.text_prior DATA --out results/text-prior.json

Splits and halves are those of `benchmarks.real_data.accuracy`; this table is of the final half. Controls: words permuted across tasks (as
many words per step and steps per word as before; one draw, or the mean of several), with and without the kernel of meaning, and nothing shared.
Intervals are over tasks. Windows are simulated.
"""

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
from benchmarks.real_data.accuracy import CELLS, difference, one_arm
from benchmarks.scripts import arguments_of, write_result

from crosstask import open_corpus
from crosstask.experiments.few_videos.step_lists import with_permuted_words
from crosstask.features.packed_corpus import with_packed_features
from crosstask.methods.hmm import HiddenMarkovModel
from crosstask.methods.hmm_scorer import step_name_encoder
from crosstask.records import Corpus

ARMS: dict[str, Callable[[], HiddenMarkovModel]] = {
    "words and meaning": HiddenMarkovModel,
    "words": lambda: HiddenMarkovModel(meaning=False),
    "nothing shared": lambda: HiddenMarkovModel(sharing="none"),
}
PERMUTED = ("words and meaning", "words")
Counts = dict[str, dict[str, float]]  # metric -> task -> mean over the splits


def permuted_arm(corpus: Corpus, name: str, cell: str, arm: str, n_draws: int) -> Counts:
    """The counts of an arm on step lists with permuted words, averaged over draws."""
    draws = [one_arm(with_permuted_words(corpus, seed), name, cell, arm, ARMS[arm], "final") for seed in range(n_draws)]
    return {
        metric: {task: float(np.mean([draw[metric][task] for draw in draws])) for task in of} for metric, of in draws[0].items()
    }


def measured_arms(data: Path, n_draws: int, cell: str) -> dict[str, Counts]:
    """Arm -> its counts in a cell."""
    name = CELLS[cell][0]
    corpus = with_packed_features(open_corpus(data / name))
    found = {arm: one_arm(corpus, name, cell, arm, make, "final") for arm, make in ARMS.items()}
    return found | {f"{arm}, permuted": permuted_arm(corpus, name, cell, arm, n_draws) for arm in PERMUTED}


def main() -> None:
    parser = arguments_of(__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--cells", nargs="+", help="only cells whose name contains one of these texts")
    parser.add_argument("--draws", type=int, default=1, help="of permuted words")
    parser.add_argument("--workers", type=int, default=2, help="processes, each with one cell")
    arguments = parser.parse_args()
    if step_name_encoder() is None:
        raise SystemExit("no sentence encoder is installed: there is nothing to compare; install the extra 'sentence'")
    wanted = [
        cell
        for cell, (name, _, _) in CELLS.items()
        if name in ("breakfast", "captaincook") and any(text in cell for text in arguments.cells or [""])
    ]
    by_arm: dict[str, dict[str, Counts]] = {}
    with ProcessPoolExecutor(arguments.workers) as pool:
        found = pool.map(partial(measured_arms, arguments.data, arguments.draws), wanted)
        for cell, arms in zip(wanted, found, strict=True):
            for arm, counts in arms.items():
                by_arm.setdefault(arm, {})[cell] = counts
                print(cell, arm, round(100 * float(np.mean(list(counts["recall"].values()))), 1), flush=True)
    first = by_arm["words and meaning"]
    write_result(
        arguments.out,
        {
            "what": "step recall of hmm in %, mean over tasks, with the kernel of meaning, with words alone, and controls; held-out people and "
            "tasks; windows simulated; differences in points with 95 % intervals over tasks",
            "command": "python -m benchmarks.real_data.text_prior DATA --out results/text-prior.json",
            "seeds": list(range(arguments.draws)),
            "recall": {
                cell: {arm: 100 * float(np.mean(list(of[cell]["recall"].values()))) for arm, of in by_arm.items()}
                for cell in wanted
            },
            "words and meaning - other, points": {
                arm: {cell: difference(first, of, [cell]) for cell in wanted} | {"all": difference(first, of, wanted)}
                for arm, of in by_arm.items()
                if arm != "words and meaning"
            },
            "by_task": by_arm,
        },
    )


if __name__ == "__main__":
    main()
