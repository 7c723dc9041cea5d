"""The input of every format: the shown steps of a video, in order of time, with intervals inside the video."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from crosstask.records import PERSON, FoundStep, InputError, Localization, VideoKey
from crosstask.runs import Run, RunFolder, RunVideo

SHORTEST_INTERVAL_S = 0.1  # formats such as WebVTT need an end after the start


@dataclass(frozen=True)
class LocalizedVideo:
    """One video of a run with its localized steps, ready to be exported."""

    key: VideoKey
    title: str
    length_s: float
    steps: tuple[FoundStep, ...]  # by start; without those that are left out
    absent: tuple[FoundStep, ...]  # not shown, as far as can be told, in the order of the list
    media: str
    left_out: tuple[str, ...] = ()  # why, one sentence for each step that is left out


def localized_videos(
    run: RunFolder, method: str | None = None, all_steps: bool = False, min_confidence: float = 0.0
) -> list[LocalizedVideo]:
    """The videos localized by a run's main method (or another), in the order of the run."""
    name = method or next(iter(run.run.methods), "")
    if name not in run.localizations:
        raise InputError(f"method '{name}' is not in this run; it has {', '.join(run.localizations) or 'none'}")
    return videos_of_run(run.run, run.localizations[name], all_steps, min_confidence)


def videos_of_run(
    run: Run, localizations: Mapping[VideoKey, Localization], all_steps: bool = False, min_confidence: float = 0.0
) -> list[LocalizedVideo]:
    """The videos of a run that have a localization, in the order of the run."""
    return [
        _localized(video, run.tasks[video.task].title, localizations[video.key].steps, all_steps, min_confidence)
        for video in run.videos
        if video.key in localizations
    ]


def _localized(video: RunVideo, title: str, steps: Sequence[FoundStep], all_steps: bool, min_confidence: float) -> LocalizedVideo:
    reasons = {k: reason for k, step in enumerate(steps) if (reason := why_left_out(step, all_steps, min_confidence))}
    shown = [one for k, step in enumerate(steps) if k not in reasons for one in _one_per_interval(step)]
    kept = [_clipped(step, float(video.n_segments)) for step in shown]
    return LocalizedVideo(
        video.key,
        title,
        float(video.n_segments),
        tuple(sorted(kept, key=lambda step: step.start_s)),
        tuple(step for step in steps if not step.shown and not all_steps),
        video.media or f"{video.id}.mp4",
        tuple(f"'{steps[k].name}' is left out: {reason}" for k, reason in reasons.items()),
    )


def why_left_out(step: FoundStep, all_steps: bool, min_confidence: float) -> str:
    """Why a step is not exported, or an empty string; a step of unknown confidence is kept.

    >>> why_left_out(FoundStep("stir", 3.0, 0.0, 2.0, 5.0, confidence=0.2), False, 0.5)
    'its confidence is 0.20, below 0.50'
    """
    if not step.shown and not all_steps:
        if step.by == PERSON:
            return "a person said that it is not shown"
        return "it is more likely absent than shown" + ("" if step.p_shown is None else f" (P(shown) = {step.p_shown:.2f})")
    if step.confidence is not None and step.confidence < min_confidence:
        return f"its confidence is {step.confidence:.2f}, below {min_confidence:.2f}"
    return ""


def _one_per_interval(step: FoundStep) -> list[FoundStep]:
    """The step once for each interval that a person gave it; mostly one."""
    if len(step.intervals) < 2:
        return [step]
    return [
        replace(
            step, start_s=i.start_s, end_s=i.end_s, moment_s=step.moment_s if i.start_s <= step.moment_s < i.end_s else i.start_s
        )
        for i in step.intervals
    ]


def _clipped(step: FoundStep, length_s: float) -> FoundStep:
    """The step with its interval clipped to the video, at least SHORTEST_INTERVAL_S long."""
    start = min(max(0.0, step.start_s), length_s)
    end = min(max(step.end_s, start + SHORTEST_INTERVAL_S), length_s)
    return replace(step, start_s=min(start, max(0.0, end - SHORTEST_INTERVAL_S)), end_s=end)
