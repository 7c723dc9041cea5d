"""Localization of one video by one call: by a model, or without one by its narration, or by even spacing where it has none."""

import logging
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from crosstask.methods.order_only import Uniform
from crosstask.model.joint_localization import narration_beside
from crosstask.model.localization import localization_of
from crosstask.narration.mention_evidence import mention_centres, settings_for
from crosstask.narration.narrate import NarratedVideo, why_unusable
from crosstask.records import FoundStep, InputError, Localization, Narration, Task, Video, task_from_steps

if TYPE_CHECKING:
    from crosstask.model.model import Model

log = logging.getLogger(__name__)
EVEN_SPACING = "even spacing, as there is no usable narration"


class Source(NamedTuple):
    """A narration, and where it comes from in words."""

    narration: Narration
    name: str


def localize(
    video: str | Path,
    steps: str | Sequence[str],
    title: str = "",
    model: "Model | str | Path | None" = None,
    features: str | None = None,
) -> Localization:
    """Where each step happens in a video file or a subtitle file; without a model, by what is said.

    Without a model, the narration is taken from a subtitle file itself, from subtitles beside or inside a video file, or from
    recognised speech where it is installed. A video without narration is divided evenly. With `features="clip=FOLDER"` of an
    image-text model and no other model, frames are compared with the step names.
    """
    task = task_from_steps(steps, title or "new task")
    if model is None and features is not None:
        return zero_shot_model(features).localize(video, task)
    if model is None:
        found, source = localize_without_model(Path(video), task)
        log.info("%s: steps found by %s", video, source)
        return found
    if isinstance(model, str | Path):
        from crosstask.model.file import load_model

        model = load_model(model)
    return (model if features is None else model.with_features(features)).localize(video, task)


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


def localize_without_model(path: Path, task: Task) -> tuple[Localization, str]:
    """The localization of a task's steps in a video or subtitle file, and what it was found by, in words."""
    from crosstask.datasets.subtitle_folders import EXTENSIONS

    if not path.is_file():
        raise InputError(f"{path}: no such file; expected a video file or subtitles (.vtt, .srt, .json)")
    if path.suffix.lower() in (".npy", ".npz", ".safetensors"):
        raise InputError(f"{path}: features need a model: --model FILE; without one, give a video file or subtitles")
    is_subtitle = path.suffix.lower() in EXTENSIONS
    source = _subtitle_file(path) if is_subtitle else _narration_of_video(path)
    n_segments = _last_word(source.narration) if is_subtitle and source else _length_of_video(path)
    if source is not None:
        reason = why_unusable(NarratedVideo(Video(task.id, path.stem), source.narration, n_segments), task)
        if not reason:
            return localize_by_mentions(task, source.narration, n_segments, path.stem), source.name
        log.warning("%s: its narration is not used: %s", path.name, reason)
    if n_segments < len(task.steps):
        raise InputError(
            f"{path}: {n_segments} s cannot hold {len(task.steps)} steps in order; give a longer video or fewer steps"
        )
    scores = Uniform().score(task, np.empty((n_segments, 0)))
    found = localization_of(task, scores, path.stem)
    evenly = [FoundStep(s.name, s.moment_s, 0.0, s.start_s, s.end_s) for s in found.steps]
    return Localization(path.stem, task.id, evenly), EVEN_SPACING


def localize_by_mentions(task: Task, narration: Narration, n_segments: int, video: str) -> Localization:
    """The localization of a task's steps from one narration; the score of a step is the probability that it is mentioned.

    A step that is not mentioned may still be shown, so every step counts as shown.
    """
    from crosstask.text.encoders.choice import installed_sentence_encoder

    centres, p_mentioned = mention_centres(task, narration, n_segments, installed_sentence_encoder())
    half_s = settings_for(n_segments, len(task.steps), 1).window_s / 2
    steps = [
        FoundStep(
            name,
            float(min(math.floor(centre), n_segments - 1)),
            float(p),
            float(max(math.floor(centre - half_s), 0)),
            float(min(math.ceil(centre + half_s), n_segments)),
        )
        for name, centre, p in zip(task.steps, centres, p_mentioned, strict=True)
    ]
    return Localization(video, task.id, steps)


def _subtitle_file(path: Path) -> Source:
    from crosstask.datasets.subtitles import read_narration

    return Source(read_narration(path), f"subtitles {path.name}")


def _narration_of_video(path: Path) -> Source | None:
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
        return Source(transcribe(path), "recognised speech")
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
