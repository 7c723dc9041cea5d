"""`crosstask train`: a model from a corpus."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crosstask.cli.options import (
    AsJson,
    CorpusFolder,
    MethodName,
    Recipe,
    Seed,
    SharedVideos,
    SplitSeed,
    VideoList,
    annotated_list,
    chosen_method,
    training_videos,
)
from crosstask.cli.output import command, counted, note, print_json, say
from crosstask.cli.progress import progress

if TYPE_CHECKING:
    from crosstask.model.model import Model
    from crosstask.records import Corpus


def train(
    corpus: CorpusFolder,
    out: Annotated[Path, typer.Option("--out", help="Model file to write, e.g. model.safetensors.")],
    method: MethodName = None,
    recipe: Recipe = None,
    sharing: Annotated[
        str | None,
        typer.Option(
            "--sharing",
            help="What steps share: component (words; the default), step (names), task-component, none, or FILE.py:NAME.",
        ),
    ] = None,
    no_narration: Annotated[bool, typer.Option("--no-narration", help="Train without the narration windows.")] = False,
    use_annotations: Annotated[
        str | None,
        typer.Option(
            "--use-annotations",
            metavar="LIST|all",
            help="Use the annotation of these training videos as labels: a file with one TASK_VIDEO a line, or all.",
        ),
    ] = None,
    tasks: Annotated[str, typer.Option("--tasks", help="all, primary or related.")] = "all",
    learning_rate: Annotated[
        float | None, typer.Option("--learning-rate", help="zhukov19: step size of Adam. Default: 1e-5.")
    ] = None,
    dropout: Annotated[float | None, typer.Option("--dropout", help="zhukov19: share of inputs dropped. Default: 0.7.")] = None,
    initial_epochs: Annotated[
        int | None, typer.Option("--initial-epochs", min=0, help="zhukov19: epochs on random labels. Default: 30.")
    ] = None,
    epochs: Annotated[int | None, typer.Option("--epochs", min=0, help="zhukov19: epochs of alternation. Default: 30.")] = None,
    label_cost: Annotated[
        str | None, typer.Option("--label-cost", help="zhukov19: upper-bound (Eq. 17), linearised (published code) or plain.")
    ] = None,
    videos: VideoList = None,
    split: SplitSeed = None,
    shared_videos: SharedVideos = "keep",
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Train a model on step lists and narration windows, and save it in one file.

    Example: crosstask train data/crosstask --out model.safetensors --split 0
    """
    from time import perf_counter

    from crosstask.datasets import open_corpus
    from crosstask.features.packed_corpus import with_packed_features
    from crosstask.model.file import MODEL_MARK, save_model
    from crosstask.model.training import n_epochs
    from crosstask.model.training import train as train_model
    from crosstask.pipeline.preflight import refuse_outdated_features
    from crosstask.report.training import refuse_other_page
    from crosstask.storage import nonblocking_lock, refuse_other_content

    name = chosen_method(method, recipe)
    opened = open_corpus(corpus)
    refuse_outdated_features(opened)
    opened = with_packed_features(opened, progress)
    chosen = _only_tasks(opened.only(training_videos(opened, videos, split, shared_videos)), tasks)
    given: dict[str, Any] = {
        "sharing": sharing,
        "learning_rate": learning_rate,
        "dropout": dropout,
        "initial_epochs": initial_epochs,
        "epochs": epochs,
        "label_cost": label_cost,
    }
    settings = _settings(name, {key: value for key, value in given.items() if value is not None})
    say_what_to_expect(chosen)
    begun = perf_counter()
    if out.is_dir():
        from crosstask.records import InputError

        raise InputError(f"--out {out}: a folder; expected the name of a model file")
    refuse_other_content(out, MODEL_MARK)
    refuse_other_page(_report_path(out))
    checkpoint = out.with_name(out.name + ".checkpoint")
    with nonblocking_lock(out), progress("training", n_epochs(name, **settings)) as advance:
        model = train_model(
            chosen,
            name,
            videos=[str(video.key) for video in chosen.videos],
            narration=not no_narration,
            use_annotations=annotated_list(opened, use_annotations),
            seed=seed,
            checkpoint=checkpoint,
            after_epoch=lambda state: advance(),
            **settings,
        )
        save_model(model, out)
        listed = chosen if videos is not None or split is not None else _only_tasks(opened, tasks)
        without = {video.key for video in listed.videos} - opened.validation - model.trained_on
        report = _report(out, model, chosen, sorted(map(str, without)))
        checkpoint.unlink(missing_ok=True)
    seconds = perf_counter() - begun
    if as_json:
        print_json({"model": str(out), "videos": len(model.trained_on), "tasks": len(chosen.tasks), "seconds": seconds})
    else:
        n_tasks = len({video.task for video in chosen.videos})
        say(
            f"{out}: {model.method} trained on {counted(len(model.trained_on), 'video')} of {counted(n_tasks, 'task')} in {seconds:.1f} s"
        )
        say(f"open {report}: training data and settings")
        say(f"next: {command('evaluate', corpus, '--model', out)}")


