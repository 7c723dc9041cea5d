"""Extract, listen, narrate, train, localise: a folder of videos in, a run folder out."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from crosstask.corpus_building.task_map import draw_task_map
from crosstask.datasets import open_corpus, write_step_intervals
from crosstask.evaluation.evaluate import evaluate
from crosstask.extraction.extract_many import Extracted
from crosstask.extraction.feature_spec import FeatureSpec
from crosstask.methods.hmm import HiddenMarkovModel
from crosstask.methods.uniform import Uniform
from crosstask.model.model import Model, absence_thresholds_of, load_model, parse, save_model
from crosstask.narration.narrate import narrate_best, transcripts, usable_videos
from crosstask.pipeline.extract import Workers, extract_corpus
from crosstask.pipeline.frame_strips import write_strips
from crosstask.pipeline.media import files_by_id, media_of
from crosstask.pipeline.preflight import refuse_in_vain, refuse_undescribed, say_unusable
from crosstask.pipeline.transcribe import TranscriptionReport, transcribe_videos
from crosstask.records import Corpus, InputError, Localization, Task, VideoKey
from crosstask.report.page import EVALUATED_VIDEOS, write_report
from crosstask.runs import Run, RunVideo, write_run
from crosstask.storage import derived_folder, exclusive_or_refused
from crosstask.text.encoders import Encoder

Progress = Callable[[str, int], AbstractContextManager[Callable[[], None]]]


@dataclass(frozen=True)
class RunConfig:
    """What a run is asked for."""

    spec: FeatureSpec
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
class RunResult:
    """What a run did."""

    corpus: Corpus
    model: Model
    extracted: Extracted
    transcribed: TranscriptionReport
    windows: int
    localized: tuple[Localization, ...]
    skipped: dict[str, str]
    results: dict[str, Any]


def run_folder(
    folder: Path,
    out: Path,
    config: RunConfig,
    encoder_for: Callable[[Sequence[str]], Encoder],
    progress: Progress,
) -> RunResult:
    """All stages, each skipping what it finds done; the run is in `out`, which nobody else may write meanwhile."""
    refuse_in_vain(open_corpus(folder), out, config.speech_model if config.listen else None)
    with exclusive_or_refused(out):
        return run_stages(folder, out, config, encoder_for, progress)


def run_stages(
    folder: Path, out: Path, config: RunConfig, encoder_for: Callable[[Sequence[str]], Encoder], progress: Progress
) -> RunResult:
    """The same, for a caller that holds `out`."""
    corpus = open_corpus(folder)
    transcribed = _transcribe(corpus, config, progress)
    extracted, _ = _extract(open_corpus(folder), config, encoder_for, progress)
    windows = _narrate(open_corpus(folder), encoder_for, progress)
    corpus = open_corpus(folder)
    refuse_undescribed(corpus, extracted.skipped)
    model = load_model(config.model) if config.model else _train(corpus, config, progress)
    if "unknown" not in (model.feature_spec, corpus.feature_spec) and model.feature_spec != corpus.feature_spec:
        raise InputError(f"features are '{corpus.feature_spec}' but the model was trained on '{model.feature_spec}'")
    return _localize(corpus, model, out, config, StageOutputs(extracted, transcribed, windows), progress)


@dataclass(frozen=True)
class StageOutputs:
    """What the stages before localising did."""

    extracted: Extracted
    transcribed: TranscriptionReport
    windows: int


def _transcribe(corpus: Corpus, config: RunConfig, progress: Progress) -> TranscriptionReport:
    assert corpus.folder is not None
    files, _ = files_by_id(media_of(corpus))
    ours = derived_folder(corpus.folder) / "subtitles"
    mute = {v: path for v, path in files.items() if v not in corpus.subtitles or (ours / f"{v}.vtt").is_file()}
    if not mute or not config.listen:
        return TranscriptionReport()
    with progress("listening", len(mute)) as advance:
        return transcribe_videos(mute, ours, config.speech_model, advance)


def _extract(
    corpus: Corpus, config: RunConfig, encoder_for: Callable[[Sequence[str]], Encoder], progress: Progress
) -> tuple[Extracted, Path]:
    encoder = encoder_for(()) if config.spec.speech else None
    with progress("extracting", len(media_of(corpus))) as advance:
        return extract_corpus(corpus, config.spec, None, config.workers, encoder, advance)


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
    with exclusive_or_refused(folder), progress("narrating", len(usable)) as advance:
        found = narrate_best(corpus, usable, encoder_for(transcripts(usable)), advance=advance)
        stale = {path.name for path in folder.glob("*.csv")} - {f"{key}.csv" for key in found.windows}
        for name in sorted(stale):
            (folder / name).unlink()
        for key, windows in sorted(found.windows.items()):
            write_step_intervals(folder / f"{key}.csv", windows)
    return len(found.windows)


def _train(corpus: Corpus, config: RunConfig, progress: Progress) -> Model:
    chosen = [video for video in corpus.videos if video.id in corpus.features]
    if config.train_videos is not None:
        chosen = [video for video in chosen if video.key in config.train_videos]
    if not chosen:
        raise InputError(f"corpus '{corpus.name}': no video could be described, so there is nothing to learn from")
    with progress("training", HiddenMarkovModel().settings.rounds) as advance:
        learner = HiddenMarkovModel(config.sharing, after_round=lambda done: advance())
        kept = corpus.only_tasks({video.task for video in chosen}).only(chosen)
        scorer = learner.fit(kept, np.random.default_rng(config.seed))
    trained = frozenset(video.key for video in chosen)
    settings = {"recipe": "best", "sharing": config.sharing}
    return Model(scorer, kept.tasks, "best", corpus.feature_spec, trained, settings, config.seed)


def _localize(corpus: Corpus, model: Model, out: Path, config: RunConfig, before: StageOutputs, progress: Progress) -> RunResult:
    from crosstask import __version__

    media = media_of(corpus)
    uniform = Uniform().fit(corpus, np.random.default_rng(config.seed))
    listed = [video for video in corpus.videos if video.id in corpus.features]
    parses: dict[str, list[Localization]] = {"best": [], "uniform": []}
    scores, shown = [], []
    skipped = dict(before.extracted.skipped)
    with progress("localising", len(listed)) as advance:
        for video in listed:
            task, rows = corpus.task_of(video), np.asarray(corpus.features.rows(video.id))
            try:
                values = _scores(model, task, rows, video.id)
                found = parse(task, values, video.id, absence_thresholds_of(model, task))
            except InputError as error:
                skipped[str(video.key)] = str(error)
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
    results = _results(corpus, model, uniform, shown, config)
    run = Run(
        title=f"Steps found in {corpus.name}",
        kind="run",
        command=config.command,
        seed=config.seed,
        synthetic=config.synthetic,
        tasks=corpus.tasks,
        videos=tuple(shown),
        methods=("best", "uniform"),
        results=results,
        settings=_settings(corpus, config, results),
        notes=tuple(f"set aside: {reason}" for _, reason in sorted(skipped.items())),
        version=__version__,
    )
    write_run(out, run, parses, scores)
    known = {key.task for key in model.trained_on}
    write_strips(out, {task: "best" for task in corpus.tasks if task not in known}, _held_back(corpus, config))
    draw_task_map(out, corpus.tasks, config.seed)
    write_report(out)
    return RunResult(corpus, model, before.extracted, before.transcribed, before.windows, tuple(parses["best"]), skipped, results)


def _held_back(corpus: Corpus, config: RunConfig) -> frozenset[VideoKey] | None:
    """The videos that were not trained on, where some were held back."""
    return None if config.train_videos is None else frozenset(video.key for video in corpus.videos) - config.train_videos


def _settings(corpus: Corpus, config: RunConfig, results: dict[str, Any]) -> dict[str, Any]:
    settings: dict[str, Any] = {"features": corpus.feature_spec, "sharing": config.sharing}
    held_back = _held_back(corpus, config)
    return settings if held_back is None or not results else settings | {EVALUATED_VIDEOS: sorted(map(str, held_back))}


def _scores(model: Model, task: Task, rows: npt.NDArray[np.floating], video: str) -> npt.NDArray[np.floating]:
    """(T, K), or why this video can have none."""
    if len(rows) < len(task.steps):
        raise InputError(f"{video}: {len(rows)} segments cannot hold {len(task.steps)} steps in order; give a longer video")
    return model.score(task, rows)


def _results(corpus: Corpus, model: Model, uniform: Any, shown: Sequence[RunVideo], config: RunConfig) -> dict[str, Any]:
    """Figures of both methods on annotated videos; of those not trained on, where some were held back."""
    keys = {video.key for video in shown if video.truth is not None}
    if config.train_videos is not None:
        keys -= config.train_videos
    judged = [video for video in corpus.videos if video.key in keys]
    if not judged:
        return {}
    return {name: evaluate(corpus, scorer, judged).to_json() for name, scorer in (("best", model), ("uniform", uniform))}
