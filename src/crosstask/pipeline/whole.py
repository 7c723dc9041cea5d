"""Extract, listen, narrate, train, localise: a folder of videos in, a run folder out."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from crosstask.collecting.map_figure import draw_task_map
from crosstask.experiments.evaluation import evaluate
from crosstask.extraction.jobs import Extracted
from crosstask.extraction.recipe import Recipe
from crosstask.methods.model import Model, least_scores_of, load_model, parse, save_model
from crosstask.methods.self_labelled import SelfLabelled
from crosstask.methods.uniform import Uniform
from crosstask.narration.recipes import narrate_best, transcripts, usable_videos
from crosstask.pipeline.extracting import Workers, extract_corpus
from crosstask.pipeline.listening import Heard, listen_to
from crosstask.pipeline.media import files_by_id, media_of
from crosstask.pipeline.refusing import refuse_in_vain, refuse_undescribed, say_unusable
from crosstask.pipeline.strips import write_strips
from crosstask.records import Corpus, InputError, Localization, Task, VideoKey
from crosstask.report.page import JUDGED, write_report
from crosstask.runs import Run, RunVideo, write_run
from crosstask.sources import open_corpus, write_step_intervals
from crosstask.storing import alone_or_refused, derived_folder
from crosstask.text.encoders import Encoder

Progress = Callable[[str, int], AbstractContextManager[Callable[[], None]]]


@dataclass(frozen=True)
class Wishes:
    """What a run is asked for."""

    recipe: Recipe
    seed: int = 0
    model: Path | None = None  # localise with this one instead of training
    sharing: str = "component"
    workers: Workers = field(default_factory=Workers)
    speech_model: Path | None = None
    listen: bool = True
    command: str = ""
    synthetic: bool = False
    train_videos: frozenset[VideoKey] | None = None  # None: all


@dataclass(frozen=True)
class Finished:
    """What a run did."""

    corpus: Corpus
    model: Model
    extracted: Extracted
    heard: Heard
    windows: int
    localized: tuple[Localization, ...]
    set_aside: dict[str, str]
    results: dict[str, Any]


def run_folder(
    folder: Path,
    out: Path,
    wishes: Wishes,
    encoder_for: Callable[[Sequence[str]], Encoder],
    progress: Progress,
) -> Finished:
    """All stages, each skipping what it finds done; the run is in `out`, which nobody else may write meanwhile."""
    refuse_in_vain(open_corpus(folder), out, wishes.speech_model if wishes.listen else None)
    with alone_or_refused(out):
        return run_stages(folder, out, wishes, encoder_for, progress)


def run_stages(
    folder: Path, out: Path, wishes: Wishes, encoder_for: Callable[[Sequence[str]], Encoder], progress: Progress
) -> Finished:
    """The same, for a caller that holds `out`."""
    corpus = open_corpus(folder)
    heard = _listen(corpus, wishes, progress)
    extracted, _ = _extract(open_corpus(folder), wishes, encoder_for, progress)
    windows = _narrate(open_corpus(folder), encoder_for, progress)
    corpus = open_corpus(folder)
    refuse_undescribed(corpus, extracted.set_aside)
    model = load_model(wishes.model) if wishes.model else _train(corpus, wishes, progress)
    if "unknown" not in (model.feature_recipe, corpus.feature_recipe) and model.feature_recipe != corpus.feature_recipe:
        raise InputError(f"features are '{corpus.feature_recipe}' but the model was trained on '{model.feature_recipe}'")
    return _localize(corpus, model, out, wishes, Context(extracted, heard, windows), progress)


@dataclass(frozen=True)
class Context:
    """What the stages before localising did."""

    extracted: Extracted
    heard: Heard
    windows: int


def _listen(corpus: Corpus, wishes: Wishes, progress: Progress) -> Heard:
    assert corpus.folder is not None
    files, _ = files_by_id(media_of(corpus))
    ours = derived_folder(corpus.folder) / "subtitles"
    mute = {v: path for v, path in files.items() if v not in corpus.subtitles or (ours / f"{v}.vtt").is_file()}
    if not mute or not wishes.listen:
        return Heard()
    with progress("listening", len(mute)) as advance:
        return listen_to(mute, ours, wishes.speech_model, advance)


def _extract(
    corpus: Corpus, wishes: Wishes, encoder_for: Callable[[Sequence[str]], Encoder], progress: Progress
) -> tuple[Extracted, Path]:
    encoder = encoder_for(()) if wishes.recipe.speech else None
    with progress("extracting", len(media_of(corpus))) as advance:
        return extract_corpus(corpus, wishes.recipe, None, wishes.workers, encoder, advance)


def _narrate(corpus: Corpus, encoder_for: Callable[[Sequence[str]], Encoder], progress: Progress) -> int:
    """How many videos now have windows; those a person put beside the corpus are left alone."""
    assert corpus.folder is not None
    if (corpus.folder / "constraints").is_dir():
        return len(corpus.windows)
    usable, unusable = usable_videos(corpus, [video for video in corpus.videos if corpus.knows_length(video)])
    say_unusable(unusable)
    if not usable:
        return 0
    folder = derived_folder(corpus.folder) / "constraints"
    with alone_or_refused(folder), progress("narrating", len(usable)) as advance:
        found = narrate_best(corpus, usable, encoder_for(transcripts(usable)), advance=advance)
        stale = {path.name for path in folder.glob("*.csv")} - {f"{key}.csv" for key in found.windows}
        for name in sorted(stale):
            (folder / name).unlink()
        for key, windows in sorted(found.windows.items()):
            write_step_intervals(folder / f"{key}.csv", windows)
    return len(found.windows)


def _train(corpus: Corpus, wishes: Wishes, progress: Progress) -> Model:
    chosen = [video for video in corpus.videos if video.id in corpus.features]
    if wishes.train_videos is not None:
        chosen = [video for video in chosen if video.key in wishes.train_videos]
    if not chosen:
        raise InputError(f"corpus '{corpus.name}': no video could be described, so there is nothing to learn from")
    with progress("training", SelfLabelled().settings.rounds) as advance:
        learner = SelfLabelled(wishes.sharing, after_round=lambda done: advance())
        kept = corpus.only_tasks({video.task for video in chosen}).only(chosen)
        scorer = learner.fit(kept, np.random.default_rng(wishes.seed))
    trained = frozenset(video.key for video in chosen)
    settings = {"recipe": "best", "sharing": wishes.sharing}
    return Model(scorer, kept.tasks, "best", corpus.feature_recipe, trained, settings, wishes.seed)


def _localize(corpus: Corpus, model: Model, out: Path, wishes: Wishes, before: Context, progress: Progress) -> Finished:
    from crosstask import __version__

    media = media_of(corpus)
    uniform = Uniform().fit(corpus, np.random.default_rng(wishes.seed))
    listed = [video for video in corpus.videos if video.id in corpus.features]
    parses: dict[str, list[Localization]] = {"best": [], "uniform": []}
    scores, shown = [], []
    set_aside = dict(before.extracted.set_aside)
    with progress("localising", len(listed)) as advance:
        for video in listed:
            task, rows = corpus.task_of(video), np.asarray(corpus.features.rows(video.id))
            try:
                values = _scores(model, task, rows, video.id)
                found = parse(task, values, video.id, least_scores_of(model, task))
            except InputError as error:
                set_aside[str(video.key)] = str(error)
                continue
            finally:
                advance()
            scores.append(("best", video.key, values))
            parses["best"].append(found)
            parses["uniform"].append(parse(task, uniform.score(task, rows), video.id))
            truth, windows = corpus.annotations.get(video.key), corpus.windows.get(video.key)
            path = media.get(video.key)
            shown.append(RunVideo(video.task, video.id, len(rows), str(path.resolve()) if path else None, truth, windows))
    save_model(model, out / "model.safetensors")
    results = _results(corpus, model, uniform, shown, wishes)
    run = Run(
        title=f"Steps found in {corpus.name}",
        kind="run",
        command=wishes.command,
        seed=wishes.seed,
        synthetic=wishes.synthetic,
        tasks=corpus.tasks,
        videos=tuple(shown),
        methods=("best", "uniform"),
        results=results,
        settings=_settings(corpus, wishes, results),
        notes=tuple(f"set aside: {reason}" for _, reason in sorted(set_aside.items())),
        version=__version__,
    )
    write_run(out, run, parses, scores)
    known = {key.task for key in model.trained_on}
    write_strips(out, {task: "best" for task in corpus.tasks if task not in known}, _held_back(corpus, wishes))
    draw_task_map(out, corpus.tasks, wishes.seed)
    write_report(out)
    return Finished(corpus, model, before.extracted, before.heard, before.windows, tuple(parses["best"]), set_aside, results)


def _held_back(corpus: Corpus, wishes: Wishes) -> frozenset[VideoKey] | None:
    """The videos that were not trained on, where some were held back."""
    return None if wishes.train_videos is None else frozenset(video.key for video in corpus.videos) - wishes.train_videos


def _settings(corpus: Corpus, wishes: Wishes, results: dict[str, Any]) -> dict[str, Any]:
    settings: dict[str, Any] = {"features": corpus.feature_recipe, "sharing": wishes.sharing}
    held_back = _held_back(corpus, wishes)
    return settings if held_back is None or not results else settings | {JUDGED: sorted(map(str, held_back))}


def _scores(model: Model, task: Task, rows: npt.NDArray[np.floating], video: str) -> npt.NDArray[np.floating]:
    """(T, K), or why this video can have none."""
    if len(rows) < len(task.steps):
        raise InputError(f"{video}: {len(rows)} segments cannot hold {len(task.steps)} steps in order; give a longer video")
    return model.score(task, rows)


def _results(corpus: Corpus, model: Model, uniform: Any, shown: Sequence[RunVideo], wishes: Wishes) -> dict[str, Any]:
    """Figures of both methods on annotated videos; of those not trained on, where some were held back."""
    keys = {video.key for video in shown if video.truth is not None}
    if wishes.train_videos is not None:
        keys -= wishes.train_videos
    judged = [video for video in corpus.videos if video.key in keys]
    if not judged:
        return {}
    return {name: evaluate(corpus, scorer, judged).to_json() for name, scorer in (("best", model), ("uniform", uniform))}
