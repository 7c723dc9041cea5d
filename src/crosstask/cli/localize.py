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
        typer.Argument(
            metavar="INPUT...", help="Video files, subtitle files, or feature files (T, D); a first *.safetensors is the model."
        ),
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
        typer.Option(
            "--narration",
            help="Subtitle files: with a model, one per input; alone, the steps are found in what is said (repeatable).",
        ),
    ] = None,
    features: Annotated[
        str | None,
        typer.Option(
            "--features",
            help="clip=FOLDER: the image-text model of the features; without a model file, frames are compared with step names.",
        ),
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
    """Find the steps of a task in new videos, by a model or, without one, by what is said; the task may be new as well.

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
    if narration and model is None and not files:
        _from_narration(narration, names, title, encoder, encoder_file, as_json)
        return
    if not files:
        raise InputError("say what to localize: MODEL and video or feature files, or a video or subtitle file with --steps")
    if narration and len(narration) != len(files):
        raise InputError(f"{len(narration)} files for --narration and {len(files)} inputs; expected one for each input")
    for path in files:
        if not path.is_file():
            raise InputError(f"{path}: no such file; expected a video, subtitles, or features (T, D) as .npy")
    if model is None and features is None:
        _without_model(narration or files, names, title, as_json)
        return
    loaded = _loaded(model, sharing, features)
    wanted = _task_wanted(loaded, task, names)
    found, problems = [], []
    subtitles: list[Path | str] = list(narration) if narration else ["auto"] * len(files)
    for path, said in zip(files, subtitles, strict=True):
        try:
            found.append(loaded.localize(path, wanted, decoder=decoder, narration=said))
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


def _loaded(model: Path | None, sharing: str | None, features: str | None) -> "Model":
    """The model in a file, told where the weights of its features are; without a file, the image-text model alone."""
    from crosstask.methods.own_code import load_own
    from crosstask.model.file import load_model
    from crosstask.model.localize_video import zero_shot_model

    if model is None:
        return zero_shot_model(features or "")
    loaded = load_model(model, load_own(sharing) if sharing is not None else None)
    return loaded if features is None else loaded.with_features(features)


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


def _without_model(paths: list[Path], steps: str | list[str] | None, title: str | None, as_json: bool) -> None:
    """Localize steps in video or subtitle files by what is said, each file on its own."""
    from crosstask.model.localize_video import localize_without_model
    from crosstask.records import InputError, task_from_steps

    if steps is None:
        raise InputError('--task needs a model: --model FILE; without one, give the steps: --steps "pour milk, whisk egg"')
    task = task_from_steps(steps, title or "new task")
    found = []
    for path in paths:
        localization, source = localize_without_model(path, task)
        note(f"note: {path.name}: found by {source}")
        found.append(localization)
    if as_json:
        print_json([localization.to_json() for localization in found])
        return
    for localization in found:
        _print(localization, "not shown")


def _from_narration(
    narration: list[Path],
    steps: str | list[str] | None,
    title: str | None,
    encoder: str | None,
    encoder_file: Path | None,
    as_json: bool,
) -> None:
    """Localize steps in subtitles alone; several videos of a task help each other."""
    from crosstask.narration.localize_speech import localize_from_speech
    from crosstask.records import InputError, task_from_steps
    from crosstask.text.encoders.choice import choose_encoder

    if steps is None:
        raise InputError('say which steps to look for: --narration FILE --steps "pour milk, whisk egg"')
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
