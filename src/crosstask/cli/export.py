"""`crosstask export`: chapters and files for editors, players and annotation tools."""

from pathlib import Path
from typing import Annotated

import typer

from crosstask.cli.options import AsJson
from crosstask.cli.output import counted, note, print_json, say

_MANY_FILES = 1000  # below that an export takes seconds


def export(
    run: Annotated[Path, typer.Argument(help="Run folder (the --out of demo, run or experiment cross-task).")],
    formats: Annotated[
        list[str] | None,
        typer.Option(
            "--format", help="vtt, youtube, activitynet, elan, label-studio, fiftyone, csv, json, html or all (repeatable)."
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Folder to write to [default: RUN/exports].")] = None,
    method: Annotated[str | None, typer.Option("--method", help="Which method's parses [default: the run's main one].")] = None,
    fps: Annotated[float, typer.Option("--fps", min=0.1, help="Frames a second, for Label Studio alone.")] = 25.0,
    all_steps: Annotated[bool, typer.Option("--all-steps", help="Keep the steps that are taken to be absent.")] = False,
    min_confidence: Annotated[
        float, typer.Option("--min-confidence", help="Leave out steps whose confidence is known to be lower.")
    ] = 0.0,
    as_json: AsJson = False,
) -> None:
    """Write the found steps in the formats that other programs read; every format unless one is named.

    Example: crosstask export demo --format youtube
    """
    from crosstask.export import export_run, format_names
    from crosstask.runs import open_run

    names = format_names(formats)
    target = out or run / "exports"
    paths, remarks = export_run(open_run(run), names, target, method, fps, all_steps, _note_each_tenth, min_confidence)
    for remark in remarks[:20]:
        note(f"note: {remark}")
    if len(remarks) > 20:
        note(f"note: and {len(remarks) - 20} more such changes; --json lists all")
    if as_json:
        print_json({"files": [str(path) for path in paths], "remarks": remarks})
    else:
        say(f"{counted(len(paths), 'file')} in {target}: {', '.join(names)}")


def _note_each_tenth(name: str, done: int, total: int) -> None:
    """Report the progress of a format with many files; every file is flushed to disk."""
    if total >= _MANY_FILES and done * 10 // total > (done - 1) * 10 // total:
        note(f"{name}: {done} of {total} files")
