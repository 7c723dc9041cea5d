"""What the manual takes from the program itself while it is built: the page of verbs and the table of results."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

RESULTS = Path(__file__).parent.parent / "results"
TABLE = "<!-- results table -->"


def on_files(files: Any, config: Any) -> Any:
    """Files with the page of verbs among them."""
    from mkdocs.structure.files import File

    files.append(File.generated(config, "verbs.md", content=verbs_page()))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """A page with the table of results where it asks for it."""
    return markdown.replace(TABLE, results_table())


def verbs_page() -> str:
    """Every verb with its arguments, options and example, as Markdown, read from the program."""
    from typer.main import get_command

    from crosstask.cli.main import app

    lines = [
        "# Every verb and option",
        "",
        "Read from the program when this page was built. `crosstask VERB --help` says the same. `--version` and `--verbose` stand before the verb.",
        "Every verb that prints numbers has `--json`: fractions, not percent, and nothing else on standard output.",
        "",
    ]
    for path, command in commands(get_command(app), ("crosstask",)):
        lines += _verb(path, command)
    return "\n".join(lines) + "\n"


def commands(command: Any, path: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """Every verb below a command, with its words."""
    children = getattr(command, "commands", None)
    if children is None:
        yield " ".join(path), command
        return
    for name, child in children.items():
        yield from commands(child, (*path, name))


def _verb(path: str, command: Any) -> list[str]:
    told = [line.strip() for line in (command.help or "").splitlines() if line.strip()]
    examples = [line.partition("Example: ")[2] for line in told if "Example: " in line]
    said = [line.partition("Example: ")[0].strip() for line in told]
    lines = [
        f"## {path.removeprefix('crosstask ')}",
        "",
        " ".join(line for line in said if line),
        "",
        "```text",
        *examples,
        "```",
        "",
    ]
    lines += ["| | what | default |", "|---|---|---|"]
    return lines + [_row(parameter) for parameter in command.params] + [""]


def _row(parameter: Any) -> str:
    name = parameter.name.upper() if parameter.param_type_name == "argument" else ", ".join(parameter.opts)
    told = (getattr(parameter, "help", None) or "").replace("|", "\\|").replace("<", "&lt;")
    default = parameter.default
    shown = "" if default is None or default is False or callable(default) else f"`{default}`"
    return f"| `{name}` | {told} | {'needed' if parameter.required else shown} |"


class Row(NamedTuple):
    """One line of the table: where its figures stand and how they are told."""

    what: str
    file: str
    tell: Callable[[Mapping[str, Any]], str]
    beside: str


def percent(value: float) -> str:
    """A fraction as percent with one digit."""
    return f"{100 * value:.1f}"


def _recall(method: str) -> Callable[[Mapping[str, Any]], str]:
    return lambda data: percent(data["results"][method]["recall"]["mean"])


def _statistics(data: Mapping[str, Any]) -> str:
    overall = data["statistics"]["overall"]
    return " / ".join(percent(overall[name]) for name in ("order_consistency", "missing", "background"))


SIX = ("uniform", "richard18", "alayrac16", "task-specific", "proposed", "supervised")
# What all methods were run on -> file; real first.
ALL_METHODS = {
    "Shelves and Toast, real annotation, **speech as features**, 5 splits": "speech-cross-task",
    "Breakfast, unseen people, real features, **simulated windows**, 10 splits": "breakfast-cross-task",
    "*Synthetic* corpus, paper's shape, 512 columns, 20 seeds": "synthetic-cross-task",
}
REAL = (
    Row("Release, 20 splits of 1,850 test videos: Uniform recall", "release-baselines", _recall("uniform"), "paper 9.7"),
    Row("Release, the same: Random recall", "release-baselines", _recall("random"), "paper 8.27"),
    Row("Release: order consistency / missing / background", "release-baselines", _statistics, "paper 86 / 31 / 72"),
    Row(
        "Windows from real subtitles, Shelves and Toast: precision / recall / midpoint hits",
        "narration-windows",
        lambda data: " / ".join(percent(data["parts"][0][name]) for name in ("precision", "recall", "hit_rate")),
        "plain sentence encoder 18.2 / 10.7 / 27.7",
    ),
    Row(
        "Breakfast, unseen people, real features, **simulated windows**: `zhukov19` with / without windows",
        "breakfast-zhukov19",
        lambda data: " / ".join(percent(data["ours"][name]["mean"]) for name in ("windows", "no windows")),
        "published code on the same splits 45.8 / 44.4",
    ),
    Row(
        "Breakfast, the same: `hmm` with / without windows / task never trained on",
        "default-method-breakfast",
        lambda data: " / ".join(
            percent(data["recall"][name]["mean"]) for name in ("best", "best, no windows", "best, task never trained")
        ),
        "Uniform 50.0, `zhukov19` 45.0 / 43.9, `hmm` without sharing 54.2",
    ),
    Row(
        "Shelves and Toast, real annotation, **speech as features**: `hmm`",
        "default-method-speech",
        lambda data: percent(data["recall"]["best"]["mean"]),
        "`zhukov19` 27.4 on the same splits",
    ),
    Row(
        "Half of an article finds its other half first, 1,383 articles",
        "corpus-building",
        lambda data: percent(data["halves"]["rank_1"]),
        "aim 70",
    ),
    Row(
        "Narration tells videos of a task from others, area under the curve: Shelves / Toast",
        "corpus-building",
        lambda data: " / ".join(
            percent(data["relevance"][task]["auc"]) for task in ("Build Simple Floating Shelves", "Make French Toast")
        ),
        "aim 95",
    ),
)
SYNTHETIC = (
    Row(
        "Training speed, *synthetic* numbers of the real sizes: times as fast as a textbook trainer / times the time of reading the data once",
        "training-speed",
        lambda data: f"{data['speedup']:.0f} / {data['floor_ratio']:.1f}",
        "aim 100 / 8",
    ),
    Row(
        "*Synthetic* films rendered here, 10 seeds of 32 test videos: Uniform / `hmm` without sharing / `hmm` / `hmm`, task never trained on",
        "video-demo",
        lambda data: " / ".join(
            percent(data["recall"][name]) for name in ("uniform", "no sharing", "best", "best, task never trained on")
        ),
        "-",
    ),
    Row(
        "*Synthetic* corpus, paper's shape, 128 columns, 20 seeds: nothing shared / whole steps / components, with related tasks",
        "synthetic-sharing-table",
        lambda data: " / ".join(
            _recall(setting)(data) for setting in ("step, unshared", "step, + related", "component, + related")
        ),
        "paper 18.6 / 19.8 / 22.4",
    ),
)


def recorded(file: str) -> dict[str, Any]:
    """A file of `results/`."""
    found: dict[str, Any] = json.loads((RESULTS / f"{file}.json").read_text("utf-8"))
    return found


def results_table() -> str:
    """The tables of results, real data first, and the command that made each file."""
    rows = (*REAL, *SYNTHETIC)
    lines = ["| what | ours, % | beside it | file |", "|---|---|---|---|"]
    lines += [f"| {row.what} | {row.tell(recorded(row.file))} | {row.beside} | `{row.file}` |" for row in rows]
    lines += ["", "## All methods", "", f"| step recall, % | {' | '.join(SIX)} |", "|---" * (len(SIX) + 1) + "|"]
    for what, file in ALL_METHODS.items():
        lines.append(f"| {what} (`{file}`) | {' | '.join(_recall(method)(recorded(file)) for method in SIX)} |")
    lines += ["| for perspective: the paper, 18 tasks, its features, not run here | 9.7 | 6.7 | 13.3 | 18.6 | 22.4 | 31.6 |"]
    lines += ["", "## The commands", ""]
    for file in dict.fromkeys([*(row.file for row in rows), *ALL_METHODS.values()]):
        lines += [f"`results/{file}.json`:", "", "```text", *str(recorded(file)["command"]).split("; "), "```", ""]
    return "\n".join(lines)
