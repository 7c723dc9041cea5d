"""Where the steps of one video were found."""

import math
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

from crosstask.records.interval import Interval

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

MACHINE, PERSON = "machine", "person"  # who says where a step is
COLUMNS = ("step", "moment_s", "start_s", "end_s", "score", "confidence", "p_shown", "shown")


@dataclass(frozen=True, slots=True)
class FoundStep:
    """A step that was found: its moment, the interval around it, and how certain the model is."""

    name: str
    moment_s: float  # the start of the one-second segment that the decoder chose
    score: float
    start_s: float
    end_s: float
    shown: bool = True  # False: the step is predicted to be absent
    confidence: float | None = None  # probability that the moment lies in the step; None where the method has no posterior
    p_shown: float | None = None  # probability that the video shows the step at all
    by: str = MACHINE  # PERSON: a person confirmed or corrected the step
    intervals: tuple[Interval, ...] = ()  # where a person labelled several; the moment lies in [start_s, end_s)

    @property
    def segment(self) -> int:
        """The index of the one-second segment that holds the moment."""
        return math.floor(self.moment_s)

    def to_json(self) -> dict[str, Any]:
        """The shape of a found step in JSON, CSV and the viewer; `by` and `intervals` only where a person labelled the step."""
        values = (self.name, self.moment_s, self.start_s, self.end_s, self.score, self.confidence, self.p_shown, self.shown)
        shape: dict[str, Any] = dict(zip(COLUMNS, values, strict=True))
        if self.by != MACHINE:
            shape["by"] = self.by
        if len(self.intervals) > 1:
            shape["intervals"] = [[interval.start_s, interval.end_s] for interval in self.intervals]
        return shape


@dataclass(frozen=True, repr=False, slots=True)
class Localization:
    """The steps found in one video for one task, in list order.

    >>> found = Localization("v", "latte", [FoundStep("pour milk", 42.0, -0.1, 40.0, 47.0, confidence=0.9)])
    >>> found
    Localization of 'latte' in 'v': 1 step
       0:42  pour milk  (0:40 - 0:47, confidence 0.90)
    """

    video: str
    task: str
    steps: list[FoundStep]
    scores: Any = field(default=None, compare=False, repr=False)  # (T, K) where the caller kept them, for `plot`

    def __post_init__(self) -> None:
        """Accept any sequence of steps."""
        object.__setattr__(self, "steps", list(self.steps))

    def to_json(self) -> dict[str, Any]:
        """`{"video", "task", "steps": [{"step", "moment_s", "start_s", "end_s", "score", "confidence", "p_shown", "shown"}]}`."""
        return {"video": self.video, "task": self.task, "steps": [step.to_json() for step in self.steps]}

    def to_dataframe(self) -> "pd.DataFrame":
        """A pandas DataFrame with a row per step; needs pandas."""
        import pandas as pd

        return pd.DataFrame([step.to_json() for step in self.steps], columns=list(COLUMNS))

    def plot(self) -> "Figure":
        """A Matplotlib figure: a row per step with its interval and moment, and its scores where they were kept."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(8, 0.6 + 0.45 * len(self.steps)), layout="constrained")
        axis = figure.add_subplot()
        for row, step in enumerate(self.steps):
            colour = "tab:blue" if step.shown else "lightgrey"
            axis.broken_barh([(step.start_s, step.end_s - step.start_s)], (row - 0.35, 0.7), color=colour, alpha=0.5)
            axis.plot([step.moment_s + 0.5], [row], "o", color=colour)
        labels = [step.name.replace("$", r"\$") + ("" if step.shown else " (absent)") for step in self.steps]
        axis.set_yticks(range(len(self.steps)), labels)
        axis.invert_yaxis()
        axis.set_xlabel("seconds")
        axis.set_title(f"{self.task} in {self.video}".replace("$", r"\$") if self.video else self.task.replace("$", r"\$"))
        return figure

    def __repr__(self) -> str:
        """The found steps, at most eight of them."""
        of = f" of '{self.task}'" if self.task else ""
        where = f" in '{self.video}'" if self.video else ""
        lines = [f"Localization{of}{where}: {len(self.steps)} step{'' if len(self.steps) == 1 else 's'}"]
        lines += [_line(step) for step in self.steps[:7]]
        if len(self.steps) > 7:
            lines.append(f"  ... and {len(self.steps) - 7} more")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """A small table for notebooks."""
        rows = "".join(
            f"<tr><td>{_clock(s.moment_s)}</td><td>{escape(s.name)}</td><td>{_clock(s.start_s)} - {_clock(s.end_s)}</td>"
            f"<td>{'' if s.confidence is None else f'{s.confidence:.2f}'}</td><td>{'' if s.shown else 'absent'}</td></tr>"
            for s in self.steps
        )
        head = "<tr><th>moment</th><th>step</th><th>interval</th><th>confidence</th><th></th></tr>"
        return f"<table><caption>{escape(self.task)} {escape(self.video)}</caption>{head}{rows}</table>"


def _line(step: FoundStep) -> str:
    certainty = "" if step.confidence is None else f", confidence {step.confidence:.2f}"
    absent = ("" if step.shown else ", absent") + (", by a person" if step.by == PERSON else "")
    return (
        f"  {_clock(step.moment_s):>5}  {step.name}  ({_clock(step.start_s)} - {_clock(step.end_s)}{certainty}{absent})".rstrip()
    )


def _clock(second: float) -> str:
    return f"{int(second) // 60}:{int(second) % 60:02d}"


def localization_from_json(data: dict[str, Any]) -> Localization:
    """The inverse of `Localization.to_json`; files of version 0.1 call the moment `second`."""
    steps = [
        FoundStep(
            str(s["step"]),
            float(s["moment_s"] if "moment_s" in s else s["second"]),
            float(s["score"]),
            float(s["start_s"]),
            float(s["end_s"]),
            bool(s.get("shown", True)),
            _optional(s.get("confidence")),
            _optional(s.get("p_shown")),
            PERSON if s.get("by") == PERSON else MACHINE,
            tuple(Interval(float(start_s), float(end_s)) for start_s, end_s in s.get("intervals", ())),
        )
        for s in data["steps"]
    ]
    return Localization(str(data["video"]), str(data.get("task", "")), steps)


def _optional(value: Any) -> float | None:
    return None if value is None else float(value)
