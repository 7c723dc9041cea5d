"""The functions that `view` passes to the viewer: localization of an edited step list, and the store of annotations."""

import gc
import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING

from crosstask.records import FeatureRows, InputError, NoFeatures, Task, task_from_steps
from crosstask.runs import LABELS_FILE, RunFolder, RunVideo, refuse_outside, scores_path
from crosstask.viewer.annotations import AnnotationStore
from crosstask.viewer.backend import EditedLocalization, ViewerBackend

log = logging.getLogger(__name__)
if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from crosstask.model.model import Model


def build_backend(run: RunFolder, model: Path | None, features: FeatureRows) -> ViewerBackend:
    """The backend for the viewer of this run."""
    from crosstask.datasets import write_step_intervals
    from crosstask.extraction.content_hash import content_digest
    from crosstask.pipeline.background_learning import BackgroundLearner

    report = DelayedReport(run.folder)
    report.request_if_older_than_labels()
    localizer, store = StepLocalizer(model, features), AnnotationStore(run, write_step_intervals, content_digest)
    reason = _why_not_learning(run, model, features)
    return ViewerBackend(
        localize_steps=localizer.localize_steps,
        annotated_videos=store.annotated_videos,
        read_annotation=store.read_annotation,
        save_annotation=store.save_annotation,
        label_step=store.label_step,
        confirm_step=store.confirm_step,
        undo=store.undo,
        read_relevance=store.read_relevance,
        save_relevance=store.save_relevance,
        learning=None if reason else BackgroundLearner(run, lambda: localizer.model, features),
        why_not_learning=reason,
        labels_changed=report.request,
        finish=report.finish,
        localizes_new_steps=model is not None and any(video.id in features for video in run.run.videos),
    )


def _why_not_learning(run: RunFolder, model: Path | None, features: FeatureRows) -> str:
    """Why the viewer does not offer to learn from labels; an empty text if it does. The model is not loaded yet."""
    from crosstask.report.page import EVALUATED_VIDEOS

    if model is None:
        return "the run has no model; repeat `crosstask run`"
    if not any(video.id in features for video in run.run.videos):
        return "the features of the videos are not available; start view with --corpus FOLDER"
    held_back = run.run.settings.get(EVALUATED_VIDEOS)
    if isinstance(held_back, list) and {str(video.key) for video in run.run.videos} <= set(held_back):
        return "the videos of this run were held back from training; a run of `crosstask run FOLDER` learns from corrections"
    method = next(iter(run.run.methods), "")
    return "" if method == "hmm" else f"method '{method}' cannot learn from labels; `hmm` can"


@dataclass
class DelayedReport:
    """Rewrites the report of a run some seconds after the last change of labels."""

    folder: Path
    delay_s: float = 3.0  # a person labels a step in a few seconds
    _timer: Timer | None = None

    def request_if_older_than_labels(self) -> None:
        """Rewrite the report if a viewer was killed after a label and before it did."""
        with suppress(OSError):  # there is no report, or there are no labels
            labels, report = ((self.folder / name).stat().st_mtime_ns for name in (LABELS_FILE, "report.html"))
            if labels > report:
                self.request()

    def request(self) -> None:
        """Begin the wait anew."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = Timer(self.delay_s, self._write)
        self._timer.daemon = True
        self._timer.start()

    def finish(self) -> None:
        """Write now what a wait is pending for."""
        if self._timer is not None and self._timer.is_alive():
            self._timer.cancel()
            self._write()

    def _write(self) -> None:
        from crosstask.pipeline.relearning import refresh_report

        try:
            refresh_report(self.folder)
        except (OSError, InputError) as error:  # the viewer shows the labels all the same
            log.warning("report.html is not up to date: %s", error)


def features_for_run(run: RunFolder, corpus: Path | None) -> FeatureRows:
    """Features of the run's videos: from the corpus if one is given, else from the run folder, else from the corpus in or around it, else none."""
    from crosstask.features import NpyFeatures

    if corpus is None and not (run.folder / "features").is_dir():
        near = (run.folder / "corpus", run.folder.absolute().parent)  # `demo` writes RUN/corpus, `run FOLDER` writes FOLDER/run
        corpus = next((folder for folder in near if (folder / "corpus.toml").is_file()), None)
    if corpus is not None:
        from crosstask.datasets import open_corpus

        found = open_corpus(corpus).features
        return _features_of_run(run, found.folder) if isinstance(found, NpyFeatures) else found
    in_run = run.folder / "features"
    return _features_of_run(run, in_run) if in_run.is_dir() else NoFeatures()


def _features_of_run(run: RunFolder, folder: Path) -> FeatureRows:
    """The features in a folder without those of files that are not the run's."""
    from crosstask.pipeline.features_of_run import FeaturesOfRun

    return FeaturesOfRun(folder, contents={video.id: video.content for video in run.run.videos if video.content is not None})


