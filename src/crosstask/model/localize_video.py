"""Localization of one video by one call: by a model, or without one by its narration, or by even spacing where it has none."""

import logging
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from crosstask.inference.confidence import Calibration, calibrated
from crosstask.methods.order_only import Uniform
from crosstask.model.joint_localization import narration_beside
from crosstask.model.localization import localization_of
from crosstask.narration.language import language_of
from crosstask.narration.mention_evidence import mention_centres, settings_for
from crosstask.narration.narrate import NarratedVideo, why_unusable
from crosstask.narration.relatedness import why_unrelated
from crosstask.records import (
    FoundStep,
    InputError,
    Localization,
    Narration,
    Task,
    Video,
    path_argument,
    task_from_steps,
    text_argument,
)
from crosstask.text.encoders import Encoder
from crosstask.text.encoders.choice import encoder_for_language
from crosstask.text.language import known_language

if TYPE_CHECKING:
    from crosstask.model.model import Model

log = logging.getLogger(__name__)
EVEN_SPACING = "even spacing, as there is no usable narration"
FEATURES = (".npy", ".npz", ".safetensors")
# P(moment in step) and P(step shown) from P(step mentioned): Platt scaling on 402 narrated videos of two tasks of CrossTask.
HIT_BY_MENTION = Calibration(0.19, -1.66)
SHOWN_BY_MENTION = Calibration(0.10, 0.93)
# P(step mentioned) from which on a step is placed at its best mention. Of 287 steps of the same videos between 0.3 and 0.5, as many are hit there as
# evenly between the others; captions that a person wrote are more exact than recognised speech.
_LEAST_MENTIONED = 0.3


class Source(NamedTuple):
    """A narration, and where it comes from in words."""

    narration: Narration
    name: str


class FoundInFile(NamedTuple):
    """The localization of the steps in a file, what it was found by in words, the length of the video, and what is said in it."""

    localization: Localization
    source: str
    n_segments: int
    narration: Narration | None


def localize(
    video: str | Path,
    steps: str | Sequence[str],
    title: str = "",
    model: "Model | str | Path | None" = None,
    narration: str | Path | None = None,
    language: str | None = None,
    features: str | None = None,
) -> Localization:
    """Where each step happens in a video file or a subtitle file; without a model, by what is said.

    Without a model, the narration is taken from the subtitle file `narration`, from a subtitle file itself, from subtitles beside or
    inside a video file, or from recognised speech where it is installed. A video without narration is divided evenly.
    `language` is a code such as "de"; without it, the language of the speech is detected. With `features="clip=FOLDER"` of an
    image-text model and no other model, frames are compared with the step names.
    """
    task = task_from_steps(steps, text_argument(title, "title", "the title of the task") or "new task")
    if language is not None:
        language = known_language(text_argument(language, "language", "a code such as 'de'"))
    if features is not None:
        text_argument(features, "features", "'clip=FOLDER'")
    said = None if narration is None else path_argument(narration, "a subtitle file")
    if model is None and features is not None:
        model = zero_shot_model(features)
    if model is None:
        found = localize_file(path_argument(video, "a video or subtitle file"), task, said, language)
        log.info("%s: steps found by %s", video, found.source)
        return found.localization
    if isinstance(model, str | Path):
        from crosstask.model.file import load_model

        model = load_model(model)
    if not hasattr(model, "localize"):
        raise InputError(f"model is {model!r:.60}; expected what train or load_model returns, or a model file")
    if features is not None:
        model = model.with_features(features)
    return model.localize(video, task, narration="auto" if said is None else said)


def zero_shot_model(features: str) -> "Model":
    """A model of method `zero-shot` for `features`, such as "clip=FOLDER": it knows no task and was trained on no video."""
    from crosstask.extraction.feature_spec import parse_feature_spec, text_side_of
    from crosstask.methods.zero_shot import ZeroShotScorer
    from crosstask.model.model import Model

    spec = parse_feature_spec(features)
    side = text_side_of(spec)
    if side is None:
        raise InputError(
            f"--features {features}: no text side to compare step names with; without a model, expected --features clip=FOLDER"
        )
    return Model(ZeroShotScorer(side), {}, "zero-shot", str(spec)).with_features(features)


def localize_file(
    path: Path, task: Task, subtitles: Path | None = None, language: str | None = None, encoder: Encoder | None = None
) -> FoundInFile:
    """The steps of a task in a video or subtitle file, without a model.

    `subtitles` is a subtitle file to use instead of others, `language` that of the speech, `encoder` one to use instead of the installed one.
    """
    is_subtitle = _is_subtitle_file(path)
    if subtitles is not None or is_subtitle:
        source: Source | None = _subtitle_file(subtitles or path)
    else:
        source = _narration_of_video(path, language)
    if source is not None and language is not None:
        source = source._replace(narration=replace(source.narration, language=language))
    said = None if source is None else source.narration
    n_segments = _last_word(said) if is_subtitle and said else _length_of_video(path)
    reason = "nothing is said" if source is None else _why_not(source.narration, task, n_segments, path.stem)
    if source is not None and not reason:
        found = localize_by_mentions(task, source.narration, n_segments, path.stem, encoder)
        if found is not None:
            return FoundInFile(found, source.name, n_segments, said)
        reason = "it mentions no step"
    if source is not None:
        log.warning("%s: its narration is not used: %s", path.name, reason)
    return FoundInFile(localize_evenly(task, n_segments, path.stem), EVEN_SPACING, n_segments, said)


