"""Localization of one video from its features and its narration together."""

import logging
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from crosstask.inference.confidence import SHOWN, calibrated, is_shown
from crosstask.model.localization import localization_of
from crosstask.narration.joint_decoding import (
    JointScores,
    contains_speech,
    evidence_scorer,
    has_feature_evidence,
    joint_scores_of_one,
    subtitle_centres,
)
from crosstask.narration.language import language_of
from crosstask.narration.narrate import NarratedVideo, why_unusable
from crosstask.records import InputError, Localization, Narration, Task, Video, path_argument
from crosstask.storage import paths_in

log = logging.getLogger(__name__)
AUTO = "auto"  # subtitles beside the video file, where there are any


def joint_localization(task: Task, found: JointScores, video: str, decoder: str) -> Localization:
    """The localization of a task's steps from joint scores, with calibrated confidence; a step counts as shown unless absence is more likely."""
    localization = localization_of(task, found.scores, video, decoder=decoder)
    moments = np.array([step.segment for step in localization.steps])
    steps = np.arange(len(moments))
    confidence = found.hits[moments, steps]
    p_shown = calibrated(found.posterior.p_shown, SHOWN)
    shown = is_shown(p_shown) & [step.shown for step in localization.steps]
    starts, ends = found.intervals(moments)
    return replace(
        localization,
        steps=[
            replace(
                step,
                start_s=float(starts[k]),
                end_s=float(ends[k]),
                shown=bool(shown[k]),
                confidence=float(confidence[k]),
                p_shown=float(p_shown[k]),
            )
            for k, step in enumerate(localization.steps)
        ],
    )


def localize_with_narration(
    model: object, task: Task, features: npt.NDArray[np.floating], narration: Narration, video: str, decoder: str
) -> Localization | None:
    """The localization of a task's steps in features (T, D) and narration; None where the narration mentions no step."""
    from crosstask.text.encoders.choice import encoder_for_language

    if reason := why_unusable(NarratedVideo(Video(task.id, video), narration, len(features)), task):
        log.warning("%s: its narration is not used: %s", video or "the video", reason)
        return None
    centres = subtitle_centres(task, narration, len(features), encoder_for_language(language_of(narration)))
    if np.isnan(centres).all():
        return None
    return joint_localization(task, joint_scores_of_one(evidence_scorer(model), task, features, centres), video, decoder)


def narration_for(model: object, video: object, narration: str | Path | None, feature_spec: str) -> Narration | None:
    """The narration to decode a video with; None where there is none, or where the model's features contain speech already.

    `narration` is a subtitle file, or "auto": subtitles beside a video file, for methods that can use them.
    """
    from crosstask.datasets.subtitles import read_narration

    if narration is None:
        return None
    if not isinstance(narration, str) or narration != AUTO:
        evidence_scorer(model)
        if contains_speech(feature_spec):
            log.warning("narration is not used: the model's features contain speech already")
            return None
        return read_narration(
            path_argument(narration, "a subtitle file"), Path(video).stem if isinstance(video, str | Path) else ""
        )
    if not has_feature_evidence(model) or contains_speech(feature_spec) or not isinstance(video, str | Path):
        return None
    try:
        return narration_beside(Path(video))
    except InputError as error:
        log.warning("narration is not used: %s", error)
        return None


def narration_beside(path: Path) -> Narration | None:
    """The narration in subtitles beside a video file; None where there are none."""
    from crosstask.datasets.subtitles import read_narration

    file = subtitles_beside(path)
    return None if file is None else read_narration(file, path.stem)


def subtitles_beside(path: Path) -> Path | None:
    """The subtitle file beside a video file (`talk.vtt` or `talk.en.srt` for `talk.mp4`); None where there is none."""
    from crosstask.datasets.corpus_toml import VIDEO_EXTENSIONS
    from crosstask.datasets.subtitle_folders import files_by_video

    if path.suffix.lower() not in VIDEO_EXTENSIONS:
        return None
    videos = {other.stem for other in paths_in(path.parent) if other.suffix.lower() in VIDEO_EXTENSIONS}
    return files_by_video(path.parent, videos).get(path.stem)
