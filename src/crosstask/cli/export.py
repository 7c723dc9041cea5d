"""`crosstask export`: chapters and files for editors, players and annotation tools."""

from pathlib import Path
from typing import Annotated

import typer

from crosstask.cli.options import AsJson, Overwrite
from crosstask.cli.output import counted, note, print_json, say
from crosstask.cli.progress import progress


def export(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Run folder: the --out of demo, run or experiment cross-task.")],
    formats: Annotated[
        list[str] | None,
        typer.Option(
            "--format", help="vtt, youtube, activitynet, elan, label-studio, fiftyone, csv, json, html or all (repeatable)."
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Folder to write to [default: RUN/exports].")] = None,
    method: Annotated[
        str | None, typer.Option("--method", help="Method whose steps are written [default: the run's main one].")
    ] = None,
    fps: Annotated[float, typer.Option("--fps", min=0.1, help="Frames a second, for Label Studio alone.")] = 25.0,
    all_steps: Annotated[bool, typer.Option("--all-steps", help="Keep the steps that are taken to be absent.")] = False,
    min_confidence: Annotated[
        float, typer.Option("--min-confidence", help="Leave out steps whose confidence is known to be lower.")
    ] = 0.0,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Write the found steps in the formats that other programs read; every format unless one is named.

    Example: crosstask export demo --format youtube
    """
    from crosstask.export import export_run, format_names, n_exported_files
    from crosstask.runs import open_run, refuse_links_out

    names = format_names(formats)
    opened = open_run(run)
    if out is None:
        refuse_links_out(run)
    target = out or run / "exports"
    with progress("exporting", n_exported_files(names, len(opened.run.videos))) as advance:
        paths, remarks = export_run(opened, names, target, method, fps, all_steps, advance, min_confidence, overwrite)
    for remark in remarks[:20]:
        note(f"note: {remark}")
    if len(remarks) > 20:
        note(f"note: and {len(remarks) - 20} more such changes; --json lists all")
    if as_json:
        print_json({"files": [str(path) for path in paths], "remarks": remarks})
    else:
        say(f"{counted(len(paths), 'file')} in {target}: {', '.join(names)}")
