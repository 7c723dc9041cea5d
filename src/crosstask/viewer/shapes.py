"""The JSON that page and server exchange. Needs the extra 'serve'."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

Relevance = Literal["relevant", "irrelevant"]
Verdict = Literal["right", "wrong", "absent", "unknown"]
Id = Annotated[str, Field(min_length=1, max_length=200)]
StepName = Annotated[str, Field(min_length=1, max_length=200)]


class Shape(BaseModel):
    """A JSON object with these fields and no others."""

    model_config = ConfigDict(extra="forbid")


class TaskShape(Shape):
    """A task of the run and how many of its videos the run holds."""

    id: str
    title: str
    steps: list[str]
    primary: bool
    n_videos: int


class SourceShape(Shape):
    """A source of localizations: a method of the run, or of the run it is compared with."""

    id: str
    label: str
    mean_recall_over_tasks: float | None


class RunShape(Shape):
    """The description of the run."""

    title: str
    kind: str
    command: str
    synthetic: bool
    notes: list[str]
    tasks: list[TaskShape]
    sources: list[SourceShape]
    compared_with: str | None
    parses_new_steps: bool
    n_videos: int


class MarkShape(Shape):
    """A found step in the list of videos."""

    moment_s: float
    verdict: Verdict


class ListedVideo(Shape):
    """A video in the list."""

    task: str
    video: str
    title: str
    seconds: int
    media: bool
    annotated: bool
    relevance: Relevance | None
    marks: list[MarkShape]
    n_right: int | None
    n_present: int | None


class VideoPage(Shape):
    """One page of the list of videos."""

    total: int
    page: int
    pages: int
    videos: list[ListedVideo]


class IntervalShape(Shape):
    """Step number, counted from 1 as in the published files, and the interval in seconds."""

    step: Annotated[int, Field(ge=1, le=10_000)]
    start_s: Annotated[FiniteFloat, Field(ge=0, le=1e7)]
    end_s: Annotated[FiniteFloat, Field(gt=0, le=1e7)]


class FoundShape(Shape):
    """A found step."""

    step: str
    moment_s: float
    start_s: float
    end_s: float
    score: float | None
    confidence: float | None
    p_shown: float | None
    shown: bool
    verdict: Verdict


class VideoKeyShape(Shape):
    """The key of a video."""

    task: str
    video: str


class VideoShape(Shape):
    """Everything about a video; localizations (`parses`) by source with one entry per step, null where the source has none."""

    task: str
    video: str
    title: str
    steps: list[str]
    n_segments: int
    media: bool
    truth: list[IntervalShape] | None
    windows: list[IntervalShape] | None
    annotation: list[IntervalShape] | None
    relevance: Relevance | None
    parses: dict[str, list[FoundShape | None]]
    previous: VideoKeyShape | None
    next: VideoKeyShape | None


class ScoresShape(Shape):
    """Scores, one list over the segments for each step; null where the source has none."""

    scores: list[list[float]] | None


class LocalizeRequest(Shape):
    """Steps to localize in a video."""

    task: Id
    video: Id
    source: Id
    steps: Annotated[list[StepName], Field(min_length=1, max_length=60)]


class EditedLocalizationShape(Shape):
    """The localization of an edited step list."""

    steps: list[FoundShape]
    scores: list[list[float]]
    how: Literal["model", "kept scores"]
    notes: list[str]


class AnnotationRequest(Shape):
    """The annotation of a video; it replaces what was saved before."""

    task: Id
    video: Id
    spans: Annotated[list[IntervalShape], Field(max_length=2000)]


class Saved(Shape):
    """The file that was written, relative to the run folder."""

    file: str


class RelevanceRequest(Shape):
    """The relevance of a video; null removes it."""

    task: Id
    video: Id
    relevance: Relevance | None


class ErrorShape(Shape):
    """The reason why a request failed, in one line."""

    detail: str
