"""`crosstask demo --video`: the whole pipeline on rendered, synthetic films."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from crosstask.cli.extract import team_of
from crosstask.cli.output import note, percent, print_json, print_table, say
from crosstask.cli.progress import countdown, duration

if TYPE_CHECKING:
    from crosstask.pipeline.video_demo import FilmDemoResult


def show_video_demo(out: Path, seed: int, as_json: bool) -> None:
    """Render, run, compare, and say what was found."""
    from crosstask.pipeline.video_demo import run_film_demo

    note("synthetic videos: drawn and filmed here, nothing in them is real")
    shown = run_film_demo(out, seed, countdown, team_of("local", None, None).count)
    figures = figures_of(shown) | {"run": str(out)}
    if as_json:
        print_json(figures)
        return
    _print(shown, figures)
    say("\nWhat to try next")
    say(f"  open {out / 'report.html'}             what was found, with timelines")
    say(f"  crosstask view {out}                   watch the videos with the steps found")
    say(f"  crosstask run {out / 'corpus'}             the same verb that your own folder takes")
    say("  crosstask init my-corpus               a folder for your own videos")


def figures_of(shown: "FilmDemoResult") -> dict[str, Any]:
    """Recall by method, and of tasks never trained on; fractions."""
    left_out = shown.left_out
    return {
        "synthetic": True,
        "recall": {name: evaluation.to_json()["recall"] for name, evaluation in shown.methods.items()},
        "left_out": {
            "tasks": left_out,
            "mean": {
                name: sum(row[name] for row in left_out.values()) / len(left_out)
                for name in ("uniform", "never_trained", "trained")
            },
        },
        "videos": shown.result.extracted.to_json(),
        "seconds": shown.seconds,
    }


def _print(shown: "FilmDemoResult", figures: dict[str, Any]) -> None:
    names = ("uniform", "hmm, no sharing", "hmm")
    corpus, recalls, left_out = shown.result.corpus, figures["recall"], figures["left_out"]
    rows = [
        [
            task.title,
            *(percent(recalls[name]["tasks"][task.id]) for name in names),
            percent(left_out["tasks"][task.id]["never_trained"]),
        ]
        for task in corpus.primary_tasks()
    ]
    means = [percent(recalls[name]["mean"]) for name in names]
    rows.append(["mean over tasks", *means, percent(left_out["mean"]["never_trained"])])
    header = ["step recall, % (synthetic videos)", "uniform", "hmm, no sharing", "hmm", "hmm, task never trained on"]
    print_table(f"{len(shown.tested)} test videos in kitchens of their own", header, rows)
    say("\nWhere the time went")
    for what, spent in shown.seconds.items():
        say(f"  {duration(spent):>6}  {what}")
