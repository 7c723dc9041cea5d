"""The default method without each of its parts, on the final half of `accuracy.py`, and what was tried in vain. Writes JSON.

python -m benchmarks.real_data.ablations DATA SPEECH --every 2 --out results/ablations.json

SPEECH is a folder written by benchmarks.real_data.speech_corpus. `--every 2` uses every second split of each cell. Cells and variants that
the output file already has are kept, so an interrupted run continues. Windows of Breakfast and captaincook are simulated. Beside the
JSON file, the same is written as a page to read (`.md`).
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

import numpy as np
from benchmarks.real_data.accuracy import CELLS, difference, mean_by_task, training_corpus
from benchmarks.scripts import arguments_of, write_result

from crosstask import open_corpus
from crosstask.evaluation.evaluate import evaluate_videos
from crosstask.evaluation.splits import Split
from crosstask.features.packed_corpus import with_packed_features
from crosstask.learning.hmm import em
from crosstask.learning.hmm.class_means import MeanPrior
from crosstask.learning.hmm.em import EmSettings
from crosstask.learning.hmm.task_prior import TaskPrior
from crosstask.methods import hmm_scorer
from crosstask.methods.hmm import HiddenMarkovModel
from crosstask.methods.hmm_ensemble import HmmEnsemble
from crosstask.records import Corpus
from crosstask.storage import write_text

WINDOWS_ONLY = "windows used without the test that they are informative", "window labels have no weight after the first iteration"
NOTE = (
    "a part that a cell does not use cannot matter there: vlogs has one video a task, so that all are in one fold and nothing is cross-fitted, and "
    "too many steps for the kernel of meanings; all windows here pass the test that they are informative, which matters for uninformative "
    "windows (random windows in default-method-breakfast); even spacing is mixed in below six training videos a task"
)
PROTOCOLS = Path(__file__).parents[2] / "results" / "protocols"


@dataclass(frozen=True)
class Variant:
    """A method, and attributes to replace: (owner, name, value). `decodes` says that training stays as it is."""

    method: HiddenMarkovModel = field(default_factory=HiddenMarkovModel)
    replaced: tuple[tuple[object, str, object], ...] = ()
    decodes: bool = False

    @contextmanager
    def active(self) -> Iterator[None]:
        """The attributes are replaced inside the block."""
        with ExitStack() as stack:
            for owner, name, value in self.replaced:
                stack.enter_context(patch.object(owner, name, value))
            yield


def with_settings(**changes: object) -> Variant:
    """The method with other settings of EM."""
    return Variant(HiddenMarkovModel(settings=EmSettings(**changes)))  # type: ignore[arg-type]


def no_position(prior: TaskPrior, n_segments: int, *_: object) -> np.ndarray:
    """(T, K + 1) zeros in place of the log-density of positions."""
    return np.zeros((n_segments, len(prior.duration) + 1))


def any_windows(videos: Sequence[em.HmmVideo], *_: object) -> bool:
    """True if there are windows, in place of the test."""
    return any(video.windows.any() for video in videos)


FULL = "full method"
VARIANTS = {
    FULL: Variant(),
    "strict order alone at decoding": Variant(replaced=((hmm_scorer, "_P_STRICT_ORDER", 1.0),), decodes=True),
    "no even spacing mixed in for few videos": Variant(replaced=((hmm_scorer, "_EVEN_SPACING_WEIGHT", 0.0),), decodes=True),
    "no cross-fitting": with_settings(folds=1),
    "no meaning of step names, words alone": Variant(HiddenMarkovModel(meaning=False)),
    "nothing shared between steps": Variant(HiddenMarkovModel(sharing="none")),
    "no position prior": Variant(replaced=((TaskPrior, "position_log_ratios", no_position),)),
    "covariance hardly shrunk (ridge 0.01)": with_settings(mean_prior=MeanPrior(ridge=0.01)),
    "covariance a multiple of the identity (ridge 1)": with_settings(mean_prior=MeanPrior(ridge=1.0)),
    WINDOWS_ONLY[0]: Variant(replaced=((em, "windows_are_informative", any_windows),)),
    WINDOWS_ONLY[1]: with_settings(window_weight=0.0),
    "even spacing has no weight after the first iteration": with_settings(spacing_weight=0.0),
}


def evaluated(corpus: Corpus, split: Split, windows: bool, variant: Variant, trained: HmmEnsemble | None) -> tuple:
    """The evaluation of a variant on a split, and its scorer; `trained` is the scorer of the full method where there is one."""
    with variant.active():
        if trained is None or not variant.decodes:
            trained = variant.method.fit(training_corpus(corpus, split, windows, "hmm"), np.random.default_rng(0))
        return evaluate_videos(corpus, trained, split.test), trained


def one_cell(corpus: Corpus, cell: str, wanted: Sequence[str], every: int) -> dict[str, dict[str, dict[str, float]]]:
    """Variant -> metric -> task -> mean over the splits used."""
    name, splits, windows = CELLS[cell]
    found: dict[str, list] = {variant: [] for variant in wanted}
    for split in list(splits(corpus, name, "final"))[::every]:
        full = None
        for variant in wanted:
            evaluation, scorer = evaluated(corpus, split, windows, VARIANTS[variant], full)
            found[variant].append(evaluation)
            full = full or (scorer if variant == FULL else None)
    return {variant: mean_by_task(of_variant) for variant, of_variant in found.items()}


def summary(by_cell: dict[str, dict[str, dict]]) -> dict[str, dict[str, dict]]:
    """Cell -> variant -> recall in %, and its difference to the full method in points with an interval over tasks."""
    return {
        cell: {
            variant: {
                "recall": 100 * float(np.mean(list(of["recall"].values()))),
                "difference": difference({cell: of}, {cell: variants[FULL]}, [cell]),
            }
            for variant, of in variants.items()
        }
        for cell, variants in by_cell.items()
    }


def over_cells(by_cell: dict[str, dict[str, dict]]) -> dict[str, dict[str, float]]:
    """Variant -> mean over the cells that have it of its difference to the full method in points, tasks drawn within each cell."""
    found = {}
    for variant in VARIANTS:
        cells = [cell for cell, variants in by_cell.items() if variant in variants]
        firsts, seconds = ({cell: by_cell[cell][name] for cell in cells} for name in (variant, FULL))
        found[variant] = difference(firsts, seconds, cells)
    return found


def tried_in_vain() -> dict[str, object]:
    """What the protocols say about it."""
    return {
        name: {key: value for key, value in json.loads((PROTOCOLS / f"{name}.json").read_text()).items() if "in vain" in key}
        for name in ("accuracy", "joint-decoding")
    }


def page(result: dict) -> str:
    """The result as a page: what each part contributes, and what was tried in vain."""
    cells = list(result["table"])
    lines = [
        "# Parts of the default method, and what was tried in vain",
        "",
        "Recall in points without each part, less that of the full method, on the final half of `accuracy.json`, "
        f"one split in {result['every']} of each cell. In brackets the 95 % interval, with tasks drawn with replacement. "
        "Windows of Breakfast and captaincook are *simulated*. "
        f"Note: {result['note']}. Written by `{result['command']}`.",
        "",
        "| without | mean over the cells | " + " | ".join(cells) + " |",
        "|---" * (len(cells) + 2) + "|",
    ]
    for variant, mean in result["mean over cells"].items():
        if variant == FULL:
            continue
        of_cells = [result["table"][cell].get(variant) for cell in cells]
        shown = ["-" if of is None else f"{of['difference']['mean']:+.1f}" for of in of_cells]
        lines.append(f"| {variant} | {mean['mean']:+.1f} [{mean['low']:+.1f}, {mean['high']:+.1f}] | " + " | ".join(shown) + " |")
    lines += ["", "## Tried in vain", ""]
    for name, tried in tried_in_vain().items():
        for key, what in tried.items():
            lines += [f"From `protocols/{name}.json`, {key}:", ""]
            lines += [f"- {of}: {figures}" for of, figures in what.items()] if isinstance(what, dict) else [f"- {what}"]
            lines.append("")
    return "\n".join(lines)


def main() -> None:
    parser = arguments_of(__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("speech", type=Path)
    parser.add_argument("--every", type=int, default=1, help="use every so many splits of a cell")
    parser.add_argument("--cells", nargs="+", default=list(CELLS), help="only these cells")
    parser.add_argument("--variants", nargs="+", default=list(VARIANTS), help="only these variants")
    arguments = parser.parse_args()
    before = json.loads(arguments.out.read_text()) if arguments.out.exists() else {"every": arguments.every, "by_task": {}}
    if before["every"] != arguments.every:
        raise SystemExit(
            f"{arguments.out} has results of --every {before['every']}; continue with --every {before['every']}, or remove it"
        )
    by_cell = before["by_task"]
    for cell in arguments.cells:
        name, _, windows = CELLS[cell]
        folder = arguments.speech if name == "speech" else arguments.data / name
        corpus = with_packed_features(open_corpus(folder))
        asked = [FULL, *(v for v in arguments.variants if v != FULL and (windows or v not in WINDOWS_ONLY))]
        missing = [variant for variant in asked if variant not in by_cell.get(cell, {})]
        by_cell.setdefault(cell, {}).update(one_cell(corpus, cell, missing, arguments.every))
        result = {
            "what": "recall in % of the default method without each of its parts, final half of accuracy; difference to the full method over tasks",
            "command": f"python -m benchmarks.real_data.ablations DATA SPEECH --every {arguments.every} --out results/ablations.json",
            "seeds": [0],
            "every": arguments.every,
            "note": NOTE,
            "mean over cells": over_cells(by_cell),
            "table": summary(by_cell),
            "tried in vain": tried_in_vain(),
            "by_task": by_cell,
        }
        write_result(arguments.out, result)
        write_text(arguments.out.with_suffix(".md"), page(result))


if __name__ == "__main__":
    main()
