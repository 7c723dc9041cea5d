"""Tables of the page of results beside the main one: accuracy, the default method part by part, intervals, experiments of the paper."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from tables import RESULTS, percent, recorded

COMPARED = ("even spacing", "`zhukov19`", "`hmm` before", "the mean of its five models alone")
DRAWS = 4000  # of tasks, for an interval; as in benchmarks/real_data/accuracy.py
ARMS = {
    "uniform": "even spacing",
    "zhukov19": "`zhukov19`",
    "hmm before": "`hmm` before",
    "hmm": "**`hmm`**",
    "hmm, all labels": "`hmm`, all labels",
    "supervised": "supervised",
}
SETTINGS = {  # of default-method-breakfast -> words
    "uniform": "even spacing",
    "paper": "`zhukov19`",
    "paper, no windows": "`zhukov19`, no windows",
    "best": "**`hmm`**",
    "best, no windows": "`hmm`, no windows",
    "best, random windows": "`hmm`, random windows",
    "best, no sharing": "`hmm`, nothing shared",
    "best, task never trained": "`hmm`, the task itself not trained",
}
MEASURES = {"recall": "step recall", "map": "frame mAP", "f1": "F1"}
WINDOW_MEASURES = {"precision": "precision", "recall": "recall", "hit_rate": "midpoint hits of windows"}
CORPORA = {
    "breakfast": "Breakfast, *simulated* windows",
    "shelves and toast, speech as features": "Shelves and Toast, speech as features",
}
EXPERIMENTS = (  # those whose result is there are shown
    "captaincook-no-narration",
    "captaincook-transfer",
    "captaincook-depth",
    "captaincook-sharing-gain",
    "captaincook-metrics",
    "captaincook-optimiser",
    "crosstask-narration",
    "breakfast-no-narration",
    "breakfast-sharing",
    "breakfast-transfer",
    "synthetic-no-narration",
    "synthetic-sharing-table",
    "synthetic-transfer",
)


def table(header: list[str], rows: list[list[str]]) -> str:
    """A markdown table."""
    return "\n".join([f"| {' | '.join(header)} |", "|---" * len(header) + "|", *(f"| {' | '.join(row)} |" for row in rows)])


def interval(points: Mapping[str, float], scale: float = 1.0) -> str:
    """A difference with its 95 % interval.

    >>> interval({"mean": 5.42, "low": 3.49, "high": 7.35})
    '+5.4 [+3.5, +7.4]'
    """
    return f"{scale * points['mean']:+.1f} [{scale * points['low']:+.1f}, {scale * points['high']:+.1f}]"


def gain(first: Mapping[str, float], second: Mapping[str, float]) -> dict[str, float]:
    """The mean over tasks of first - second in points, with a 95 % interval from tasks drawn with replacement.

    >>> gain({"a": 0.5, "b": 0.5}, {"a": 0.4, "b": 0.4})["low"].round(6)
    np.float64(10.0)
    """
    points = 100 * np.array([first[task] - second[task] for task in sorted(first)])
    drawn = points[np.random.default_rng(0).integers(len(points), size=(DRAWS, len(points)))].mean(axis=1)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return {"mean": points.mean(), "low": low, "high": high}


def accuracy_table() -> str:
    """Recall, starts and IoU of each arm on held-out people, tasks and channels, and the gain in recall over four others."""
    data = recorded("accuracy")
    rows = []
    for cell, arms in data["table"].items():
        shown = [" / ".join(f"{arms[arm][m]:.1f}" for m in ("recall", "start_5s", "iou")) if arm in arms else "-" for arm in ARMS]
        spaced = gain(*(data["by_task"][arm][cell]["recall"] for arm in ("hmm", "uniform")))
        others = [data[f"hmm - {arm}, points"][cell] for arm in ("zhukov19", "hmm before", "its members")]
        rows.append([cell, *shown, *map(interval, (spaced, *others))])
    means = [interval(data[f"hmm - {arm}, points"]["mean over cells"]) for arm in ("hmm before", "its members")]
    rows.append(["mean over the rows", *("" for _ in ARMS), "", "", *means])
    header = ["people, tasks or channels not developed on (`accuracy`)", *ARMS.values()]
    return table([*header, *(f"`hmm` - {other}, recall" for other in COMPARED)], rows)


def default_method_table() -> str:
    """Recall of the default method and of parts removed, on Breakfast and on speech."""
    breakfast, speech = recorded("default-method-breakfast"), recorded("default-method-speech")
    rows = [
        [words, percent(breakfast["recall"][setting]["mean"]), percent(speech["recall"].get(setting, {}).get("mean"))]
        for setting, words in SETTINGS.items()
    ]
    for what, points in breakfast["differences, points"].items():
        rows.append([f"*{_methods(what)}*, points", interval(points), _speech_difference(what, speech)])
    header = ["ten splits, 30 training videos a task", "Breakfast, *simulated* windows (`default-method-breakfast`)"]
    return table([*header, "Shelves and Toast, speech as features (`default-method-speech`)"], rows)


def _methods(what: str) -> str:
    """The difference in the method names of today."""
    return what.replace("best", "hmm").replace("paper", "zhukov19")


def _speech_difference(what: str, speech: Mapping[str, Any]) -> str:
    found = speech.get(f"{what}, points")
    return interval(found["mean"]) if found else "-"


def intervals_table() -> str:
    """IoU of the found intervals, and the gain over fixed lengths around the same moments."""
    rows = []
    data = recorded("intervals")
    for corpus, words in CORPORA.items():
        for method in ("hmm", "zhukov19"):
            figures, differences = data[corpus]["figures"], data[corpus]["differences"]
            found = f"{method}: interval IoU"
            gains = [differences[f"{found} - {method}: {rule}, IoU"] for rule in ("T/K of the video", "mean spacing of the task")]
            rows.append([f"{words}, `{method}`", percent(figures[found]["mean"]), *(interval(gain, 100) for gain in gains)])
    return table(["", "IoU, %", "minus T / K of the video, points", "minus the mean spacing of the task, points"], rows)


def experiments_table() -> str:
    """Figures of every setting of the experiments of the paper, one row a file."""
    rows = []
    for file in EXPERIMENTS:
        if not (RESULTS / f"{file}.json").exists():
            continue
        data = recorded(file)
        measures = _measures(data["experiment"])
        shown = [f"{_setting(name, data['experiment'])}: {_cells(of, measures)}" for name, of in data["results"].items()]
        rows.append([f"`{file}`", " / ".join(measures.values()), "; ".join(shown)])
    return table(["file", "measure, %", "figures"], rows)


def _measures(experiment: str) -> Mapping[str, str]:
    """The measures that an experiment is about, with their names."""
    shown = {"metrics": ("recall", "map", "f1"), "optimiser": ("f1",)}.get(experiment, ("recall",))
    return WINDOW_MEASURES if experiment == "narration" else {measure: MEASURES[measure] for measure in shown}


def _setting(name: str, experiment: str) -> str:
    """A setting in the names of today; `best` and `paper` are methods of windows in `narration`."""
    return name if experiment == "narration" else _methods(name).replace("proposed", "zhukov19")


def _cells(figures: Mapping[str, Any], measures: Mapping[str, str]) -> str:
    values = [figures[measure] for measure in measures]
    return " / ".join(percent(value["mean"] if isinstance(value, dict) else value) for value in values)
