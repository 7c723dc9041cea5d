"""Train a model: the one place where a method, a corpus and a seed become a `Model`."""

import logging
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from crosstask.features import NpyFeatures
from crosstask.features.packed_corpus import with_packed_features
from crosstask.features.spec_file import refuse_other_spec
from crosstask.methods import resolve_method
from crosstask.methods.own_code import is_own, load_own
from crosstask.methods.protocols import Method
from crosstask.methods.table import method_title
from crosstask.methods.training_videos import videos_to_train_on
from crosstask.model.model import Model
from crosstask.records import (
    Corpus,
    InputError,
    StepLabel,
    Video,
    VideoKey,
    corpus_argument,
    flag_argument,
    labels_from_annotation,
    list_argument,
    parse_video_key,
    path_argument,
    videos_argument,
    whole_argument,
)
from crosstask.storage import file_signature
from crosstask.text.sharing import Sharing, sharing_name

log = logging.getLogger(__name__)


def train(
    corpus: Corpus,
    method: str | Method = "hmm",
    sharing: Sharing | None = None,
    videos: Iterable[str] | None = None,
    narration: bool = True,
    use_annotations: Iterable[str] | str | None = None,
    seed: int = 0,
    start: Model | None = None,
    checkpoint: str | Path | None = None,
    after_epoch: Callable[[Any], None] | None = None,
    pack: bool = True,
    **settings: Any,
) -> Model:
    """A model trained on every video of a corpus that has features and is not for validation, or on those whose keys are given.

    Keys are "TASK_VIDEO". `method` is a name of METHODS or an object with `fit`; `settings` are the method's own. `use_annotations` lists
    training videos whose annotation is used as labels, or is "all"; without it, training is weakly supervised, apart from `corpus.labels`.
    `start` is a model to continue from, which takes fewer iterations. With a `checkpoint` path, an interrupted training resumes; delete that
    file when the model is saved. With `pack`, feature files are packed beside the corpus first.
    """
    corpus, seed = corpus_argument(corpus), whole_argument(seed, "seed")
    if start is not None:
        refuse_other_spec(start.feature_spec, corpus.feature_spec)
    files = _feature_files(corpus)
    chosen = _training_part(with_packed_features(corpus) if flag_argument(pack, "pack") else corpus, videos)
    if not flag_argument(narration, "narration"):
        chosen = chosen.without_windows()
    if sharing is not None:
        settings = {"sharing": load_own(sharing) if isinstance(sharing, str) and is_own(sharing) else sharing, **settings}
    built = resolve_method(method, **settings)
    chosen = replace(chosen, labels={**chosen.labels, **annotated_labels(chosen, use_annotations)})
    if chosen.labels and not getattr(built, "uses_labels", False):
        raise InputError(
            f"method '{method_title(method)}' cannot learn from labels; annotations and corrections can be used by: hmm, supervised"
        )
    scorer = _with_callbacks(built, checkpoint, after_epoch, start).fit(chosen, np.random.default_rng(seed))
    files_now = _feature_files(corpus)
    if changed := [video.id for video in chosen.videos if files.get(video.id) != files_now.get(video.id)]:
        raise InputError(f"the features of {changed[0]} changed while they were trained on; repeat the training")
    return Model(
        scorer=scorer,
        tasks=chosen.tasks,
        method=method_title(method),
        feature_spec=corpus.feature_spec,
        trained_on=frozenset(video.key for video in chosen.videos if _can_train(chosen, video)),
        settings={**_settings_of(built, narration), **({"labelled_videos": len(chosen.labels)} if chosen.labels else {})},
        seed=seed,
    )


def _feature_files(corpus: Corpus) -> dict[str, object]:
    """A value for each video with a feature file of its own that changes with the file."""
    if not isinstance(corpus.features, NpyFeatures):
        return {}
    return {video.id: file_signature(corpus.features.path(video.id)) for video in corpus.videos}


def _can_train(corpus: Corpus, video: Video) -> bool:
    """True if a video has features, at least as many segments as steps."""
    return video.id in corpus.features and corpus.features.length(video.id) >= len(corpus.task_of(video).steps)