def localize_evenly(task: Task, n_segments: int, video: str) -> Localization:
    """The steps at even distances; how far that can be trusted is not known."""
    if n_segments < len(task.steps):
        raise InputError(
            f"{video}: {n_segments} s cannot hold {len(task.steps)} steps in order; give a longer video or fewer steps"
        )
    found = localization_of(task, Uniform().score(task, np.empty((n_segments, 0))), video)
    return Localization(video, task.id, [FoundStep(s.name, s.moment_s, 0.0, s.start_s, s.end_s) for s in found.steps])


def localize_by_mentions(
    task: Task, narration: Narration, n_segments: int, video: str, encoder: Encoder | None = None
) -> Localization | None:
    """The localization of a task's steps from one narration; None where it mentions no step.

    The score of a step is the probability that it is mentioned. A step that is hardly mentioned lies evenly between the others, and
    counts as shown: what is not mentioned may still be done.
    """
    encoder = encoder or encoder_for_language(language_of(narration))
    centres, p_mentioned = mention_centres(task, narration, n_segments, encoder)
    if not (p_mentioned >= 0.5).any():
        return None
    centres = between_mentions(centres, p_mentioned >= _LEAST_MENTIONED, n_segments)
    half_s = settings_for(n_segments, len(task.steps), 1).window_s / 2
    confidence, p_shown = calibrated(p_mentioned, HIT_BY_MENTION), calibrated(p_mentioned, SHOWN_BY_MENTION)
    steps = [
        FoundStep(
            name,
            float(min(math.floor(centres[k]), n_segments - 1)),
            float(p_mentioned[k]),
            float(max(math.floor(centres[k] - half_s), 0)),
            float(min(math.ceil(centres[k] + half_s), n_segments)),
            True,
            float(confidence[k]),
            float(p_shown[k]),
        )
        for k, name in enumerate(task.steps)
    ]
    return Localization(video, task.id, steps)


def between_mentions(
    centres: npt.NDArray[np.float64], mentioned: npt.NDArray[np.bool_], n_segments: int
) -> npt.NDArray[np.float64]:
    """Centres (K,) in which steps that are not mentioned lie evenly between their mentioned neighbours, or the ends of the video.

    >>> between_mentions(np.array([0.0, 40.0, 0.0]), np.array([False, True, False]), 100).round(1).tolist()
    [13.3, 40.0, 80.0]
    """
    known = np.flatnonzero(mentioned)
    places = np.concatenate([[-0.5], known, [len(centres) - 0.5]])
    seconds = np.concatenate([[0.0], centres[known], [n_segments]])
    return np.where(mentioned, centres, np.interp(np.arange(len(centres)), places, seconds))


def _why_not(narration: Narration, task: Task, n_segments: int, video: str) -> str:
    unusable = why_unusable(NarratedVideo(Video(task.id, video), narration, n_segments), task)
    return unusable or why_unrelated(narration, task, n_segments)


def _is_subtitle_file(path: Path) -> bool:
    """True for subtitles, False for a video; an error for what is neither."""
    from crosstask.datasets.subtitle_folders import EXTENSIONS

    if not path.is_file():
        raise InputError(f"{path}: no such file; expected a video file or subtitles (.vtt, .srt, .json)")
    if path.suffix.lower() in FEATURES:
        raise InputError(f"{path}: features need a model: --model FILE; without one, give a video file or subtitles")
    return path.suffix.lower() in EXTENSIONS


def _subtitle_file(path: Path) -> Source:
    from crosstask.datasets.subtitles import read_narration

    return Source(read_narration(path), f"subtitles {path.name}")


def _narration_of_video(path: Path, language: str | None) -> Source | None:
    """Subtitles beside the file, inside it, or recognised speech; None where there are none."""
    from crosstask.datasets.subtitles.timeline import DisplayedCue, narration_from_cues, untimed_words
    from crosstask.extraction.containers import probe
    from crosstask.extraction.speech import can_transcribe, embedded_subtitles, transcribe

    beside = narration_beside(path)
    if beside is not None:
        return Source(beside, "subtitles beside the video")
    lines = embedded_subtitles(path)
    if lines:
        cues = [DisplayedCue(start_s, end_s, (untimed_words(text),)) for start_s, end_s, text in lines]
        return Source(narration_from_cues(cues), "subtitles inside the video")
    if probe(path).has_audio and can_transcribe():
        return Source(transcribe(path, language=language), "recognised speech")
    return None


def _last_word(narration: Narration) -> int:
    """Whole seconds up to the end of the last word."""
    return math.ceil(max((word.end_s for word in narration.words), default=0.0))


def _length_of_video(path: Path) -> int:
    """Whole seconds of a video file by its header."""
    from crosstask.extraction.containers import probe

    seconds = probe(path).duration_s
    if seconds <= 0:
        raise InputError(f"{path}: its header does not say how long it is; give subtitles for it, or convert it with ffmpeg")
    return math.ceil(seconds)
