"""`crosstask run`: a folder of how-to videos -> a run folder with the steps found."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crosstask.cli.extract import Address, Device, Engine, Every, Weights, WorkerCount, team_of, weights_given
from crosstask.cli.options import AsJson, Seed
from crosstask.cli.output import command, counted, note, percent, print_json, recorded_command, report_skipped, say
from crosstask.cli.progress import duration, progress, size

if TYPE_CHECKING:
    from crosstask.extraction.feature_spec import FeatureSpec
    from crosstask.pipeline.run import RunResult


def run(
    context: typer.Context,
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Corpus folder: corpus.toml beside videos/TASK/*.mp4 (`init` makes one).")
    ],
    model: Annotated[Path | None, typer.Option("--model", help="Use this model instead of training one.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the estimated time and disk space, and stop.")] = False,
    features: Annotated[
        str | None, typer.Option("--features", help="As for extract [default: what the model was trained on, else default].")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Run folder to write [default: FOLDER/run].")] = None,
    no_speech: Annotated[bool, typer.Option("--no-speech", help="Do not recognise speech where subtitles are missing.")] = False,
    speech_model: Annotated[Path | None, typer.Option("--speech-model", help="faster-whisper model folder.")] = None,
    use_annotations: Annotated[
        str | None,
        typer.Option(
            "--use-annotations",
            help="all, or a file with one TASK_VIDEO a line: use their annotations as labels (as train does).",
        ),
    ] = None,
    language: Annotated[
        str | None, typer.Option("--language", help="Language of the speech to recognise, e.g. de [default: detected].")
    ] = None,
    weights: Weights = None,
    every: Every = 1,
    device: Device = "auto",
    engine: Engine = "local",
    workers: WorkerCount = None,
    address: Address = None,
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Extract features, transcribe speech, train, and localize every video in a folder; repeat it to resume.

    Corrections in the run folder are used in training and stay as they are.

    Example: crosstask run my-corpus
    """
    from crosstask.pipeline.run import RunConfig, run_folder, spec_of_run
    from crosstask.text.language import known_language

    spec = spec_of_run(features, model, weights=weights_given(weights), every=every, device=device)
    if dry_run:
        _estimate(folder, spec, team_of(engine, workers, address).count, not no_speech, as_json)
        return
    out = out or folder / "run"
    team, typed = team_of(engine, workers, address), recorded_command(context)
    config = RunConfig(spec, seed, model, "component", team, speech_model, not no_speech, typed)
    spoken = None if language is None else known_language(language)
    config = replace(config, use_annotations=_annotated(folder, use_annotations), language=spoken, features_named=bool(features))
    result = run_folder(folder, out, config, progress)
    say_finished(result, out, as_json)


def _annotated(folder: Path, use_annotations: str | None) -> tuple[str, ...] | str | None:
    """The value of --use-annotations: "all", or the keys in a file."""
    from crosstask.cli.options import annotated_list
    from crosstask.datasets import open_corpus

    if use_annotations is None:
        return None
    listed = annotated_list(open_corpus(folder), use_annotations)
    return listed if listed is None or isinstance(listed, str) else tuple(listed)


def say_finished(result: "RunResult", out: Path, as_json: bool) -> None:
    """Print the counts of a run, and what to do next."""
    from crosstask.records import install_command
    from crosstask.runs import open_run

    transcribed, extracted = result.transcribed, result.extracted
    report_skipped(result.skipped | transcribed.skipped)
    if transcribed.silent:
        note(
            f"note: {len(transcribed.silent)} videos have no subtitles and speech is not recognised: {install_command('speech')}"
        )
    steps = open_run(out).counts()
    counts = {
        "done": len(extracted.done),
        "reused": len(extracted.reused),
        "skipped": dict(sorted(result.skipped.items())),
        "recognised": len(transcribed.recognised),
        "embedded_subtitles": len(transcribed.embedded),
        "windows": result.windows,
        "localized": len(result.localized),
        "steps": {"found": steps.found, "corrected": steps.corrected},
        "run": str(out),
        "results": result.results,
    }
    if as_json:
        print_json(counts)
        return
    say(
        f"{counted(len(extracted.done), 'video')} done, {counts['reused']} reused, {len(result.skipped)} skipped; "
        f"{result.windows} with narration; steps found in {len(result.localized)}"
    )
    say(str(steps))
    if result.results:
        means = {name: percent(result["recall"]["mean"]) for name, result in result.results.items()}
        where = "annotated videos without labels" if steps.corrected or result.corpus.labels else "annotated videos"
        say(f"step recall on {where}, %: " + ", ".join(f"{name} {mean}" for name, mean in means.items()))
    say(f"open {out / 'report.html'}: what was found, with timelines")
    say(f"next: {command('view', out)}    {command('export', out, '--format', 'youtube')}")


def _estimate(folder: Path, spec: "FeatureSpec", n_workers: int, transcribe: bool, as_json: bool) -> None:
    from crosstask.datasets import open_corpus
    from crosstask.extraction.speech import can_transcribe
    from crosstask.pipeline.estimate import estimate
    from crosstask.pipeline.media import files_by_id, need_media

    corpus = open_corpus(folder)
    files, _ = files_by_id(need_media(corpus))
    without_subtitles = frozenset(files) - frozenset(corpus.subtitles) if transcribe and can_transcribe() else frozenset()
    cost = estimate(files, spec, without_subtitles)
    wall = cost.cpu_seconds / n_workers + cost.transcription_cpu_seconds
    figures: dict[str, Any] = {
        "videos": cost.videos,
        "hours_of_video": cost.seconds / 3600,
        "cpu_seconds": cost.cpu_seconds + cost.transcription_cpu_seconds,
        "seconds": wall,
        "feature_bytes": cost.feature_bytes,
        "unreadable": cost.unreadable,
        "recipe": str(spec),
    }
    report_skipped(cost.unreadable)
    if as_json:
        print_json(figures)
        return
    say(f"{counted(cost.videos, 'video')}, {duration(cost.seconds)} in all, by {spec}")
    say(
        f"about {duration(wall)} with {n_workers} at a time ({duration(figures['cpu_seconds'])} of CPU), {size(cost.feature_bytes)} of features"
    )
