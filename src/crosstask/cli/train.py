"""`crosstask train`: a model from a corpus."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crosstask.cli.options import AsJson, CorpusFolder, Seed, SharedVideos, SplitSeed, VideoList, training_videos
from crosstask.cli.output import counted, note, print_json, progress, say

if TYPE_CHECKING:
    from crosstask.model.model import Model
    from crosstask.records import Corpus

PAPER: dict[str, Any] = {"learning_rate": 1e-5, "dropout": 0.7, "initial_epochs": 30, "epochs": 30, "label_cost": "upper-bound"}


def train(
    corpus: CorpusFolder,
    out: Annotated[Path, typer.Option("--out", help="Model file to write, e.g. model.safetensors.")],
    method: Annotated[
        str, typer.Option("--method", help="proposed, task-specific, supervised, alayrac16 or richard18.")
    ] = "proposed",
    recipe: Annotated[str, typer.Option("--recipe", help="best (nothing to tune), or paper (the method of 2019).")] = "best",
    sharing: Annotated[str, typer.Option("--sharing", help="component, step, task-component or none.")] = "component",
    no_narration: Annotated[bool, typer.Option("--no-narration", help="Forget the narration windows.")] = False,
    tasks: Annotated[str, typer.Option("--tasks", help="all, primary or related.")] = "all",
    learning_rate: Annotated[float | None, typer.Option("--learning-rate", help="Paper recipe: Adam's step size [1e-5].")] = None,
    dropout: Annotated[float | None, typer.Option("--dropout", help="Paper recipe: share of inputs dropped [0.7].")] = None,
    initial_epochs: Annotated[
        int | None, typer.Option("--initial-epochs", min=0, help="Paper recipe: epochs on random labels [30].")
    ] = None,
    epochs: Annotated[
        int | None, typer.Option("--epochs", min=0, help="Paper recipe: epochs of labels and classifiers in turn [30].")
    ] = None,
    label_cost: Annotated[
        str | None, typer.Option("--label-cost", help="Paper recipe: upper-bound (Eq. 17), linearised (published code) or plain.")
    ] = None,
    videos: VideoList = None,
    split: SplitSeed = None,
    shared_videos: SharedVideos = "keep",
    seed: Seed = 0,
    as_json: AsJson = False,
) -> None:
    """Learn where steps happen from step lists and narration windows, and keep it in one file.

    Example: crosstask train data/crosstask --out model.safetensors --split 0
    """
    from time import perf_counter

    import numpy as np

    from crosstask.datasets import open_corpus
    from crosstask.features.packed_corpus import with_packed_features
    from crosstask.methods.hmm_checkpoint import HmmCheckpoint
    from crosstask.methods.zhukov19_checkpoint import Zhukov19Checkpoint
    from crosstask.model.model import Model, save_model
    from crosstask.storage import exclusive_or_refused

    opened = with_packed_features(open_corpus(corpus))
    chosen = opened.only(training_videos(opened, videos, split, shared_videos))
    chosen = _only_tasks(chosen, tasks)
    chosen = chosen.without_windows() if no_narration else chosen
    asked: dict[str, Any] = {
        "learning_rate": learning_rate,
        "dropout": dropout,
        "initial_epochs": initial_epochs,
        "epochs": epochs,
        "label_cost": label_cost,
    }
    recipe = _recipe(recipe, method, asked)
    settings = {name: PAPER[name] if value is None else value for name, value in asked.items()} if recipe == "paper" else {}
    say_what_to_expect(chosen)
    beside = out.with_name(out.name + ".checkpoint")
    checkpoint = HmmCheckpoint(beside) if recipe == "best" else Zhukov19Checkpoint(beside)
    begun = perf_counter()
    rounds = settings["initial_epochs"] + settings["epochs"] if recipe == "paper" else 10
    losses: list[float] = []
    with exclusive_or_refused(out), progress("training", rounds) as advance:
        learner = (
            _best(sharing, advance, checkpoint)
            if recipe == "best"
            else _method(method, sharing, settings, advance, checkpoint, losses)
        )
        scorer = learner.fit(chosen, np.random.default_rng(seed))
        trained = frozenset(video.key for video in chosen.videos if video.id in chosen.features)
        described = {"recipe": recipe, "sharing": sharing, "narration": not no_narration, "tasks": tasks, **settings}
        model = Model(scorer, chosen.tasks, "best" if recipe == "best" else method, opened.feature_spec, trained, described, seed)
        save_model(model, out)
        if isinstance(checkpoint, Zhukov19Checkpoint) and checkpoint.last is not None:
            losses[:] = checkpoint.last.losses  # also when all epochs were done before a kill
        report = _report(out, model, chosen, losses)
        checkpoint.forget()
    seconds = perf_counter() - begun
    if as_json:
        print_json({"model": str(out), "videos": len(trained), "tasks": len(chosen.tasks), "seconds": seconds})
    else:
        say(
            f"{out}: learnt from {counted(len(trained), 'video')} of {counted(len({v.task for v in chosen.videos}), 'task')} in {seconds:.1f} s"
        )
        say(f"open {report}: what went in, and how it was learnt")
        say(f"next: crosstask evaluate {corpus} --model {out}")


def _only_tasks(corpus: "Corpus", which: str) -> "Corpus":
    from crosstask.records import InputError

    if which not in ("all", "primary", "related"):
        raise InputError(f"--tasks {which}: expected all, primary or related")
    if which == "all":
        return corpus
    return corpus.only_tasks(task.id for task in corpus.tasks.values() if task.primary == (which == "primary"))


def _recipe(recipe: str, method: str, asked: dict[str, Any]) -> str:
    """The recipe to use: baselines know the paper's alone, and its settings mean nothing to the best one."""
    from crosstask.records import InputError

    if recipe not in ("best", "paper"):
        raise InputError(f"--recipe {recipe}: expected best or paper")
    if method != "proposed":
        return "paper"
    given = [f"--{name.replace('_', '-')}" for name, value in asked.items() if value is not None]
    if recipe == "best" and given:
        note(f"note: {', '.join(given)} belong to --recipe paper; the best recipe has nothing to tune and goes on without")
    return recipe


