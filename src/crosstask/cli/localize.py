"""`crosstask localize`: where the steps of a task happen in new videos."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crosstask.cli.options import AsJson
from crosstask.cli.output import counted, note, print_json, say

if TYPE_CHECKING:
    from crosstask.model.model import Model
    from crosstask.records import Localization, Task


def localize(
    model: Annotated[Path | None, typer.Argument(help="Model file written by train.")] = None,
    inputs: Annotated[
        list[Path] | None, typer.Argument(metavar="INPUT...", help="Video files, or feature files (T, D), one row a second.")
    ] = None,
    task: Annotated[str | None, typer.Option("--task", help="A task the model knows, by id or title.")] = None,
    steps: Annotated[str | None, typer.Option("--steps", help='A new step list: "pour milk, whisk egg".')] = None,
    narration: Annotated[
        list[Path] | None,
        typer.Option("--narration", help="Subtitles instead of a model: what is said tells where (repeatable)."),
    ] = None,
    title: Annotated[str | None, typer.Option("--title", help="With --narration: what the task is called; it helps.")] = None,
    encoder: Annotated[str | None, typer.Option("--encoder", help="With --narration: as for narrate.")] = None,
    encoder_file: Annotated[Path | None, typer.Option("--encoder-file", help="With --narration: as for narrate.")] = None,
    as_json: AsJson = False,
) -> None:
    """Find the steps of a task in videos that the model never saw; the task may be new as well.

    Example: crosstask localize model.safetensors features/new.npy --steps "pour milk, whisk egg"
    """
    from crosstask.model.model import load_model
    from crosstask.records import InputError

    if narration:
        _from_narration(narration, steps, title, encoder, encoder_file, as_json, model)
        return
    if model is None or not inputs:
        raise InputError("say what to parse: MODEL and feature files, or --narration FILE with --steps")
    loaded = load_model(model)
    wanted = task_wanted(loaded, task, steps)
    found, problems = [], []
    for path in inputs:
        try:
            found.append(_localize(loaded, wanted, path))
        except InputError as error:
            problems.append(str(error))
    for problem in problems:
        note(f"error: {problem}")
    if as_json:
        shapes = [localization.to_json() for localization in found]
        print_json(shapes[0] if len(inputs) == 1 and shapes else shapes)
    else:
        for localization in found:
            _print(localization)
    if problems:
        raise typer.Exit(2)


def _from_narration(
    narration: list[Path],
    steps: str | None,
    title: str | None,
    encoder: str | None,
    encoder_file: Path | None,
    as_json: bool,
    model: Path | None,
) -> None:
    """Answer from subtitles alone."""
    from crosstask.cli.narrate import localize_narration
    from crosstask.records import InputError

    if steps is None:
        raise InputError('say which steps to look for: --narration FILE --steps "pour milk, whisk egg"')
    if model is not None:
        raise InputError("--narration answers from subtitles alone; leave out the model and the feature files")
    localize_narration(narration, steps, title, encoder, encoder_file, as_json)


def task_wanted(model: "Model", task: str | None, steps: str | None) -> "Task":
    """The task by id or title, or a new one from its steps; words that were never trained are named."""
    from crosstask.records import InputError, task_from_steps

    if (task is None) == (steps is None):
        raise InputError('say which steps to look for: either --task ID or --steps "pour milk, whisk egg"')
    if task is not None:
        known = {t.id: t for t in model.tasks.values()} | {t.title.lower(): t for t in model.tasks.values()}
        if task not in known and task.lower() not in known:
            from difflib import get_close_matches

            near = get_close_matches(task.lower(), known, n=3, cutoff=0.4)
            hint = f"; did you mean {' or '.join(near)}?" if near else f"; it knows {counted(len(model.tasks), 'task')}"
            raise InputError(f"task '{task}' is not in the model{hint} A new task needs only --steps")
        return known.get(task) or known[task.lower()]
    wanted = task_from_steps(steps or "")
    unknown, lost = model.scorer.unknown_words(wanted), model.scorer.unknown_steps(wanted)
    if unknown:
        note(f"note: never trained: {', '.join(unknown)}")
    if lost:
        note(f"warning: placed by order alone, as none of their words was trained: {', '.join(lost)}")
    return wanted


def _localize(model: "Model", task: "Task", path: Path) -> "Localization":
    import numpy as np

    from crosstask.features import read_rows
    from crosstask.records import InputError

    if not path.is_file():
        raise InputError(f"{path}: no such file; expected features (T, D) as .npy")
    if path.suffix != ".npy":
        from crosstask.cli.extract import described

        return model.localize(task, described(path, model.feature_spec), video=path.stem)
    return model.localize(task, np.asarray(read_rows(path)), video=path.stem)


def _print(localization: "Localization") -> None:
    say(f"{localization.video}")
    for step in localization.steps:
        say(f"  {clock(step.second)}  {step.step}")


def clock(second: Any) -> str:
    """Minutes and seconds.

    >>> clock(75)
    ' 1:15'
    """
    return f"{int(second) // 60:2d}:{int(second) % 60:02d}"
