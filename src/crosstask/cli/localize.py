"""`crosstask localize`: where the steps of a task happen in new videos."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from crosstask.cli.options import AsJson, Decoder, Overwrite, check_decoder
from crosstask.cli.output import clock, command, counted, note, print_json, printable, recorded_command, say

if TYPE_CHECKING:
    from crosstask.model.model import Model
    from crosstask.pipeline.localize_files import LocalizedFile
    from crosstask.records import Localization, Task


def localize(
    context: typer.Context,
    inputs: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="INPUT", help="Video files, subtitle files, or feature files (T, D); a first *.safetensors is the model."
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
    title: Annotated[
        str | None, typer.Option("--title", help="The title of a new task; it makes the comparison with speech more specific.")
    ] = None,
    narration: Annotated[
        list[Path] | None,
        typer.Option("--narration", help="Subtitle files to use, one per input; they may also be the only input (repeatable)."),
    ] = None,
    language: Annotated[
        str | None, typer.Option("--language", help="Language of the speech, e.g. de [default: detected]. Not with a model.")
    ] = None,
    formats: Annotated[
        list[str] | None,
        typer.Option(
            "--format", help="vtt, youtube, activitynet, elan, label-studio, fiftyone, csv, json, html or all (repeatable)."
        ),
    ] = None,
    features: Annotated[
        str | None,
        typer.Option(
            "--features",
            help="clip=FOLDER: the image-text model of the features; without a model file, frames are compared with step names.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="A file, or a folder; without --format, the folder is a run that `view` and `export` open."),
    ] = None,
    all_steps: Annotated[bool, typer.Option("--all-steps", help="Export also the steps that are taken to be absent.")] = False,
    encoder: Annotated[str | None, typer.Option("--encoder", help="Without a model: as for narrate.")] = None,
    encoder_file: Annotated[Path | None, typer.Option("--encoder-file", help="Without a model: as for narrate.")] = None,
    sharing: Annotated[
        str | None,
        typer.Option("--sharing", help="FILE.py:NAME, for new tasks of a model trained with your own sharing function."),
    ] = None,
    decoder: Decoder = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Find the steps of a task in new videos, by a model or, without one, by what is said; the task may be new as well.

    Example: crosstask localize talk.mp4 --steps-file steps.txt --format youtube
    """
    from crosstask.records import InputError

    check_decoder(decoder)
    files = list(inputs or [])
    if model is None and files and files[0].suffix == ".safetensors":
        model = files.pop(0)
    names = _steps(task, steps, steps_file)
    said = list(narration or [])
    if model is None and not files:
        files, said = said, []
    _check_files(files, said)
    wanted_formats = _formats(formats, out)
    problems: list[str] = []
    if model is None and features is None:
        if names is None:
            raise InputError('--task needs a model: --model FILE; without one, give the steps: --steps "pour milk, whisk egg"')
        wanted, found = _without_model(files, said, names, title, language, encoder, encoder_file)
    else:
        wanted, found, problems = _by_model(model, files, said, task, names, title, sharing, decoder, features)
    for problem in problems:
        note(f"error: {problem}")
    read = [path for path in (model, steps_file, encoder_file, *said) if path is not None]
    _write(found, wanted, wanted_formats, out, all_steps, as_json, recorded_command(context), read, overwrite)
    if problems:
        raise typer.Exit(2)


def _steps(task: str | None, steps: str | None, steps_file: Path | None) -> str | list[str] | None:
    """The step names that were given; None where a task was named."""
    from crosstask.datasets.step_lists import read_step_list
    from crosstask.records import InputError

    given = [
        option for option, value in (("--task", task), ("--steps", steps), ("--steps-file", steps_file)) if value is not None
    ]
    if len(given) > 1:
        raise InputError(f"{' and '.join(given)}: expected one of them")
    if not given:
        raise InputError('say which steps to look for: --task ID, --steps "pour milk, whisk egg" or --steps-file FILE')
    if steps is not None and os.path.isfile(steps):  # noqa: PTH113 - a long list of steps is no path, which Path.is_file raises for
        raise InputError(f"--steps {steps}: a file; expected step names, or the file as --steps-file {steps}")
    return steps if steps_file is None else read_step_list(steps_file)