def _only_tasks(corpus: "Corpus", which: str) -> "Corpus":
    from crosstask.records import InputError

    if which not in ("all", "primary", "related"):
        raise InputError(f"--tasks {which}: expected all, primary or related")
    if which == "all":
        return corpus
    return corpus.only_tasks(task.id for task in corpus.tasks.values() if task.primary == (which == "primary"))


def _settings(method: str, given: dict[str, Any]) -> dict[str, Any]:
    """The given settings that the method has; the others are named in a note and left out."""
    from crosstask.methods.table import known_settings

    known = known_settings(method, given)
    if left_out := [f"--{name.replace('_', '-')}" for name in given if name not in known]:
        note(f"note: {', '.join(left_out)} {'is' if len(left_out) == 1 else 'are'} no setting of {method} and left out")
    return known


def _report(out: Path, model: "Model", corpus: "Corpus", without: Sequence[str]) -> Path:
    """`MODEL.report.html` beside the model; without times and paths, so that the same training gives the same bytes."""
    from crosstask.report.training import write_training_report
    from crosstask.report.window_coverage import window_coverage_section

    trained = [video for video in corpus.videos if video.key in model.trained_on]
    about = {
        "method": model.method,
        "training videos": len(trained),
        "tasks": len({video.task for video in trained}),
        "videos with narration windows": sum(video.key in corpus.windows for video in trained),
        "videos without features, or with fewer segments than steps, left out": len(without),
        "features": model.feature_spec,
        "seed": model.seed,
        "settings": dict(model.settings),
    }
    if (used := getattr(model.scorer, "windows_used", None)) is not None:
        about["narration windows"] = "used" if used else "not used: they are not informative about the features"
    notes = [f"left out: {', '.join(without[:20])}{' ...' if len(without) > 20 else ''}"] if without else []
    narrated = [video for video in trained if video.key in corpus.windows]
    places = window_coverage_section(
        corpus.tasks, [(v.key, corpus.n_segments(v), tuple(corpus.windows[v.key])) for v in narrated]
    )
    losses = list(getattr(model.scorer, "losses", ()))
    return write_training_report(_report_path(out), out.name, about, {model.method: losses}, notes, places)


def _report_path(out: Path) -> Path:
    return out.with_name(f"{out.name.removesuffix('.safetensors')}.report.html")  # a name such as lr-0.1 has no ending


def say_what_to_expect(corpus: "Corpus") -> None:
    """A note for users with very little data."""
    trainable = [video for video in corpus.videos if video.id in corpus.features]
    n_tasks = len({video.task for video in trainable})
    if n_tasks == 1:
        note("note: one task: nothing can be shared, so expect what its own videos give; related tasks help")
    if 0 < len(trainable) < 10:
        note(
            f"note: only {counted(len(trainable), 'video')}: expect little more than the order of steps; the paper uses 30 a task"
        )
