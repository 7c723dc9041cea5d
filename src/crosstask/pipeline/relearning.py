"""Learning again from the labels in a run folder: a model that starts from the last one, and what its answers would move.

`learn` computes a proposal and writes nothing. `accept` puts it in place and keeps what was there in `before_learning/`; `undo_learning` puts that back.
"""

import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from crosstask.evaluation.evaluate import evaluate_videos
from crosstask.methods.table import METHODS
from crosstask.model.file import save_model
from crosstask.model.model import Model
from crosstask.model.training import train
from crosstask.narration.joint_decoding import JointDecoder
from crosstask.pipeline.features_of_run import why_not_for_model
from crosstask.pipeline.localize_corpus import joint_decoder_of, localize_labelled
from crosstask.pipeline.recalibration import calibration_from, recalibrated
from crosstask.pipeline.run_labels import BEFORE, labels_of, refresh_annotations, relevant_videos
from crosstask.records import Corpus, FeatureRows, FoundStep, InputError, Localization, Video, VideoKey
from crosstask.report.page import LABELLED_VIDEOS, write_report
from crosstask.runs import RunFolder, open_run, refuse_links_out, scores_path, write_run
from crosstask.runs.corrected import with_labels
from crosstask.storage import nonblocking_lock, read_bytes, write_bytes

FILES = ("model.safetensors", "localizations.json", "run.json")
_UNFINISHED = "unfinished"  # beside them while a proposal is put in place
MOVED_S = 2.0  # seconds by which the moment of a step must differ to count as moved
SMALLEST_AVAILABLE_SHARE = (
    0.5  # share of the training videos that must be in the run: with fewer, learning again would lose what the others taught
)
COMPARED_VIDEOS = 8  # that tell whether the run was decoded with narration

Scores = npt.NDArray[np.floating]


@dataclass(frozen=True)
class MovedStep:
    """A step that a new model finds elsewhere, or no longer, or only now."""

    key: VideoKey
    step: int
    before: FoundStep
    after: FoundStep


@dataclass(frozen=True)
class Proposal:
    """A new model, its localizations and scores by video, metrics on videos without labels, and what would move."""

    model: Model
    localizations: Mapping[VideoKey, Localization]
    scores: Mapping[VideoKey, Scores]
    results: Mapping[str, Any]
    labelled: frozenset[VideoKey]
    n_labels: int
    moved: tuple[MovedStep, ...]
    learnt_from: Mapping[str, Mapping[VideoKey, Localization]]  # the localizations of the run then

    @property
    def n_videos_moved(self) -> int:
        """The number of videos in which a step would move."""
        return len({moved.key for moved in self.moved})


def corpus_of_run(run: RunFolder, features: FeatureRows, feature_spec: str) -> Corpus:
    """The videos of a run as a corpus: windows and annotations as the run has them, labels as they are now."""
    videos = tuple(Video(video.task, video.id) for video in run.run.videos)
    return Corpus(
        name=run.run.title,
        tasks=run.run.tasks,
        videos=videos,
        annotations={video.key: video.truth for video in run.run.videos if video.truth is not None},
        windows={video.key: video.windows for video in run.run.videos if video.windows is not None},
        features=features,
        feature_spec=feature_spec,
        labels=run.labels.step_labels(),
    )


def why_not_learning(run: RunFolder, model: Model | None, features: FeatureRows) -> str:
    """Why nothing can be learnt from labels here; an empty text where it can."""
    if model is None:
        return "the run has no model; repeat `crosstask run`"
    if not any(video.id in features for video in run.run.videos):
        return "the features of the videos are not available; start view with --corpus FOLDER"
    if reason := why_not_for_model(features, model):
        return reason
    if not (model.method in METHODS and hasattr(model.scorer, "starting_points")):
        return f"method '{model.method}' cannot learn from labels; `hmm` can"
    if model.method != next(iter(run.run.methods), ""):
        return f"the model is of method '{model.method}', the run of '{next(iter(run.run.methods), '')}'"
    available = model.trained_on & {video.key for video in run.run.videos if video.id in features}
    if len(available) < SMALLEST_AVAILABLE_SHARE * len(model.trained_on):
        return f"of the {len(model.trained_on)} videos that the model was trained on, {len(available)} are in this run; learn with `crosstask run`"
    return ""


