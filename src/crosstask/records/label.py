"""What a person says about one step of a video. Labels are hard supervision; narration windows are not."""

from collections.abc import Iterable
from dataclasses import dataclass

from crosstask.records.interval import TOLERATED_OVERSHOOT_S, Interval, StepInterval
from crosstask.records.problem import InputError


@dataclass(frozen=True, order=True)
class StepLabel:
    """One of three statements about step `step` (numbered from 0): a moment in it, all of its intervals, or that it is not shown.

    >>> StepLabel(0, moment_s=12.0).kind, StepLabel(1, intervals=(Interval(3, 5),)).kind, StepLabel(2).kind
    ('moment', 'intervals', 'not shown')
    """

    step: int
    moment_s: float | None = None
    intervals: tuple[Interval, ...] = ()

    def __post_init__(self) -> None:
        """Refuse a label that says two things."""
        if self.moment_s is not None and self.intervals:
            raise InputError(f"step {self.step + 1}: a label is one moment or some intervals; found both")

    @property
    def kind(self) -> str:
        """'moment', 'intervals' or 'not shown'."""
        return "moment" if self.moment_s is not None else "intervals" if self.intervals else "not shown"

    @property
    def shown(self) -> bool:
        """False if the label says that the video does not show the step."""
        return self.moment_s is not None or bool(self.intervals)

    def fits(self, n_segments: int) -> bool:
        """True unless it lies after the end of a video, as when that was replaced by a shorter one.

        >>> StepLabel(0, moment_s=12.0).fits(20), StepLabel(0, intervals=(Interval(3, 50),)).fits(20), StepLabel(0).fits(20)
        (True, False, True)
        """
        ends = [self.moment_s or 0.0, *(interval.end_s for interval in self.intervals)]
        return max(ends) <= n_segments + TOLERATED_OVERSHOOT_S


def labels_from_annotation(annotation: Iterable[StepInterval], n_steps: int) -> tuple[StepLabel, ...]:
    """A label for each of the steps: its annotated intervals, or that it is not shown.

    >>> labels_from_annotation([StepInterval(1, Interval(3, 5))], 2)[0].kind
    'not shown'
    """
    intervals: list[list[Interval]] = [[] for _ in range(n_steps)]
    for span in annotation:
        intervals[span.step].append(span.interval)
    return tuple(StepLabel(step, intervals=tuple(sorted(found))) for step, found in enumerate(intervals))