@dataclass(frozen=True)
class StepLocalizer:
    """Localizes edited step lists: by the model where features are available, else with the scores stored in the run."""

    model_file: Path | None
    features: FeatureRows

    _loaded: dict[str, tuple[int, "Model"]] = field(default_factory=dict, compare=False, repr=False)

    @property
    def model(self) -> "Model | None":
        """The model, loaded when first needed, and again when its file has changed."""
        from crosstask.model.file import load_model

        if self.model_file is None:
            return None
        changed = self.model_file.stat().st_mtime_ns
        if self._loaded.get("model", (None,))[0] != changed:
            self._loaded["model"] = (changed, load_model(self.model_file))
        return self._loaded["model"][1]

    def localize_steps(self, run: RunFolder, method: str, video: RunVideo, steps: tuple[str, ...]) -> EditedLocalization:
        """The localization of these steps in a video."""
        task = task_from_steps(steps)
        if len(task.steps) > video.n_segments:
            raise InputError(f"{video.n_segments} seconds cannot hold {len(task.steps)} steps in order; write fewer steps")
        if self.model is not None and video.id in self.features:
            return self._by_model(self.model, task, video)
        return self._by_stored_scores(task, run, method, video)

    def _by_model(self, model: "Model", task: Task, video: RunVideo) -> EditedLocalization:
        import numpy as np

        from crosstask.inference import decoder_of
        from crosstask.model.localization import localization_of, video_scores
        from crosstask.pipeline.features_of_run import why_not_for_model

        if reason := why_not_for_model(self.features, model):
            raise InputError(reason)
        scored = video_scores(model, task, np.asarray(self.features.rows(video.id)))
        notes = []
        if unknown := model.unknown_words(task):
            notes.append(f"Words that the model does not know: {', '.join(unknown)}.")
        if unknown_steps := model.unknown_steps(task):
            notes.append(f"Placed by order alone, as none of their words is known: {', '.join(unknown_steps)}.")
        found = localization_of(task, scored, video.id, decoder_of(model))
        return EditedLocalization(found, scored.scores, "model", tuple(notes))

    def _by_stored_scores(self, task: Task, run: RunFolder, method: str, video: RunVideo) -> EditedLocalization:
        """Steps for which the run has scores, in the new order; the others are named in a note and left out."""
        from crosstask.model.localization import localization_of

        stored = _stored_scores(run, method, video)
        columns = score_columns(task.steps, run.run.tasks[video.task].steps)
        missing = [step for step, column in zip(task.steps, columns, strict=True) if column is None]
        known = [step for step, column in zip(task.steps, columns, strict=True) if column is not None]
        if not known:
            raise InputError(f"no scores for {', '.join(missing)[:200]}: {_WHAT_TO_DO}")
        scores = stored[:, [column for column in columns if column is not None]]
        notes = ["Only steps of this task can be localized here, in any order or selection, as the features are not available."]
        if missing:
            notes.append(f"Left out: {', '.join(missing)}. {_WHAT_TO_DO[0].upper()}{_WHAT_TO_DO[1:]}")
        return EditedLocalization(localization_of(task_from_steps(known), scores, video.id), scores, "kept scores", tuple(notes))


def warm_up(run: RunFolder) -> None:
    """Compile the decoder and order the steps for review before the first request needs them."""
    import numpy as np

    from crosstask.correction.queue import pool_of
    from crosstask.model.localization import localization_of

    localization_of(task_from_steps("warm up"), np.zeros((2, 1)))
    pool_of(run)
    gc.freeze()


_WHAT_TO_DO = "new steps need the model and the features: start view with --corpus FOLDER."


def score_columns(wanted: Sequence[str], stored: Sequence[str]) -> list[int | None]:
    """For each wanted step the column of its scores, or None; repeated names take their columns in order, then the last again.

    >>> score_columns(["stir", "Pour", "stir", "serve"], ["pour", "stir"])
    [1, 0, 1, None]
    """
    remaining: dict[str, list[int]] = {}
    for column, name in enumerate(stored):
        remaining.setdefault(name.casefold(), []).append(column)
    found = (remaining.get(name.casefold()) for name in wanted)
    return [None if columns is None else columns.pop(0) if len(columns) > 1 else columns[0] for columns in found]


def _stored_scores(run: RunFolder, method: str, video: RunVideo) -> "npt.NDArray[np.floating]":
    """Scores (T, K) that the run stored for the steps of its own task."""
    task = run.run.tasks.get(video.task)
    refuse_outside(run.folder, scores_path(run.folder, method, video.key))
    values = run.scores(method, video.key)
    if task is None or values is None or values.ndim != 2 or values.shape[1] != len(task.steps):
        raise InputError(f"the run has no scores of this video: {_WHAT_TO_DO}")
    return values