def learn(run: RunFolder, model: Model, features: FeatureRows) -> Proposal:
    """What the model says after learning from the labels of the run, starting from its parameters."""
    if reason := why_not_learning(run, model, features):
        raise InputError(reason)
    run.raise_if_remade()
    learnt_from = run.machine_localizations
    corpus = corpus_of_run(run, features, model.feature_spec)
    known = [
        video for video in corpus.videos if video.id in features and (video.key in model.trained_on or video.key in corpus.labels)
    ]
    chosen = relevant_videos(known, run.folder, run.contents)
    kept = replace(corpus.only_tasks({video.task for video in chosen}).only(chosen), labels=labels_of(corpus, chosen))
    sharing = getattr(model.scorer, "sharing", None)
    new = train(kept, model.method, sharing, seed=model.seed, start=model, pack=False)
    joint = joint_decoder_of(corpus, new) if decoded_with_narration(run, corpus, model) else None
    localizations, scores = _localized(corpus, corpus.videos, new, joint)
    calibration = calibration_from(run.labels.current())
    localizations = {
        key: recalibrated(found, calibration, (label.step for label in corpus.labels.get(key, ())))
        for key, found in localizations.items()
    }
    moved = moved_steps(run, localizations)
    n_labels = sum(map(len, corpus.labels.values()))
    results = _results(corpus, new, joint)
    return Proposal(new, localizations, scores, results, frozenset(corpus.labels), n_labels, moved, learnt_from)


def decoded_with_narration(run: RunFolder, corpus: Corpus, model: Model) -> bool:
    """True if the answers of the run are those of its model with narration rather than without, by some of its videos."""
    joint = joint_decoder_of(corpus, model)
    if joint is None:
        return False
    now = run.machine_localizations.get(model.method, {})
    some = [video for video in corpus.videos if video.key in now][:COMPARED_VIDEOS]
    agreement = []
    for decoder in (joint, None):
        found, _ = _localized(corpus, some, model, decoder)
        pairs = [pair for key, one in found.items() for pair in zip(one.steps, now[key].steps, strict=False)]
        agreement.append(sum(a.segment == b.segment for a, b in pairs))
    return agreement[0] >= agreement[1]


def _localized(
    corpus: Corpus, videos: Iterable[Video], model: Model, joint: JointDecoder | None
) -> tuple[dict[VideoKey, Localization], dict[VideoKey, Scores]]:
    localizations, scores = {}, {}
    for video in videos:
        if video.id not in corpus.features:
            continue
        rows = np.asarray(corpus.features.rows(video.id))
        try:
            found = localize_labelled(model, joint, video, corpus.task_of(video), rows, corpus.labels.get(video.key, ()))
        except InputError:  # the run says why it has no steps of this video
            continue
        scores[video.key], localizations[video.key] = found
    return localizations, scores


def _results(corpus: Corpus, model: Model, joint: JointDecoder | None) -> dict[str, Any]:
    """Metrics on annotated videos without a label."""
    tested = [v for v in corpus.videos if v.key in corpus.annotations and v.id in corpus.features and v.key not in corpus.labels]
    return evaluate_videos(corpus, model, tested, joint=joint).to_json() if tested else {}