def annotated_labels(corpus: Corpus, use_annotations: Iterable[str] | str | None) -> dict[VideoKey, tuple[StepLabel, ...]]:
    """The annotations of training videos as labels: of those whose keys are listed, or of all annotated ones for "all"."""
    if use_annotations is None:
        return {}
    training = {video.key: video for video in corpus.videos}
    if isinstance(use_annotations, str) and use_annotations == "all":
        wanted = [key for key in training if key in corpus.annotations]
        if not wanted:
            raise InputError(f"corpus '{corpus.name}': no training video is annotated, so there are no annotations to use")
    else:
        listed = [use_annotations] if isinstance(use_annotations, str) else list_argument(use_annotations, "use_annotations")
        wanted = [parse_video_key(key, corpus.tasks) if isinstance(key, str) else key for key in listed]
    for key in wanted:
        if key not in training:
            raise InputError(f"use_annotations: video {key} is not a training video; expected TASK_VIDEO of the training videos")
        if key not in corpus.annotations:
            raise InputError(f"use_annotations: video {key} has no annotation; expected videos that are annotated")
    found = {
        key: labels_from_annotation(corpus.annotation_of(training[key]), len(corpus.tasks[key.task].steps)) for key in wanted
    }
    for key, labels in found.items():
        refuse_beyond_end(corpus, training[key], labels)
    return found


def refuse_beyond_end(corpus: Corpus, video: Video, labels: Iterable[StepLabel]) -> None:
    """An error for a label after the end of its video: the annotation is of another video."""
    if not corpus.knows_length(video):
        return
    n_segments = corpus.n_segments(video)
    if late := [label for label in labels if not label.fits(n_segments)]:
        raise InputError(
            f"annotation of {video.key}: step {late[0].step + 1} ends after the video, which has {n_segments} seconds; "
            "check that annotation and features belong together (`crosstask validate` lists all such)"
        )


def n_epochs(method: str | Method, **settings: Any) -> int:
    """Epochs of a training, for a progress bar; 1 for a method that has none."""
    built = resolve_method(method, **settings)
    return int(getattr(built, "n_epochs", 1))


def _training_part(corpus: Corpus, videos: Iterable[str] | None) -> Corpus:
    """The corpus with the training videos, and the tasks they belong to."""
    return corpus.only(videos_to_train_on(corpus) if videos is None else videos_argument(videos, corpus))


def _with_callbacks(
    method: Any, checkpoint: str | Path | None, after_epoch: Callable[[Any], None] | None, start: Model | None
) -> Any:
    """The method with a checkpoint, a callback and a model to start from, where it has them."""
    names = {f.name for f in fields(method)} if is_dataclass(method) else set()
    changes: dict[str, Any] = {}
    if start is not None:
        if "start" not in names:
            raise InputError(f"method '{method_title(method)}' cannot start from a model; `hmm` can")
        if not hasattr(start.scorer, "starting_points"):
            raise InputError(f"start: a model of method '{start.method}', whose training cannot be continued; one of `hmm` can")
        changes["start"] = start.scorer
    elif checkpoint is not None and "checkpoint" in names:
        changes["checkpoint"] = method.checkpoint_at(path_argument(checkpoint, "the checkpoint file"))
    if after_epoch is not None and "after_epoch" in names:
        changes["after_epoch"] = after_epoch
    return replace(method, **changes) if changes else method


def _settings_of(method: Any, narration: bool) -> dict[str, Any]:
    """What a model file says of its training: the method's parameters as plain values."""
    params = method.get_params() if hasattr(method, "get_params") else {}
    flat: dict[str, Any] = {"narration": narration}
    for name, value in params.items():
        flat |= _plain(name, value)
    return flat


def _plain(name: str, value: Any) -> dict[str, Any]:
    if is_dataclass(value):
        return {k: v for f in fields(value) for k, v in _plain(f.name, getattr(value, f.name)).items()}
    if name == "sharing":
        return {name: sharing_name(value)}
    return {name: value if isinstance(value, str | int | float | bool) or value is None else str(value)}
