"""Found steps compared with the truth; and a localization of another run matched to a step list."""

from collections.abc import Sequence

from crosstask.records import FoundStep, Localization, StepInterval


def verdict(truth: Sequence[StepInterval] | None, step: int, second: int, n_segments: int) -> str:
    """'right', 'wrong', 'absent' (the video does not show the step) or 'unknown' (the video is not annotated).

    >>> from crosstask.records import Interval
    >>> truth = [StepInterval(0, Interval(3.5, 6.0))]
    >>> verdict(truth, 0, 3, 9), verdict(truth, 0, 7, 9), verdict(truth, 1, 7, 9), verdict(None, 0, 3, 9)
    ('right', 'wrong', 'absent', 'unknown')
    """
    if truth is None:
        return "unknown"
    intervals = [annotated.interval for annotated in truth if annotated.step == step]
    if not intervals:
        return "absent"
    return "right" if any(second in interval.segments(n_segments) for interval in intervals) else "wrong"


def match_steps(localization: Localization, steps: Sequence[str]) -> list[FoundStep | None]:
    """For each step name the found step of that name, or None; repeated names are matched in order.

    >>> found = Localization("v", "1", (FoundStep("stir", 4, 0.0, 4.0, 5.0), FoundStep("pour", 8, 0.0, 8.0, 9.0)))
    >>> [step and step.segment for step in match_steps(found, ["pour", "serve", "stir"])]
    [8, None, 4]
    """
    remaining: dict[str, list[FoundStep]] = {}
    for found in localization.steps:
        remaining.setdefault(found.name, []).append(found)
    return [remaining[step].pop(0) if remaining.get(step) else None for step in steps]
