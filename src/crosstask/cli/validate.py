"""`crosstask validate`: every problem of a corpus at once."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from crosstask.cli.options import AsJson, CorpusFolder
from crosstask.cli.output import print_json, say

if TYPE_CHECKING:
    from crosstask.records import Problem


def validate(corpus: CorpusFolder, as_json: AsJson = False) -> None:
    """List every problem of a corpus at once, with file and line; exit code 2 when something is unusable.

    Example: crosstask validate data/crosstask
    """
    from dataclasses import asdict

    problems = all_problems(corpus)
    errors = [problem for problem in problems if problem.severity == "error"]
    if as_json:
        print_json({"problems": [asdict(p) for p in problems], "errors": len(errors), "warnings": len(problems) - len(errors)})
    else:
        for problem in problems:
            say(f"{problem.severity}: {problem}")
        verdict = "no problems" if not problems else f"{len(errors)} errors, {len(problems) - len(errors)} warnings"
        say(f"{corpus}: {verdict}")
    if errors:
        raise typer.Exit(2)


def all_problems(folder: Path) -> "list[Problem]":
    """Problems of the files, and of what they say together, sorted by file."""
    from crosstask.datasets.problems import problems_of_files
    from crosstask.pipeline.corpus_problems import problems_of_corpus

    corpus, problems = problems_of_files(folder)
    if corpus is not None:
        problems += problems_of_corpus(corpus)
    return sorted(set(problems), key=lambda p: (p.file, p.line or 0, p.message))
