"""Where the steps of one video were found."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class FoundStep:
    """One step of a parse: the second it was put at, its span, and whether it is thought to be shown at all."""

    step: str
    second: int
    score: float
    start_s: float
    end_s: float
    shown: bool = True


@dataclass(frozen=True)
class Localization:
    """The parse of one video for one task, steps in list order."""

    video: str
    task: str
    steps: tuple[FoundStep, ...]

    def to_json(self) -> dict[str, Any]:
        """The documented shape: `{"video", "task", "steps": [{"step", "second", "score", "start_s", "end_s", "shown"}]}`."""
        return {"video": self.video, "task": self.task, "steps": [vars(step) | {} for step in self.steps]}


def localization_from_json(data: dict[str, Any]) -> Localization:
    """The inverse of `Localization.to_json`."""
    steps = tuple(
        FoundStep(
            str(s["step"]),
            int(s["second"]),
            float(s["score"]),
            float(s["start_s"]),
            float(s["end_s"]),
            bool(s.get("shown", True)),
        )
        for s in data["steps"]
    )
    return Localization(str(data["video"]), str(data.get("task", "")), steps)