def _best(sharing: str, advance: Any, checkpoint: Any) -> Any:
    from crosstask.methods.hmm import HiddenMarkovModel

    return HiddenMarkovModel(sharing, after_round=lambda done: advance(), checkpoint=checkpoint)


def _method(name: str, sharing: str, settings: dict[str, Any], advance: Any, checkpoint: Any, losses: list[float]) -> Any:
    from crosstask.learning.zhukov19.alternation import AlternationSettings
    from crosstask.methods.supervised import Supervised
    from crosstask.methods.zhukov19 import Zhukov19
    from crosstask.records import InputError

    try:
        chosen = AlternationSettings(**settings)
    except ValueError as error:
        raise InputError(str(error)) from None
    if name == "supervised":
        return Supervised(sharing, chosen)
    if name in ("alayrac16", "richard18"):  # baselines with settings of their own
        from crosstask.methods import method_named

        return method_named(name)
    if name not in ("proposed", "task-specific"):
        raise InputError(f"--method {name}: expected proposed, task-specific, supervised, alayrac16 or richard18")

    def after_epoch(progress: Any) -> None:
        losses[:] = progress.losses  # all of them, also those from before a kill
        advance()

    return Zhukov19("none" if name == "task-specific" else sharing, chosen, after_epoch, checkpoint)


def _report(out: Path, model: "Model", corpus: "Corpus", losses: list[float]) -> Path:
    """`MODEL.report.html` beside the model; holds no clock and no paths, so that the same training is the same bytes."""
    from crosstask.report.training import write_training_report
    from crosstask.report.window_coverage import window_coverage_section

    trained = [video for video in corpus.videos if video.key in model.trained_on]
    without = sorted(str(video.key) for video in corpus.videos if video.key not in model.trained_on)
    about = {
        "method": model.method,
        "videos learnt from": len(trained),
        "tasks": len({video.task for video in trained}),
        "videos with narration windows": sum(video.key in corpus.windows for video in trained),
        "videos without features, set aside": len(without),
        "features": model.feature_spec,
        "seed": model.seed,
        "settings": dict(model.settings),
    }
    if (used := getattr(getattr(model.scorer, "learnt", None), "windows_used", None)) is not None:
        about["windows put to the test"] = "used" if used else "not used: they say nothing about the picture"
    notes = [f"no features: {', '.join(without[:20])}{' ...' if len(without) > 20 else ''}"] if without else []
    spoken = [video for video in trained if video.key in corpus.windows]
    places = window_coverage_section(corpus.tasks, [(v.key, corpus.n_segments(v), tuple(corpus.windows[v.key])) for v in spoken])
    path = out.with_name(f"{out.stem}.report.html")
    return write_training_report(path, f"Training of {out.name}", about, {model.method: losses}, notes, places)


def say_what_to_expect(corpus: "Corpus") -> None:
    """A word to those with very little data."""
    trainable = [video for video in corpus.videos if video.id in corpus.features]
    n_tasks = len({video.task for video in trainable})
    if n_tasks == 1:
        note("note: one task: nothing to share, so expect what its own videos give; related tasks help")
    if 0 < len(trainable) < 10:
        note(
            f"note: only {counted(len(trainable), 'video')}: expect little more than the order of steps; 30 a task is what the paper uses"
        )
