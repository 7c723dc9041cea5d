"""Found steps against truth, one word each; and the parse of another run laid beside a step list."""

from collections.abc import Sequence

from crosstask.records import FoundStep, Localization, StepInterval


def verdict(truth: Sequence[StepInterval] | None, step: int, second: int, n_segments: int) -> str:
    """'right', 'wrong', 'absent' (the video does not show the step) or 'unknown' (nothing is known of the video).

    >>> from crosstask.records import Interval
    >>> truth = [StepInterval(0, Interval(3.5, 6.0))]
    >>> verdict(truth, 0, 3, 9), verdict(truth, 0, 7, 9), verdict(truth, 1, 7, 9), verdict(None, 0, 3, 9)
    ('right', 'wrong', 'absent', 'unknown')
    """
    if truth is None:
        return "unknown"
    spans = [annotated.interval for annotated in truth if annotated.step == step]
    if not spans:
        return "absent"
    return "right" if any(second in span.segments(n_segments) for span in spans) else "wrong"


def beside_steps(parse: Localization, steps: Sequence[str]) -> list[FoundStep | None]:
    """For each step name its finding in a parse, or None; a name that stands twice is matched in order.

    >>> parse = Localization("v", "1", (FoundStep("stir", 4, 0.0, 4.0, 5.0), FoundStep("pour", 8, 0.0, 8.0, 9.0)))
    >>> [found and found.second for found in beside_steps(parse, ["pour", "serve", "stir"])]
    [8, None, 4]
    """
    left: dict[str, list[FoundStep]] = {}
    for found in parse.steps:
        left.setdefault(found.step, []).append(found)
    return [left[step].pop(0) if left.get(step) else None for step in steps]
