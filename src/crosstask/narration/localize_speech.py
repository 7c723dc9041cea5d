"""Localizations of the steps of a task from subtitles alone."""

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from crosstask.inference.once import decode_once
from crosstask.narration.collection import CollectionSettings, collection_evidence, mention_probabilities, window_scores
from crosstask.narration.narrate import speech_matcher, spoken_evidence
from crosstask.narration.windows import windows_around
from crosstask.records import FoundStep, InputError, Localization, Narration, Task
from crosstask.text.encoders import Encoder

_MIN_VIDEOS = 10  # with fewer videos, prototypes and positions would mostly be estimated from errors


def localize_from_speech(
    narrations: Mapping[str, Narration], task: Task, encoder: Encoder, settings: CollectionSettings | None = None
) -> list[Localization]:
    """The localization of each narrated video, by name, steps in order; several videos of one task are evaluated jointly.

    The score of a step is the probability that it is mentioned at all; below one half the step counts as not shown.
    """
    settings = settings or CollectionSettings()
    if len(narrations) < _MIN_VIDEOS:
        settings = replace(settings, prototype_weight=0.0, position_weight=0.0)
    matcher = speech_matcher(encoder, [" ".join(word.text for word in narration.words) for narration in narrations.values()])
    videos = [spoken_evidence(task, said, _n_segments(name, said, task), matcher) for name, said in narrations.items()]
    evidence = collection_evidence(videos, matcher.weights(settings), settings)
    localizations = []
    for name, video, s in zip(narrations, videos, evidence, strict=True):
        moments = decode_once(-window_scores(video, s, settings), name)
        windows = windows_around(moments, video.n_segments, settings.window_s)
        probabilities = np.minimum(mention_probabilities(s, settings), 1.0)
        steps = [
            FoundStep(
                step,
                float(int(moment)),
                float(p),
                window.interval.start_s,
                window.interval.end_s,
                bool(p >= 0.5),
                float(p),
                float(p),
            )
            for step, moment, window, p in zip(task.steps, moments, windows, probabilities, strict=True)
        ]
        localizations.append(Localization(name, task.id, steps))
    return localizations


def _n_segments(name: str, narration: Narration, task: Task) -> int:
    """Whole seconds up to the end of the last word; an error where they are fewer than the steps."""
    seconds = math.ceil(max((word.end_s for word in narration.words), default=0.0))
    if not narration.words or seconds < len(task.steps):
        raise InputError(
            f"{name}: {len(narration.words)} words in {seconds} s of speech; expected at least a second for each of {len(task.steps)} steps"
        )
    return seconds
