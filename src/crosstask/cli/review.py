"""`crosstask review`: which steps of a run a person should check next, and how accurate the run is."""

from pathlib import Path
from typing import Annotated

import typer

from crosstask.cli.options import AsJson
from crosstask.cli.output import print_json, print_table, say


def review(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="Run folder: the --out of demo, run or experiment cross-task.")],
    top: Annotated[int, typer.Option("--top", min=1, help="How many steps to list.")] = 20,
    as_json: AsJson = False,
) -> None:
    """List the steps to check next: by expected gain, every fifth drawn at random; accuracy is estimated from those alone.

    Example: crosstask review demo
    """
    from crosstask.correction.queue import review as review_run
    from crosstask.runs import open_run

    opened = open_run(run)
    found, counts = review_run(opened, top), opened.counts()
    if as_json:
        print_json({**found.to_json(), "found": counts.found, "corrected": counts.corrected})
        return
    say(str(counts))
    say(str(found.accuracy))
    if found.changes_little:
        say(f"further corrections change little: {100 * found.expected_wrong:.0f} % of the next answers are expected to be wrong")
    if not found.items:
        say("nothing to check: every step is labelled, or its video is marked irrelevant")
        return
    rows = [
        [
            str(item.key),
            item.found.name,
            f"{item.found.moment_s:g} s" if item.found.shown else "not shown",
            f"{100 * item.p_right:.0f} %",
            item.drawn,
        ]
        for item in found.items
    ]
    print_table(
        f"next {len(rows)} of {found.n_left} steps to check", ["video", "step", "found at", "right with", "drawn by"], rows
    )
    say(f"answer them by keyboard: crosstask view {run}, then Review")
