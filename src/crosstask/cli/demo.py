"""`crosstask demo`: the steps of rendered, synthetic how-to films are found, also those of tasks never trained on."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crosstask.cli.extract import team_of
from crosstask.cli.options import AsJson, Seed
from crosstask.cli.output import command, counted, note, percent, print_json, print_table, say
from crosstask.cli.progress import duration, progress

if TYPE_CHECKING:
    from crosstask.pipeline.video_demo import FilmDemoResult


def demo(
    out: Annotated[Path, typer.Option("--out", help="Run folder to write; the films go into its folder corpus.")] = Path("demo"),
    numbers: Annotated[
        bool, typer.Option("--numbers", help="Compare methods on a synthetic corpus of numbers instead; needs no video extra.")
    ] = False,
    video: Annotated[bool, typer.Option("--video", hidden=True, help="The default; accepted for older scripts.")] = False,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Render synthetic how-to films, train on some, and find the steps in the others; one to two minutes.

    Example: crosstask demo --out demo
    """
    if numbers:
        from crosstask.cli.demo_numbers import show_numbers_demo

        show_numbers_demo(out, seed, as_json)
        return
    _refuse_without_pyav()
    from crosstask.pipeline.video_demo import run_film_demo

    note("drawing short how-to films with narration; they are synthetic, nothing in them is real")
    shown = run_film_demo(out, seed, progress, team_of("local", None, None).count)
    figures = figures_of(shown) | {"run": str(out)}
    if as_json:
        print_json(figures)
        return
    _print(shown, figures)
    _print_next(out, shown)


def _refuse_without_pyav() -> None:
    """An error that offers the demonstration on numbers where films cannot be rendered."""
    from crosstask.extraction.containers import need_pyav
    from crosstask.records import InputError, MissingExtra

    try:
        need_pyav()
    except MissingExtra as missing:
        raise InputError(f"{missing}; or see the demonstration without films: {command('demo', '--numbers')}") from None


def figures_of(shown: "FilmDemoResult") -> dict[str, Any]:
    """Recall by method as fractions (mean over tasks), recall of each task, and seconds."""
    by_task = {name: evaluation.by_metric["recall"] for name, evaluation in shown.methods.items()}
    by_task = {_key(name): dict(recalls) for name, recalls in by_task.items()}
    by_task["never_trained"] = {task: row["never_trained"] for task, row in shown.left_out.items()}
    return {
        "synthetic": True,
        "recall": {name: sum(recalls.values()) / len(recalls) for name, recalls in by_task.items()},
        "tasks": by_task,
        "seconds": shown.seconds,
    }


def _key(method: str) -> str:
    """The name of a method in JSON.

    >>> _key("hmm, no sharing")
    'hmm_no_sharing'
    """
    return method.replace(", ", "_").replace(" ", "_")


def _print(shown: "FilmDemoResult", figures: dict[str, Any]) -> None:
    corpus, tasks, means = shown.result.corpus, figures["tasks"], figures["recall"]
    names = ("uniform", "hmm", "never_trained")
    rows = [[task.title, *(percent(tasks[name][task.id]) for name in names)] for task in corpus.primary_tasks()]
    rows.append(["mean over tasks", *(percent(means[name]) for name in names)])
    header = ["steps found, % (synthetic films)", "evenly spaced guess", "trained", "task never trained on"]
    n_trained = len(shown.result.model.trained_on)
    title = f"{counted(len(shown.tested), 'test film')}; trained on {n_trained} other films, from step lists and narration alone"
    print_table(title, header, rows)
    say("'task never trained on': the model has only read the task's list of steps; all it knows comes from the other tasks.")
    wall_s = sum(spent for what, spent in shown.seconds.items() if not what.startswith("CPU"))
    say(f"\nThis took {duration(wall_s)}.")


def _print_next(out: Path, shown: "FilmDemoResult") -> None:
    """Commands that work as printed."""
    key = shown.tested[0]
    film = out / "corpus" / "videos" / key.task / f"{key.video}.mp4"
    steps = "; ".join(shown.result.corpus.tasks[key.task].steps)
    say("\nWhat to try next")
    for what, line in (
        ("watch the films with the steps found", command("view", out)),
        ("chapters for players, tables, files for editors", command("export", out, "--format", "vtt", "--format", "csv")),
        ("one film, by the trained model", command("localize", out / "model.safetensors", film, "--steps", steps)),
        ("a folder for your own videos", command("init", "my-videos")),
    ):
        say(f"  {line}\n      {what}")
    say(f"  Open {out / 'report.html'} in a browser: what was found, with pictures and timelines.")
