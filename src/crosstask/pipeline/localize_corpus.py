"""The last stage of a run: localize the steps in every video of a corpus, and write the run folder with its report."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from crosstask import __version__
from crosstask.corpus_building.task_map import draw_task_map
from crosstask.evaluation.evaluate import evaluate_videos, reason_for
from crosstask.inference import decoder_of
from crosstask.methods.order_only import Uniform
from crosstask.methods.protocols import Scorer
from crosstask.model.file import save_model
from crosstask.model.joint_localization import joint_localization
from crosstask.model.localization import localization_of, video_scores
from crosstask.model.localize_video import localize_evenly
from crosstask.model.model import Model
from crosstask.narration.joint_decoding import (
    JointDecoder,
    contains_speech,
    evidence_scorer,
    fit_joint_decoder,
    has_feature_evidence,
)
from crosstask.pipeline.frame_strips import write_strips
from crosstask.pipeline.media import contents_of, media_of
from crosstask.pipeline.recalibration import calibration_from, recalibrated
from crosstask.pipeline.run_labels import refresh_annotations
from crosstask.records import Corpus, InputError, Localization, Narration, StepLabel, Task, Video, VideoKey
from crosstask.report.page import EVALUATED_VIDEOS, LABELLED_VIDEOS, write_report
from crosstask.runs import LabelStore, Run, RunVideo, open_run, write_run

if TYPE_CHECKING:
    from crosstask.pipeline.run import RunConfig

KIND, DEMO_KIND = "run", "demo"  # of the run folder


@dataclass(frozen=True)
class Localized:
    """The localizations, why videos were skipped, and recall and other metrics where videos are annotated."""

    localized: tuple[Localization, ...]
    skipped: dict[str, str]
    results: dict[str, Any]


def localize_corpus(
    corpus: Corpus,
    model: Model,
    out: Path,
    config: "RunConfig",
    skipped: Mapping[str, str],
    advance: Callable[[], None] = lambda: None,
) -> Localized:
    """Localize every video that has features and write the run folder `out`; `skipped` says why others have none."""
    media, contents = media_of(corpus), contents_of(corpus)
    uniform = Uniform()
    found: dict[str, list[Localization]] = {model.method: [], "uniform": []}
    scores, videos, reasons = [], [], dict(skipped)
    joint = joint_decoder_of(corpus, model) if config.decode_with_narration else None
    calibration = calibration_from(LabelStore(out, corpus.tasks, {v.key: contents.get(v.key) for v in corpus.videos}).current())
    for video in corpus.videos:
        if video.id not in corpus.features:
            continue
        task, rows = corpus.task_of(video), np.asarray(corpus.features.rows(video.id))
        try:
            labels = corpus.labels.get(video.key, ())
            values, localization = localize_labelled(model, joint, video, task, rows, labels)
            found[model.method].append(recalibrated(localization, calibration, (label.step for label in labels)))
        except InputError as error:
            reasons[str(video.key)] = reason_for(video, error)
            continue
        finally:
            advance()
        scores.append((model.method, video.key, values))
        found["uniform"].append(localize_evenly(task, len(rows), video.id))
        truth, windows = corpus.annotations.get(video.key), corpus.windows.get(video.key)
        path = media.get(video.key)
        file = str(path.resolve()) if path else None
        videos.append(RunVideo(video.task, video.id, len(rows), file, truth, windows, contents.get(video.key)))
    if not videos:
        raise InputError(f"corpus '{corpus.name}': steps could be found in no video; the first: {reasons[min(reasons)]}")
    save_model(model, out / "model.safetensors")
    results = _results(corpus, {model.method: model, "uniform": uniform}, videos, config, joint)
    run = Run(
        title=f"Steps found in {corpus.name}",
        kind=DEMO_KIND if config.synthetic else KIND,
        command=config.command,
        seed=config.seed,
        synthetic=config.synthetic,
        tasks=corpus.tasks,
        videos=tuple(videos),
        methods=(model.method, "uniform"),
        results=results,
        settings=_settings(corpus, config, results),
        notes=tuple(f"skipped: {reason}" for _, reason in sorted(reasons.items())),
        version=__version__,
    )
    write_run(out, run, found, scores, _transcripts(corpus, videos))
    refresh_annotations(out)
    _write_report(corpus, model, out, config)
    return Localized(tuple(open_run(out).localizations[model.method].values()), reasons, results)


def _transcripts(corpus: Corpus, videos: Sequence[RunVideo]) -> dict[VideoKey, Narration]:
    """What is said in each video that has readable subtitles, for the viewer."""
    said = {}
    for video in videos:
        if video.id in corpus.subtitles:
            with suppress(InputError):  # an earlier stage said why they cannot be read
                said[video.key] = corpus.subtitles[video.id]
    return said


def joint_decoder_of(corpus: Corpus, model: Model) -> JointDecoder | None:
    """The narration of the corpus as evidence; None where the method cannot use it, or training found the windows uninformative."""
    if not has_feature_evidence(model) or contains_speech(corpus.feature_spec):
        return None
    narrated = any(key in corpus.windows for key in model.trained_on)
    if narrated and not evidence_scorer(model).windows_used:
        return None
    if not any(video.key in corpus.windows or video.id in corpus.subtitles for video in corpus.videos):
        return None
    return fit_joint_decoder(model, corpus, corpus.videos)


def localize_labelled(
    model: Model,
    joint: JointDecoder | None,
    video: Video,
    task: Task,
    rows: npt.NDArray[np.floating],
    labels: Sequence[StepLabel] = (),
) -> tuple[npt.NDArray[np.floating], Localization]:
    """Scores (T, K) and the localization of a video, with its narration where it has some, or an error that says why it has none.

    Steps with a label of a person are certain, and the others are found given these, where the method has a posterior.
    """
    if len(rows) < len(task.steps):
        raise InputError(f"{video.id}: {len(rows)} segments cannot hold {len(task.steps)} steps in order; give a longer video")
    labels = labels if has_feature_evidence(model) else ()
    narrated = joint.scores(video, task, rows, labels) if joint is not None else None
    if narrated is not None:
        return narrated.scores, joint_localization(task, narrated, video.id, decoder_of(model))
    scored = video_scores(model, task, rows, labels)
    return scored.scores, localization_of(task, scored, video.id, decoder_of(model))


def _results(
    corpus: Corpus,
    scorers: Mapping[str, Scorer],
    videos: Sequence[RunVideo],
    config: "RunConfig",
    joint: JointDecoder | None,
) -> dict[str, Any]:
    """Metrics on annotated videos without a label; only on those that were not trained on, where some were held out."""
    keys = {video.key for video in videos if video.truth is not None} - set(corpus.labels)
    if config.train_videos is not None:
        keys -= config.train_videos
    tested = [video for video in corpus.videos if video.key in keys]
    if not tested:
        return {}
    return {
        name: evaluate_videos(corpus, scorer, tested, joint=joint if isinstance(scorer, Model) else None).to_json()
        for name, scorer in scorers.items()
    }


def _held_out(corpus: Corpus, config: "RunConfig") -> frozenset[VideoKey] | None:
    """The videos that were not trained on, where some were held out."""
    return None if config.train_videos is None else frozenset(video.key for video in corpus.videos) - config.train_videos


def _settings(corpus: Corpus, config: "RunConfig", results: dict[str, Any]) -> dict[str, Any]:
    settings: dict[str, Any] = {"features": corpus.feature_spec, "sharing": config.sharing}
    if corpus.labels:
        settings[LABELLED_VIDEOS] = sorted(map(str, corpus.labels))
    held_out = _held_out(corpus, config)
    return settings if held_out is None or not results else settings | {EVALUATED_VIDEOS: sorted(map(str, held_out))}


def _write_report(corpus: Corpus, model: Model, out: Path, config: "RunConfig") -> None:
    trained = {key.task for key in model.trained_on}
    untrained = {task: model.method for task in corpus.tasks if task not in trained}
    write_strips(out, untrained, _held_out(corpus, config))
    draw_task_map(out, corpus.tasks, config.seed)
    write_report(out)
