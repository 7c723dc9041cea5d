"""Localizations with the labels of a person in place of the machine's answers."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from crosstask.records import PERSON, FoundStep, Interval, Localization, StepLabel
from crosstask.runs.label_changes import RunLabel


@dataclass(frozen=True)
class StepCounts:
    """How many steps were found in the videos of a run, and how many a person confirmed or corrected."""

    found: int
    corrected: int

    def __str__(self) -> str:
        """In words.

        >>> str(StepCounts(312, 14)), str(StepCounts(312, 0))
        ('312 steps found, 14 corrected', '312 steps found')
        """
        return f"{self.found} steps found" + (f", {self.corrected} corrected" if self.corrected else "")

    def __add__(self, other: "StepCounts") -> "StepCounts":
        """The counts of both."""
        return StepCounts(self.found + other.found, self.corrected + other.corrected)

    def __sub__(self, other: "StepCounts") -> "StepCounts":
        """The counts without the other's."""
        return StepCounts(self.found - other.found, self.corrected - other.corrected)


def count_steps(localizations: Iterable[Localization]) -> StepCounts:
    """The number of steps that are shown in the localizations, and of those that a person labelled."""
    found = corrected = 0
    for localization in localizations:
        for step in localization.steps:
            found += step.shown
            corrected += step.by == PERSON
    return StepCounts(found, corrected)


def with_labels(localization: Localization, labels: Mapping[int, RunLabel], n_segments: int) -> Localization:
    """The localization with every labelled step as the person said; labels by step, from 0. Labels after the end of the video are not used."""
    if not labels:
        return localization
    steps = [
        corrected_step(step, labels[k], n_segments) if k in labels and _fits(labels[k], n_segments) else step
        for k, step in enumerate(localization.steps)
    ]
    return replace(localization, steps=steps)


def _fits(label: RunLabel, n_segments: int) -> bool:
    return label.label is not None and label.label.fits(n_segments)


def corrected_step(step: FoundStep, label: RunLabel, n_segments: int) -> FoundStep:
    """The found step as a person labelled it, certain."""
    said = label.label
    assert said is not None
    if not said.shown:
        return replace(step, shown=False, confidence=0.0, p_shown=0.0, by=PERSON, intervals=())
    moment_s, intervals = _moment_in(step, said), said.intervals
    if said.moment_s is not None:
        intervals = (label.interval or interval_around(step, said.moment_s, n_segments),)
    around = next((interval for interval in intervals if interval.start_s <= moment_s < interval.end_s), intervals[0])
    return replace(
        step,
        moment_s=moment_s,
        start_s=around.start_s,
        end_s=around.end_s,
        shown=True,
        confidence=1.0,
        p_shown=1.0,
        by=PERSON,
        intervals=intervals,
    )


def interval_around(step: FoundStep, moment_s: float, n_segments: int) -> Interval:
    """The interval of a found step if it contains the moment, otherwise one of the same length around the moment, inside the video."""
    if step.start_s <= moment_s < step.end_s:
        return Interval(step.start_s, step.end_s)
    length_s = max(1.0, step.end_s - step.start_s)
    start_s = max(0.0, min(moment_s - length_s / 2, n_segments - length_s))
    end_s = max(start_s + length_s, moment_s + 1.0)
    return Interval(start_s, float(n_segments) if moment_s < n_segments < end_s else end_s)


def label_of(step: int, found: FoundStep, said: StepLabel | None, n_segments: int) -> RunLabel:
    """What a person said about a step, with what is shown of it from now on, and whether the answer on the screen was right."""
    if said is None:
        return RunLabel(step, found.name, None)
    around = None if said.moment_s is None else interval_around(found, said.moment_s, n_segments)
    by_machine = found.shown and said.shown and found.by != PERSON
    return RunLabel(step, found.name, said, around, answer_is_right(found, said), found.confidence if by_machine else None)


def confirmed(step: int, found: FoundStep) -> StepLabel:
    """The label of a person who says that a found step is right: its moment, or that it is not shown."""
    return StepLabel(step, moment_s=found.moment_s) if found.shown else StepLabel(step)


def _moment_in(step: FoundStep, label: StepLabel) -> float:
    """The labelled moment; for intervals the machine's moment where it lies in one of them, otherwise the middle of the longest."""
    if label.moment_s is not None:
        return label.moment_s
    if any(interval.start_s <= step.moment_s < interval.end_s for interval in label.intervals):
        return step.moment_s
    longest = max(label.intervals, key=lambda interval: interval.length_s)
    return (longest.start_s + longest.end_s) / 2


def answer_is_right(step: FoundStep, label: StepLabel) -> bool:
    """True if the machine's answer agrees with a label: absent, or a moment inside an interval, or the same second as the moment."""
    if not label.shown or not step.shown:
        return label.shown == step.shown
    if label.moment_s is not None:
        return int(label.moment_s) == step.segment
    return any(step.segment in interval.segments(step.segment + 1) for interval in label.intervals)