def moved_steps(run: RunFolder, localizations: Mapping[VideoKey, Localization]) -> tuple[MovedStep, ...]:
    """The steps of the main method that new localizations place elsewhere; labelled steps never are among them."""
    now, labels = run.localizations.get(run.run.methods[0], {}), run.labels.labels()
    moved = []
    for video in run.run.videos:
        if video.key not in localizations or video.key not in now:
            continue
        after = with_labels(localizations[video.key], labels.get(video.key, {}), video.n_segments)
        for k, (old, new) in enumerate(zip(now[video.key].steps, after.steps, strict=False)):
            if old.shown != new.shown or (new.shown and abs(old.moment_s - new.moment_s) >= MOVED_S):
                moved.append(MovedStep(video.key, k, old, new))
    return tuple(moved)


def accept(run: RunFolder, proposal: Proposal) -> None:
    """Put a proposal in place of the model and the localizations of the main method; what was there is kept for `undo_learning`."""
    main = run.run.methods[0]
    with nonblocking_lock(run.folder):
        run.raise_if_remade()
        if (_kept_folder(run.folder) / _UNFINISHED).exists():  # a process was killed while it put its proposal in place
            _restore(run.folder, main)
        now = run.machine_localizations
        if now != proposal.learnt_from:
            raise InputError("the run was changed after this was learnt, perhaps in another window; learn again")
        _back_up(run.folder, main)
        replaced = {**now, main: {**now.get(main, {}), **proposal.localizations}}
        there = open_run(run.folder).run  # perhaps made again by the same command
        results = {name: value for name, value in there.results.items() if name != main}
        settings = {**there.settings, LABELLED_VIDEOS: sorted(map(str, proposal.labelled))}
        described = replace(
            there, results={**results, **({main: proposal.results} if proposal.results else {})}, settings=settings
        )
        save_model(proposal.model, run.folder / "model.safetensors")
        scores = [(main, key, values) for key, values in proposal.scores.items()]
        write_run(run.folder, described, {method: list(found.values()) for method, found in replaced.items()}, scores)
        refresh(run.folder)
        (run.folder / BEFORE / _UNFINISHED).unlink()


def _kept_folder(folder: Path) -> Path:
    """Where the files are kept that a proposal replaces."""
    refuse_links_out(folder)
    return folder / BEFORE


def _back_up(folder: Path, method: str) -> None:
    """Copy the files that a proposal replaces; the scores of the method are moved."""
    before = folder / BEFORE
    shutil.rmtree(before, ignore_errors=True)
    for name in FILES:
        if (folder / name).is_file():
            write_bytes(before / name, read_bytes(folder / name, 2**40))
    write_bytes(before / _UNFINISHED, b"")
    scores = scores_path(folder, method, VideoKey("0", "0")).parent
    if scores.is_dir():
        (before / "scores").mkdir(parents=True, exist_ok=True)
        scores.rename(before / "scores" / method)


def undo_learning(run: RunFolder) -> None:
    """Put back what the last accepted proposal replaced."""
    before = _kept_folder(run.folder)
    if not (before / "run.json").is_file():
        raise InputError("nothing was learnt that could be undone")
    main = run.run.methods[0]
    with nonblocking_lock(run.folder):
        run.raise_if_remade()
        _restore(run.folder, main)
        refresh(run.folder)
        shutil.rmtree(before)


def _restore(folder: Path, method: str) -> None:
    """Put back the files that were kept; may be interrupted and repeated."""
    before = folder / BEFORE
    if (before / "scores" / method).is_dir():
        shutil.rmtree(folder / "scores" / method, ignore_errors=True)
        (before / "scores" / method).rename(folder / "scores" / method)
    for name in FILES:
        if (before / name).is_file():
            write_bytes(folder / name, read_bytes(before / name, 2**40))


def can_undo_learning(folder: Path) -> bool:
    """True if a proposal was accepted and not undone."""
    return (folder / BEFORE / "run.json").is_file()


def refresh(folder: Path) -> None:
    """Write again what is made from the labels and localizations of a run, where it has it: saved annotation files and the report."""
    refresh_annotations(folder)
    refresh_report(folder)


def refresh_report(folder: Path) -> None:
    """Write the report of a run again, where it has one."""
    if (folder / "report.html").is_file():
        write_report(open_run(folder).folder)
