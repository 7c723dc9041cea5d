"""The input of every format: the shown steps of a video, in order of time, with intervals inside the video."""

from dataclasses import dataclass, replace

from crosstask.records import PERSON, FoundStep, InputError, VideoKey
from crosstask.runs import RunFolder

SHORTEST_INTERVAL_S = 0.1  # formats such as WebVTT need an end after the start


@dataclass(frozen=True)
class LocalizedVideo:
    """One video of a run with its localized steps, ready to be exported."""

    key: VideoKey
    title: str
    length_s: float
    steps: tuple[FoundStep, ...]  # by start; without those predicted absent, unless all were requested
    absent: tuple[str, ...]
    media: str
    denied: frozenset[str] = frozenset()  # steps that a person said are not shown


def localized_videos(run: RunFolder, method: str | None = None, all_steps: bool = False) -> list[LocalizedVideo]:
    """The videos localized by a run's main method (or another), in the order of the run; `all_steps` includes those predicted absent."""
    name = method or next(iter(run.run.methods), "")
    if name not in run.localizations:
        raise InputError(f"method '{name}' is not in this run; it has {', '.join(run.localizations) or 'none'}")
    localizations = run.localizations[name]
    videos = []
    for video in run.run.videos:
        if video.key not in localizations:
            continue
        steps = localizations[video.key].steps
        shown_steps = [one for step in steps if step.shown or all_steps for one in _one_per_interval(step)]
        kept = [_clipped(step, float(video.n_segments)) for step in shown_steps]
        shown = sorted(kept, key=lambda step: step.start_s)
        absent = tuple(step.name for step in steps if not step.shown and not all_steps)
        title = run.run.tasks[video.task].title
        media = video.media or f"{video.id}.mp4"
        denied = frozenset(step.name for step in steps if not step.shown and step.by == PERSON)
        videos.append(LocalizedVideo(video.key, title, float(video.n_segments), tuple(shown), absent, media, denied))
    return videos


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
