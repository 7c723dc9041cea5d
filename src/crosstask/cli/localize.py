"""`crosstask localize`: where the steps of a task happen in new videos."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crosstask.cli.options import AsJson, Decoder, check_decoder
from crosstask.cli.output import clock, note, print_json, say

if TYPE_CHECKING:
    from crosstask.model.model import Model
    from crosstask.records import Localization, Narration, Task


def localize(
    inputs: Annotated[
        list[Path] | None,
        typer.Argument(metavar="INPUT...", help="Video files, or feature files (T, D); a first *.safetensors is the model."),
    ] = None,
    model: Annotated[Path | None, typer.Option("--model", help="Model file written by train.")] = None,
    task: Annotated[str | None, typer.Option("--task", help="A task the model knows, by id or title.")] = None,
    steps: Annotated[
        str | None, typer.Option("--steps", help='A new step list: "pour milk, whisk egg", or separated by ";".')
    ] = None,
    steps_file: Annotated[
        Path | None, typer.Option("--steps-file", help="A new step list: .txt, .md or .csv, one step a line.")
    ] = None,
    narration: Annotated[
        list[Path] | None,
        typer.Option("--narration", help="Subtitle files instead of a model: find the steps in what is said (repeatable)."),
    ] = None,
    title: Annotated[str | None, typer.Option("--title", help="With --narration: the title of the task; it helps.")] = None,
    encoder: Annotated[str | None, typer.Option("--encoder", help="With --narration: as for narrate.")] = None,
    encoder_file: Annotated[Path | None, typer.Option("--encoder-file", help="With --narration: as for narrate.")] = None,
    sharing: Annotated[
        str | None,
        typer.Option("--sharing", help="FILE.py:NAME, for new tasks of a model trained with your own sharing function."),
    ] = None,
    decoder: Decoder = None,
    as_json: AsJson = False,
) -> None:
    """Find the steps of a task in videos that the model was not trained on; the task may be new as well.

    Example: crosstask localize model.safetensors features/new.npy --steps "pour milk, whisk egg"
    """
    from crosstask.records import InputError

    check_decoder(decoder)
    files = list(inputs or [])
    if model is None and files and files[0].suffix == ".safetensors":
        model = files.pop(0)
    given = [
        option for option, value in (("--task", task), ("--steps", steps), ("--steps-file", steps_file)) if value is not None
    ]
    if len(given) > 1:
        raise InputError(f"{' and '.join(given)}: expected one of them")
    if not given:
        raise InputError('say which steps to look for: --task ID, --steps "pour milk, whisk egg" or --steps-file FILE')
    names = _steps(steps, steps_file)
    if narration:
        _from_narration(narration, names, title, encoder, encoder_file, as_json, model)
        return
    if model is None or not files:
        raise InputError("say what to localize: MODEL and video or feature files, or --narration FILE with --steps")
    for path in files:
        if not path.is_file():
            raise InputError(f"{path}: no such file; expected a video, or features (T, D) as .npy")
    from crosstask.methods.own_code import load_own
    from crosstask.model.file import load_model

    loaded = load_model(model, load_own(sharing) if sharing is not None else None)
    wanted = _task_wanted(loaded, task, names)
    found, problems = [], []
    for path in files:
        try:
            found.append(loaded.localize(path, wanted, decoder=decoder))
        except InputError as error:
            problems.append(str(error))
    for problem in problems:
        note(f"error: {problem}")
    if as_json:
        print_json([localization.to_json() for localization in found])
    else:
        for localization in found:
            _print(localization, "not shown")
    if problems:
        raise typer.Exit(2)


def _steps(steps: str | None, steps_file: Path | None) -> str | list[str] | None:
    from crosstask.datasets.step_lists import read_step_list

    return steps if steps_file is None else read_step_list(steps_file)


def _task_wanted(model: "Model", task: str | None, steps: str | list[str] | None) -> "Task":
    """The task by id or title, or a new one from its steps; words that were never trained are named."""
    wanted = model.task_wanted(task, steps)
    if task is None:
        unknown, unplaced = model.unknown_words(wanted), model.unknown_steps(wanted)
        if unknown:
            note(f"note: never trained: {', '.join(unknown)}")
        if unplaced:
            note(f"warning: placed by order alone, as none of their words was trained: {', '.join(unplaced)}")
    return wanted


def _from_narration(
    narration: list[Path],
    steps: str | list[str] | None,
    title: str | None,
    encoder: str | None,
    encoder_file: Path | None,
    as_json: bool,
    model: Path | None,
) -> None:
    """Localize steps in subtitles alone; several videos of a task help each other."""
    from crosstask.narration.localize_speech import localize_from_speech
    from crosstask.records import InputError, task_from_steps
    from crosstask.text.encoders.choice import choose_encoder

    if steps is None:
        raise InputError('say which steps to look for: --narration FILE --steps "pour milk, whisk egg"')
    if model is not None:
        raise InputError("--narration uses subtitles alone; leave out the model and the feature files")
    said = _narrations(narration)
    documents = [" ".join(word.text for word in narration.words) for narration in said.values()]
    found = localize_from_speech(
        said, task_from_steps(steps, title or "new task"), choose_encoder(encoder, encoder_file, documents)
    )
    if as_json:
        print_json([localization.to_json() for localization in found])
        return
    for localization in found:
        _print(localization, "not mentioned")


def _narrations(paths: list[Path]) -> "dict[str, Narration]":
    from crosstask.datasets.subtitles import looks_english, read_narration

    said = {}
    for path in paths:
        narration = read_narration(path)
        if not looks_english(narration):
            note(f"warning: {path.name} does not look English; the packaged sentence encoder knows English only")
        said[path.stem if path.stem not in said else str(path)] = narration
    return said


def _print(localization: "Localization", absent: str) -> None:
    say(f"{localization.video}")
    for step in localization.steps:
        say(f"  {clock(step.moment_s)}  {step.name}{'' if step.shown else f'  ({absent})'}")
