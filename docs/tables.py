"""The main tables of results, made from results/*.json: eight rows for the README, more for the page of results (`fill_tables.py` writes them)."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parent.parent
RESULTS = ROOT / "results"

Result = Mapping[str, Any]


class Row(NamedTuple):
    """A row of the README: what was tried, the file in `results/`, and the recalls (fractions, None where there is none) of three columns."""

    what: str
    file: str
    recalls: Callable[[Result], tuple[float | None, float | None, float]]


class Fact(NamedTuple):
    """A row of the manual: what was measured, its file in `results/`, the value as text, and what to compare it with, as text."""

    what: str
    file: str
    value: Callable[[Result], str]
    beside: Callable[[Result], str]


def recorded(file: str) -> dict[str, Any]:
    """A file of `results/`."""
    found: dict[str, Any] = json.loads((RESULTS / f"{file}.json").read_text("utf-8"))
    return found


def percent(value: float | None) -> str:
    """A fraction as percent with one digit.

    >>> percent(0.3125), percent(None)
    ('31.2', '-')
    """
    return "-" if value is None else f"{100 * value:.1f}"


def _accuracy(cell: str) -> Callable[[Result], tuple[float, float, float]]:
    """Recall of even spacing, the method of 2019 and the default method in one cell of the table of accuracy."""

    def recalls(data: Result) -> tuple[float, float, float]:
        first, second, third = (float(data["table"][cell][arm]["recall"]) / 100 for arm in ("uniform", "zhukov19", "hmm"))
        return first, second, third

    return recalls


README_ROWS = (
    Row(
        "18 kitchen recipes, head-mounted camera, people never seen in training, nobody speaks",
        "accuracy",
        _accuracy("captaincook, order alone"),
    ),
    Row("the same, trained with narration that is *simulated*", "accuracy", _accuracy("captaincook, windows")),
    Row(
        "the same with *simulated* narration, recipes never trained on",
        "accuracy",
        _accuracy("captaincook, never trained, windows"),
    ),
    Row("10 breakfast dishes, people never seen in training, no narration", "accuracy", _accuracy("Breakfast, order alone")),
    Row("the same, trained with narration that is *simulated*", "accuracy", _accuracy("Breakfast, windows")),
    Row("2 CrossTask tasks, the words of their real speech as features", "accuracy", _accuracy("speech as features, windows")),
    Row(
        "clips of vlogs, trained with the real times of narration, found by pictures alone",
        "accuracy",
        _accuracy("vlogs, windows"),
    ),
    Row("*synthetic* films of `make demo`", "video-demo", lambda data: (data["recall"]["uniform"], None, data["recall"]["hmm"])),
)


def readme_table() -> str:
    """The table of the README, real data first."""
    lines = ["| tried on | even spacing | method of 2019 | crosstask | figures in |", "|---|---|---|---|---|"]
    for row in README_ROWS:
        cells = [percent(recall) for recall in row.recalls(recorded(row.file))]
        lines.append(f"| {row.what} | {cells[0]} | {cells[1]} | **{cells[2]}** | `{row.file}` |")
    return "\n".join(lines)


def _recall(method: str) -> Callable[[Result], str]:
    def recall(data: Result) -> str:
        results = data["results"]
        return percent(results[method if method in results else FORMER_NAMES[method]]["recall"]["mean"])

    return recall


def _joined(values: list[float]) -> str:
    return " / ".join(percent(value) for value in values)


def _text(text: str) -> Callable[[Result], str]:
    return lambda data: text


SIX = ("uniform", "richard18", "alayrac16", "task-specific", "zhukov19", "supervised")
FORMER_NAMES = {"zhukov19": "proposed"}  # in results that were made before methods were renamed
# What all methods of the paper were run on -> file; real first.
ALL_METHODS = {
    "Shelves and Toast, real annotation, **speech as features**, 5 splits": "speech-cross-task",
    "Breakfast, unseen people, real features, **simulated windows**, 10 splits": "breakfast-cross-task",
    "*Synthetic* corpus, paper's shape, 512 columns, 20 seeds": "synthetic-cross-task",
}
REAL = (
    Fact("Release, 20 splits of 1,850 test videos: Uniform recall", "release-baselines", _recall("uniform"), _text("paper 9.7")),
    Fact("Release, the same: Random recall", "release-baselines", _recall("random"), _text("paper 8.27")),
    Fact(
        "Release: order consistency / missing / background",
        "release-baselines",
        lambda data: _joined([data["statistics"]["overall"][name] for name in ("order_consistency", "missing", "background")]),
        _text("paper 86 / 31 / 72"),
    ),
    Fact(
        "Windows from real subtitles, Shelves and Toast: precision / recall / midpoint hits",
        "narration-windows",
        lambda data: _joined([data["parts"][0][name] for name in ("precision", "recall", "hit_rate")]),
        lambda data: f"plain sentence encoder {_joined([data['rows'][2][name] for name in ('precision', 'recall', 'hit_rate')])}",
    ),
    Fact(
        "Breakfast, unseen people, real features, **simulated windows**: `zhukov19` with / without windows, settings of the published code",
        "breakfast-zhukov19",
        lambda data: _joined([data["ours"][name]["mean"] for name in ("windows", "no windows")]),
        _text("published code on the same splits 45.8 / 44.4"),
    ),
    Fact(
        "Half of an article finds its other half first, 1,383 articles",
        "corpus-building",
        lambda data: percent(data["halves"]["rank_1"]),
        _text("aim 70"),
    ),
    Fact(
        "Narration tells videos of a task from others, area under the curve: Shelves / Toast",
        "corpus-building",
        lambda data: _joined([data["relevance"][task]["auc"] for task in ("Build Simple Floating Shelves", "Make French Toast")]),
        _text("aim 95"),
    ),
)
SYNTHETIC = (
    Fact(
        "Training speed, *synthetic* numbers of the real sizes: times as fast as a textbook trainer / times the time of reading the data once",
        "training-speed",
        lambda data: f"{data['speedup']:.0f} / {data['floor_ratio']:.1f}",
        _text("aim 100 / 8"),
    ),
    Fact(
        "*Synthetic* films, `light` features, 5 seeds of 24 test films: `hmm` / `hmm`, task never trained on",
        "video-demo",
        lambda data: _joined([data["recall"][name] for name in ("hmm", "never_trained")]),
        lambda data: (
            f"Uniform {percent(data['recall']['uniform'])}, `hmm` without sharing {percent(data['recall']['hmm_no_sharing'])}"
        ),
    ),
    Fact(
        "*Synthetic* films and a *synthetic* image-text model that matches them: `zero-shot` / `hmm` with 1 / 4 / 16 videos a task",
        "synthetic-image-text",
        lambda data: _joined([data["matching"]["recall"][arm] for arm in ("zero-shot", "hmm, 1", "hmm, 4", "hmm, 16")]),
        lambda data: (
            f"Uniform {percent(data['matching']['recall']['uniform'])}; text vectors with noise "
            f"{_joined([data['noisy']['recall'][arm] for arm in ('zero-shot', 'hmm, 1', 'hmm, 4', 'hmm, 16')])}"
        ),
    ),
    Fact(
        "*Synthetic* corpus, paper's shape, 128 columns, 20 seeds, `zhukov19` with related tasks: components shared",
        "synthetic-sharing-table",
        _recall("component, + related"),
        lambda data: f"whole steps {_recall('step, + related')(data)}, nothing shared {_recall('step, unshared')(data)}",
    ),
)


def results_table() -> str:
    """The table of the manual, real data first."""
    facts = (*REAL, *SYNTHETIC)
    lines = ["| what | ours, % | beside it | file |", "|---|---|---|---|"]
    for fact in facts:
        data = recorded(fact.file)
        lines.append(f"| {fact.what} | {fact.value(data)} | {fact.beside(data)} | `{fact.file}` |")
    return "\n".join(lines)


def all_methods_table() -> str:
    """Recall of all methods of the paper, real data first."""
    lines = [f"| step recall, % | {' | '.join(SIX)} |", "|---" * (len(SIX) + 1) + "|"]
    for what, file in ALL_METHODS.items():
        lines.append(f"| {what} (`{file}`) | {' | '.join(_recall(method)(recorded(file)) for method in SIX)} |")
    return "\n".join(lines)


def commands_list() -> str:
    """The command that made each file of the tables."""
    files = [row.file for row in README_ROWS] + [fact.file for fact in (*REAL, *SYNTHETIC)] + list(ALL_METHODS.values())
    lines: list[str] = []
    for file in dict.fromkeys(files):
        lines += [f"`results/{file}.json`:", "", "```text", *str(recorded(file)["command"]).split("; "), "```", ""]
    return "\n".join(lines)
