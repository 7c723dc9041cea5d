"""`crosstask validate`: every problem of a corpus at once."""

import typer

from crosstask.cli.options import AsJson, CorpusFolder
from crosstask.cli.output import counted, print_json, say
from crosstask.cli.progress import progress


def validate(corpus: CorpusFolder, as_json: AsJson = False) -> None:
    """List every problem of a corpus at once, with file and line; exit code 2 when something is unusable.

    Example: crosstask validate data/crosstask
    """
    from dataclasses import asdict

    from crosstask.pipeline.corpus_problems import problems_of_folder

    problems = problems_of_folder(corpus, progress)
    errors = [problem for problem in problems if problem.severity == "error"]
    if as_json:
        print_json({"problems": [asdict(p) for p in problems], "errors": len(errors), "warnings": len(problems) - len(errors)})
    else:
        for problem in problems:
            say(f"{problem.severity}: {problem}")
        verdict = (
            "no problems"
            if not problems
            else f"{counted(len(errors), 'error')}, {counted(len(problems) - len(errors), 'warning')}"
        )
        say(f"{corpus}: {verdict}")
    if errors:
        raise typer.Exit(2)