def _check_files(files: list[Path], narration: list[Path]) -> None:
    """Errors for missing files, before anything is loaded."""
    from crosstask.records import InputError

    if not files:
        raise InputError("say what to localize: MODEL and video or feature files, or a video or subtitle file with --steps")
    if narration and len(narration) != len(files):
        raise InputError(f"{len(narration)} files for --narration and {len(files)} inputs; expected one for each input")
    for path in (*files, *narration):
        if not path.is_file():
            found = "not a regular file" if path.exists() else "no such file"
            raise InputError(f"{path}: {found}; expected a video, subtitles, or features (T, D) as .npy")


def _formats(formats: list[str] | None, out: Path | None) -> list[str]:
    """Export formats: those that were named, or that of the ending of --out; none for a run folder or for a list on the screen."""
    from crosstask.export import format_names
    from crosstask.pipeline.localize_files import FORMAT_OF_ENDING

    if formats:
        return format_names(formats)
    ending = "" if out is None or out.is_dir() else out.suffix.lower()
    return [FORMAT_OF_ENDING[ending]] if ending in FORMAT_OF_ENDING else []


def _by_model(
    file: Path | None,
    files: list[Path],
    narration: list[Path],
    task: str | None,
    steps: str | list[str] | None,
    title: str | None,
    sharing: str | None,
    decoder: str | None,
    features: str | None,
) -> "tuple[Task, list[LocalizedFile], list[str]]":
    from dataclasses import replace

    from crosstask.pipeline.localize_files import localize_files_by_model

    model = _loaded(file, sharing, features)
    wanted = _task_wanted(model, task, steps)
    if task is None and title:
        wanted = replace(wanted, id=title, title=title)
    return wanted, *localize_files_by_model(model, files, wanted, narration, decoder)


def _loaded(model: Path | None, sharing: str | None, features: str | None) -> "Model":
    """The model in a file, told where the weights of its features are; without a file, the image-text model alone."""
    from crosstask.methods.own_code import load_own
    from crosstask.model.file import load_model
    from crosstask.model.localize_video import zero_shot_model

    if model is None:
        return zero_shot_model(features or "")
    loaded = load_model(model, load_own(sharing) if sharing is not None else None)
    return loaded if features is None else loaded.with_features(features)


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


def _without_model(
    files: list[Path],
    narration: list[Path],
    steps: str | list[str],
    title: str | None,
    language: str | None,
    encoder: str | None,
    encoder_file: Path | None,
) -> "tuple[Task, list[LocalizedFile]]":
    """Steps in video or subtitle files by what is said, each file on its own."""
    from crosstask.pipeline.localize_files import localize_files
    from crosstask.records import task_from_steps
    from crosstask.text.encoders.choice import choose_encoder
    from crosstask.text.language import known_language

    task = task_from_steps(steps, title or "new task")
    code = None if language is None else known_language(language)
    chosen = choose_encoder(encoder, encoder_file, task.steps) if encoder or encoder_file else None
    found = localize_files(files, task, narration, code, chosen)
    for file in found:
        note(f"note: {file.path.name}: found by {file.found.source}")
    return task, found


def _write(
    found: "list[LocalizedFile]",
    task: "Task",
    formats: list[str],
    out: Path | None,
    all_steps: bool,
    as_json: bool,
    typed: str,
    read: list[Path],
    overwrite: bool,
) -> None:
    """The result on the screen, as JSON, as files, or as a run folder; `read` are the files used besides the localized ones."""
    from crosstask.pipeline.localize_files import exports_of_files, write_exports, write_localized_run

    remarks: list[str] = []
    if out is not None and formats:
        paths, remarks = write_exports(out, found, task, formats, all_steps, read, overwrite)
        note(f"note: {counted(len(paths), 'file')} in {out}: {', '.join(formats)}")
    elif out is not None:
        write_localized_run(out, found, task, typed)
        note(f"note: run folder {out}; watch it with: {command('view', out)}")
    for remark in remarks:
        note(f"note: {remark}")
    if as_json:
        print_json([file.found.localization.to_json() for file in found])
    elif formats and out is None:
        texts, remarks = exports_of_files(found, task, formats, None, all_steps)
        for remark in remarks:
            note(f"note: {remark}")
        for text in (text for files in texts.values() for text in files.values()):
            typer.echo(printable(text), nl=False)
    elif out is None:
        for file in found:
            _print(file.found.localization)


def _print(localization: "Localization") -> None:
    say(f"{localization.video}")
    for step in localization.steps:
        say(f"  {clock(step.moment_s)}  {step.name}{'' if step.shown else '  (not shown)'}")
