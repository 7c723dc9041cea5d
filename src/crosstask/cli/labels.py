"""`crosstask labels import` and `crosstask labels list`: what people said about the steps of a run."""

from pathlib import Path
from typing import Annotated, Any

import typer

from crosstask.cli.options import AsJson
from crosstask.cli.output import counted, note, print_json, print_table, say
from crosstask.cli.ranges import checked

labels_app = typer.Typer(help="Corrections that people made in a run folder: import and list them.", no_args_is_help=True)
RunArgument = Annotated[Path, typer.Argument(metavar="RUN", help="Run folder: the --out of demo, run or experiment cross-task.")]


@labels_app.command("import")
@checked
def labels_import(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="CSV, WebVTT chapters (TASK_VIDEO.vtt), ActivityNet or Label Studio JSON.")
    ],
    run: Annotated[Path, typer.Option("--run", help="Run folder that gets the labels.")],
    fps: Annotated[
        float | None,
        typer.Option("--fps", min=0.1, help="Frames a second of a Label Studio file that does not state them [default: 25]."),
    ] = None,
    confirm: Annotated[
        bool, typer.Option("--confirm", help="Also label the steps that the file gives just as the machine found them.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Read labels from a file, matched by video and step name; steps that have a label keep it, and all mismatches are listed.

    Example: crosstask labels import steps.csv --run demo
    """
    from crosstask.correction.importing import import_labels
    from crosstask.pipeline.relearning import refresh
    from crosstask.runs import open_run

    report = import_labels(open_run(run), file, fps, confirm)
    if report.n_imported or report.kept:  # perhaps by a command that did not get this far
        refresh(run)
    if as_json:
        print_json(report.to_json())
        return
    for mismatch in report.mismatches:
        note(f"no match: {mismatch}")
    for kept in report.kept:
        note(f"kept: {kept} has a label already, which stays")
    say(f"{counted(report.n_imported, 'step')} in {counted(len(report.imported), 'video')} labelled from {file.name}")
    if report.unchanged:
        say(f"{counted(report.unchanged, 'step')} as the machine found them, not labelled; --confirm labels them too")


@labels_app.command("list")
@checked
def labels_list(run: RunArgument, as_json: AsJson = False) -> None:
    """Print the labels of a run.

    Example: crosstask labels list demo
    """
    from crosstask.runs import open_run

    opened = open_run(run)
    rows = [_row(key, label) for key, labels in sorted(opened.labels.labels().items()) for label in labels.values()]
    if as_json:
        counts = opened.counts()
        print_json({"labels": rows, "found": counts.found, "corrected": counts.corrected})
        return
    if unused := opened.labels.unused():
        note(
            f"{counted(len(unused), 'label')} of steps or video files that the run does not have, kept and not listed: {unused[0]} ..."
        )
    if not rows:
        say("no labels; `crosstask view` and `crosstask labels import` make some")
        return
    print_table(str(opened.counts()), ["video", "step", "label"], [[row["video"], row["step"], _words(row)] for row in rows])


def _row(key: Any, label: Any) -> dict[str, Any]:
    said = label.label
    intervals = [[interval.start_s, interval.end_s] for interval in said.intervals]
    return {"video": str(key), "step": label.name, "kind": said.kind, "moment_s": said.moment_s, "intervals": intervals}


def _words(row: dict[str, Any]) -> str:
    if row["kind"] == "moment":
        return f"{row['moment_s']:g} s"
    return ", ".join(f"{start:g} - {end:g} s" for start, end in row["intervals"]) or "not shown"
