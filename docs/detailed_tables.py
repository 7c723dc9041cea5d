"""Tables of the page of results beside the main one: the default method part by part, intervals, experiments of the paper."""

from collections.abc import Mapping
from typing import Any

from tables import percent, recorded

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
CORPORA = {
    "breakfast": "Breakfast, *simulated* windows",
    "shelves and toast, speech as features": "Shelves and Toast, speech as features",
}
EXPERIMENTS = (
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
        for old, method in (("best", "hmm"), ("paper", "zhukov19")):
            figures, differences = data[corpus]["figures"], data[corpus]["differences"]
            found = f"{old}: span IoU"
            gains = [differences[f"{found} - {old}: {rule}, IoU"] for rule in ("T/K of the video", "mean spacing of the task")]
            rows.append([f"{words}, `{method}`", percent(figures[found]["mean"]), *(interval(gain, 100) for gain in gains)])
    return table(["", "IoU, %", "minus T / K of the video, points", "minus the mean spacing of the task, points"], rows)


def experiments_table() -> str:
    """Recall of every setting of the experiments of the paper, one row a file."""
    rows = []
    for file in EXPERIMENTS:
        results = recorded(file)["results"]
        shown = ", ".join(
            f"{_methods(name).replace('proposed', 'zhukov19')}: {percent(of['recall']['mean'])}" for name, of in results.items()
        )
        rows.append([f"`{file}`", shown])
    return table(["file", "step recall, %"], rows)
