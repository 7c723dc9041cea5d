"""`crosstask stats`: statistics of a corpus."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crosstask.cli.options import AsJson, CorpusFolder
from crosstask.cli.output import counted, percent, print_json, print_table, say
from crosstask.cli.progress import progress

if TYPE_CHECKING:
    from crosstask.records import Corpus


def stats(
    corpus: CorpusFolder,
    compare: Annotated[
        list[Path] | None, typer.Option("--compare", help="Other corpora to compare with this one (repeatable).")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Count what a corpus holds: the paper's Tables 1 and S2.

    Example: crosstask stats data/crosstask
    """
    from crosstask.datasets import open_corpus
    from crosstask.pipeline.corpus_statistics import corpus_statistics

    opened = open_corpus(corpus)
    figures = corpus_statistics(opened, progress)
    if compare:
        figures["comparison"] = _comparison([opened, *(open_corpus(path) for path in compare)])
    if as_json:
        print_json(figures)
    else:
        _print(figures, opened.name)


def _comparison(corpora: "list[Corpus]") -> list[dict[str, Any]]:
    from dataclasses import asdict

    from crosstask.metrics.statistics import compare_datasets

    return [asdict(row) for row in compare_datasets(corpora)]


def _print(figures: dict[str, Any], name: str) -> None:
    header = ["task", "videos", "steps", "missing %", "background %", "order %", "length"]
    rows = []
    for row in figures["tasks"].values():
        if row["primary"]:
            figures_of = [percent(row["missing"]), percent(row["background"]), percent(row["order_consistency"])]
            rows.append([row["title"], str(row["videos"]), str(row["steps"]), *figures_of, _clock(row["mean_seconds"])])
    every = figures["overall"]
    average = [percent(every["missing"]), percent(every["background"]), percent(every["order_consistency"])]
    rows.append(["all primary tasks", str(figures["groups"]["primary"]["rows"]), "", *average, ""])
    print_table(f"{name}: primary tasks", header, rows)
    say("")
    _print_groups(figures["groups"])
    for row in figures.get("comparison", []):
        annotated = "annotated" if row["annotated"] else "not annotated"
        say(
            f"{row['name']}: {counted(row['videos'], 'video')}, {row['hours']:.1f} h, {counted(row['tasks'], 'task')}, {annotated}"
        )


def _print_groups(groups: dict[str, Any]) -> None:
    header = ["tasks", "tasks", "videos", "ids", "hours", "steps", "steps a task", "words", "components"]
    rows = []
    for name in ("primary", "related", "all"):
        g = groups[name]
        counts = [
            g["tasks"],
            g["rows"],
            g["ids"],
            f"{g['hours']:.1f}",
            g["steps"],
            f"{g['steps_per_task']:.2f}",
            g["words"],
            g["components"],
        ]
        rows.append([name, *map(str, counts)])
    print_table("groups of tasks", header, rows)
    say(f"{groups['overlap']['ids']} video ids are listed under a primary and a related task")


def _clock(seconds: float | None) -> str:
    return "-" if seconds is None else f"{int(seconds) // 60}:{int(seconds) % 60:02d}"
