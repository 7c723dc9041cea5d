"""The JSON that page and server exchange. Needs the extra 'serve'."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

Relevance = Literal["relevant", "irrelevant"]
Verdict = Literal["right", "wrong", "absent", "unknown"]
Source = Literal["machine", "person"]
Drawn = Literal["gain", "random"]
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

    identity: str
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
    n_found: int
    n_corrected: int
    why_not_learning: str


class MarkShape(Shape):
    """A found step in the list of videos."""

    moment_s: float
    verdict: Verdict
    by: Source


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
    n_found: int
    n_corrected: int


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
    by: Source = "machine"
    intervals: list[tuple[float, float]] | None = None


class ChangeShape(Shape):
    """A change of labels that is not undone: its number, and what was said about which step."""

    change: int
    words: str


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
    changes: list[ChangeShape]
    last_change: int
    parses: dict[str, list[FoundShape | None]]
    previous: VideoKeyShape | None
    next: VideoKeyShape | None


class ScoresShape(Shape):
    """Scores, one list over the segments for each step; null where the source has none."""

    scores: list[list[float]] | None


class LineShape(Shape):
    """A line of what is said."""

    start_s: float
    end_s: float
    text: str


class TranscriptShape(Shape):
    """What is said in a video, in lines; empty where that is not known."""

    lines: list[LineShape]


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
    steps: Annotated[list[Annotated[int, Field(ge=1, le=10_000)]], Field(max_length=10_000)] | None = (
        None  # those that were changed; all by default
    )
    seen: Annotated[int, Field(ge=0)] | None = None  # the last change of labels that the page knows


class LabelRequest(Shape):
    """What a person says about one step: that the answer is right, a moment, an interval, not shown, or nothing any more."""

    task: Id
    video: Id
    step: Annotated[int, Field(ge=1, le=10_000)]
    kind: Literal["right", "moment", "interval", "not shown", "none"]
    moment_s: Annotated[FiniteFloat, Field(ge=0, le=1e6)] | None = None
    shown: bool | None = None  # with "right": the answer that the page showed, at `moment_s` where it is true
    start_s: Annotated[FiniteFloat, Field(ge=0, le=1e6)] | None = None
    end_s: Annotated[FiniteFloat, Field(gt=0, le=1e6)] | None = None
    drawn: Drawn | None = None
    seen: Annotated[int, Field(ge=0)] | None = None


class UndoRequest(Shape):
    """The change to undo."""

    change: Annotated[int, Field(ge=1)]


class Changed(Shape):
    """The change that was written or undone, and how many steps are found and corrected now."""

    change: int
    task: str
    video: str
    n_found: int
    n_corrected: int


class AccuracyShape(Shape):
    """The accuracy estimated from the steps drawn at random, with its interval of 95 %."""

    right: int
    checked: int
    accuracy: float | None
    low: float
    high: float


class ReviewItemShape(FoundShape):
    """A found step to check."""

    task: str
    video: str
    title: str
    number: int
    drawn: Drawn
    p_right: float
    n_segments: int
    media: bool


class ReviewShape(Shape):
    """The next steps to check, and what the checked ones say."""

    items: list[ReviewItemShape]
    accuracy: AccuracyShape
    accuracy_words: str
    answered: int
    left: int
    expected_wrong: float
    changes_little: bool
    last_change: int
    n_found: int
    n_corrected: int


class MovedShape(Shape):
    """A step that a new model finds elsewhere; null where it is not shown."""

    task: str
    video: str
    number: int
    step: str
    before_s: float | None
    after_s: float | None


class LearningShape(Shape):
    """The state of learning from labels, and what the proposal would move."""

    state: Literal["idle", "running", "ready", "failed"]
    message: str
    n_labels: int
    n_steps: int
    n_videos: int
    moved: list[MovedShape]
    can_undo: bool


class LearningRequest(Shape):
    """What to do: begin, accept the proposal, or discard it (without one: undo the last accepted)."""

    action: Literal["start", "accept", "undo"]


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
