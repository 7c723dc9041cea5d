"""What every format starts from: the shown steps of a video, in time order, with spans inside the video."""

from dataclasses import dataclass

from crosstask.records import FoundStep, VideoKey
from crosstask.runs import RunFolder


@dataclass(frozen=True)
class Parse:
    """One video of a run, ready to be exported."""

    key: VideoKey
    title: str
    length_s: float
    steps: tuple[FoundStep, ...]  # by start; without those taken to be absent, unless all were asked for
    absent: tuple[str, ...]
    media: str


def parses_of(run: RunFolder, method: str | None = None, all_steps: bool = False) -> list[Parse]:
    """The parses of a run's main method (or another), in the order of its videos; `all_steps` keeps those taken to be absent."""
    found = run.localizations[method or run.run.methods[0]]
    parses = []
    for video in run.run.videos:
        if video.key not in found:
            continue
        steps = found[video.key].steps
        kept = [_inside(step, float(video.n_segments)) for step in steps if step.shown or all_steps]
        shown = sorted(kept, key=lambda step: step.start_s)
        absent = tuple(step.step for step in steps if not step.shown and not all_steps)
        title = run.run.tasks[video.task].title
        parses.append(Parse(video.key, title, float(video.n_segments), tuple(shown), absent, video.media or f"{video.id}.mp4"))
    return parses


def _inside(step: FoundStep, length_s: float) -> FoundStep:
    """The step with its span clipped to the video, at least a tenth of a second long."""
    start = min(max(0.0, step.start_s), length_s)
    end = min(max(step.end_s, start + 0.1), length_s)
    return FoundStep(step.step, step.second, step.score, min(start, max(0.0, end - 0.1)), end, step.shown)
