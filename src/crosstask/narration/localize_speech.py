"""Where the steps of a task are, from subtitles alone."""

import math
from collections.abc import Mapping

import numpy as np

from crosstask.inference.once import decode_once
from crosstask.narration.collection import BestSettings, collection_evidence, mentioned, window_worth
from crosstask.narration.narrate import speech_matcher, spoken_evidence
from crosstask.narration.plain import windows_around
from crosstask.records import FoundStep, InputError, Localization, Narration, Task
from crosstask.text.encoders import Encoder

_ENOUGH_VIDEOS = 10  # below this a collection would only learn its own mistakes


def localize_from_speech(
    narrations: Mapping[str, Narration], task: Task, encoder: Encoder, settings: BestSettings | None = None
) -> list[Localization]:
    """The parse of each narrated video, by name, steps in order; several videos of one task help each other.

    The score of a step is the probability that it is mentioned at all; a step that is rather not counts as not shown.
    """
    settings = settings or BestSettings()
    if len(narrations) < _ENOUGH_VIDEOS:
        settings = BestSettings(**(vars(settings) | {"prototype_weight": 0.0, "position_weight": 0.0}))
    listener = speech_matcher(encoder, [" ".join(word.text for word in said.words) for said in narrations.values()])
    heard = [spoken_evidence(task, said, _length(name, said, task), listener) for name, said in narrations.items()]
    evidence = collection_evidence(heard, listener.weights(settings), settings)
    found = []
    for name, video, s in zip(narrations, heard, evidence, strict=True):
        moments = decode_once(-window_worth(video, s, settings), name)
        windows = windows_around(moments, video.n_segments, settings.window_s)
        steps = [
            FoundStep(step, int(moment), float(p), window.interval.start_s, window.interval.end_s, bool(p >= 0.5))
            for step, moment, window, p in zip(task.steps, moments, windows, np.minimum(mentioned(s, settings), 1.0), strict=True)
        ]
        found.append(Localization(name, task.id, tuple(steps)))
    return found


def _length(name: str, narration: Narration, task: Task) -> int:
    """Seconds up to the last word; a narration that cannot hold the steps is refused."""
    seconds = math.ceil(max((word.end_s for word in narration.words), default=0.0))
    if not narration.words or seconds < len(task.steps):
        raise InputError(
            f"{name}: {len(narration.words)} words in {seconds} s of speech; expected at least a second for each of {len(task.steps)} steps"
        )
    return seconds
