"""The routes of the server. A response is JSON of a documented shape, a file of the page, or a video of the run. Needs the extra 'serve'."""

import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import Depends, FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response

from crosstask import __version__
from crosstask.records import TOLERATED_OVERSHOOT_S, InputError, Interval, StepInterval, StepLabel, VideoKey
from crosstask.runs import Change
from crosstask.viewer.contents import Contents, found_step, score_lists
from crosstask.viewer.files import VIDEO_TYPES, page_files, servable_media
from crosstask.viewer.media import MediaResponse
from crosstask.viewer.shapes import (
    AnnotationRequest,
    Changed,
    EditedLocalizationShape,
    ErrorShape,
    Id,
    IntervalShape,
    LabelRequest,
    LearningRequest,
    LearningShape,
    LocalizeRequest,
    RelevanceRequest,
    ReviewShape,
    RunShape,
    Saved,
    ScoresShape,
    TranscriptShape,
    UndoRequest,
    VideoPage,
    VideoShape,
)

log = logging.getLogger(__name__)
SHORTEST_INTERVAL_S = 0.05

TaskId = Annotated[Id, Query(description="Task id.")]
VideoId = Annotated[Id, Query(description="Video id.")]
ERROR_RESPONSES: dict[int | str, dict[str, Any]] = {
    code: {"model": ErrorShape, "description": meaning}
    for code, meaning in {
        400: "Not JSON",
        403: "Request from another site",
        404: "Not in this run",
        409: "Inconsistent with this run; the detail says why",
        411: "Length not announced",
        413: "Too large",
        415: "Not declared as JSON",
        422: "Not the documented shape",
    }.items()
}


class RequestError(Exception):
    """A request that is answered with an HTTP error status."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status, self.detail = status, detail


def make_app(contents: Contents) -> FastAPI:
    """The app that serves a run, without the checks of `guard.Guard`."""

    @asynccontextmanager
    async def until_the_end(app: FastAPI) -> AsyncIterator[None]:
        yield
        contents.backend.finish()

    def refuse_pages_of_other_runs(request: Request) -> None:
        if request.headers.get("x-crosstask-run", contents.identity) != contents.identity:
            raise RequestError(409, "this page was loaded from another run, or before this run was made again; reload it")

    app = FastAPI(
        lifespan=until_the_end,
        dependencies=[Depends(refuse_pages_of_other_runs)],
        title="crosstask viewer",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
        responses=ERROR_RESPONSES,
    )
    _add_error_handlers(app)
    _add_read_routes(app, contents)
    _add_write_routes(app, contents)
    _add_label_routes(app, contents)
    _add_learning_routes(app, contents)
    _add_file_routes(app, contents)
    return app


def _key_of(contents: Contents, task: str, video: str) -> VideoKey:
    """The key of a video of this run, or a 404."""
    key = VideoKey(task, video)
    if key not in contents.videos:
        raise RequestError(404, "this run has no such video")
    return key


def _add_read_routes(app: FastAPI, contents: Contents) -> None:
    @app.get("/api/run", response_model=RunShape)
    def run() -> Any:
        """The description of the run."""
        return contents.describe()

    @app.get("/api/videos", response_model=VideoPage)
    def videos(
        task: Annotated[str, Query(max_length=200)] = "",
        search: Annotated[str, Query(max_length=200)] = "",
        show: Literal["all", "unmarked", "relevant", "irrelevant", "annotated", "not-annotated"] = "all",
        page: Annotated[int, Query(ge=1, le=1_000_000)] = 1,
        page_size: Annotated[int, Query(ge=1, le=200)] = 25,
    ) -> Any:
        """One page of the list of videos."""
        return contents.page(task, search, show, page, page_size)

    @app.get("/api/video", response_model=VideoShape)
    def video(task: TaskId, video: VideoId) -> Any:
        """Everything about one video except its scores."""
        return contents.video(_key_of(contents, task, video))

    @app.get("/api/scores", response_model=ScoresShape)
    def scores(task: TaskId, video: VideoId, source: Annotated[Id, Query(description="As in /api/run.")]) -> Response:
        """The scores of one video from one source."""
        key = _key_of(contents, task, video)
        if source not in contents.sources:
            raise RequestError(404, "this run has no such source of scores")
        values = contents.scores(contents.sources[source], key)
        return _json({"scores": None if values is None else score_lists(values)})

    @app.get("/api/transcript", response_model=TranscriptShape)
    def transcript(task: TaskId, video: VideoId) -> Response:
        """What is said in one video."""
        lines = contents.run.transcript(_key_of(contents, task, video))
        return _json({"lines": [{"start_s": start, "end_s": end, "text": text} for start, end, text in lines]})


def _add_write_routes(app: FastAPI, contents: Contents) -> None:
    backend = contents.backend

    @app.post("/api/parse", response_model=EditedLocalizationShape)
    def parse(request: LocalizeRequest) -> Response:
        """The localization of an edited step list; nothing is stored."""
        key = _key_of(contents, request.task, request.video)
        source = contents.sources.get(request.source)
        if source is None:
            raise RequestError(404, "this run has no such source of scores")
        made = backend.localize_steps(
            source.run, source.method, contents.videos[key], tuple(step.strip() for step in request.steps)
        )
        steps = [found_step(found, "unknown") for found in made.localization.steps]
        return _json({"steps": steps, "scores": score_lists(made.scores), "how": made.how, "notes": list(made.notes)})

    @app.put("/api/annotation", response_model=Saved)
    def annotation(request: AnnotationRequest) -> Any:
        """Save the intervals of a person's annotation in the published format."""
        key = _key_of(contents, request.task, request.video)
        n_steps, n_segments = len(contents.task(key).steps), contents.videos[key].n_segments
        intervals = tuple(sorted(_checked_interval(interval, n_steps, n_segments) for interval in request.spans))
        if missing := [step for step in request.steps or () if step > n_steps]:
            raise RequestError(409, f"step {missing[0]} does not exist; the task has {n_steps}, numbered from 1")
        steps = None if request.steps is None else [step - 1 for step in request.steps]
        file = backend.save_annotation(key, intervals, steps, request.seen)
        backend.labels_changed()
        return {"file": file}

    @app.put("/api/relevance", response_model=RelevanceRequest)
    def relevance(request: RelevanceRequest) -> Any:
        """Save whether a video is relevant for its task."""
        key = _key_of(contents, request.task, request.video)
        backend.save_relevance(key, request.relevance)
        return request


def _add_label_routes(app: FastAPI, contents: Contents) -> None:
    backend = contents.backend

    def changed(change: Change) -> dict[str, Any]:
        backend.labels_changed()
        return {"change": change.id, "task": change.key.task, "video": change.key.video, **contents.counts()}

    @app.get("/api/review", response_model=ReviewShape)
    def review(n: Annotated[int, Query(ge=1, le=200)] = 20) -> Any:
        """The next steps to check."""
        return contents.review(n)

    @app.put("/api/label", response_model=Changed)
    def label(request: LabelRequest) -> Any:
        """Save what a person says about one step."""
        key = _key_of(contents, request.task, request.video)
        if request.kind == "right":
            answer = None
            if request.shown is not None:
                answer = StepLabel(request.step - 1, moment_s=request.moment_s if request.shown else None)
            return changed(backend.confirm_step(key, request.step - 1, request.drawn, request.seen, answer))
        said = _label_said(request, len(contents.task(key).steps), contents.videos[key].n_segments)
        return changed(backend.label_step(key, request.step - 1, said, request.drawn, request.seen))

    @app.post("/api/undo", response_model=Changed)
    def undo(request: UndoRequest) -> Any:
        """Undo a change: its steps get the labels they had before."""
        return changed(backend.undo(request.change))


def _add_learning_routes(app: FastAPI, contents: Contents) -> None:
    backend = contents.backend

    @app.get("/api/learning", response_model=LearningShape)
    def learning() -> Any:
        """The state of learning from labels."""
        return _IDLE if backend.learning is None else backend.learning.state()

    @app.post("/api/learning", response_model=LearningShape)
    def learn(request: LearningRequest) -> Any:
        """Begin to learn, accept what was learnt, or undo it."""
        if backend.learning is None:
            raise RequestError(409, backend.why_not_learning or "nothing can be learnt from labels here")
        actions = {"start": backend.learning.start, "accept": backend.learning.accept, "undo": backend.learning.undo}
        return actions[request.action]()


_IDLE = {"state": "idle", "message": "", "n_labels": 0, "n_steps": 0, "n_videos": 0, "moved": [], "can_undo": False}


def _label_said(request: LabelRequest, n_steps: int, n_segments: int) -> StepLabel | None:
    """The label that a request describes; None removes the label."""
    step = request.step - 1
    if request.step > n_steps:
        raise RequestError(409, f"step {request.step} does not exist; the task has {n_steps}, numbered from 1")
    if request.kind == "moment":
        if request.moment_s is None or request.moment_s > n_segments + TOLERATED_OVERSHOOT_S:
            raise RequestError(409, f"a moment in a video of {n_segments} s is expected")
        return StepLabel(step, moment_s=round(min(request.moment_s, max(0.0, n_segments - 0.01)), 2))
    if request.kind == "interval":
        if request.start_s is None or request.end_s is None:
            raise RequestError(409, "an interval needs start_s and end_s")
        span = IntervalShape(step=request.step, start_s=request.start_s, end_s=request.end_s)
        return StepLabel(step, intervals=(_checked_interval(span, n_steps, n_segments).interval,))
    return StepLabel(step) if request.kind == "not shown" else None


def _checked_interval(interval: IntervalShape, n_steps: int, n_segments: int) -> StepInterval:
    if interval.step > n_steps:
        raise RequestError(409, f"step {interval.step} does not exist; the task has {n_steps}, numbered from 1")
    if interval.end_s - interval.start_s < SHORTEST_INTERVAL_S:
        raise RequestError(
            409, f"step {interval.step} runs from {interval.start_s:g} to {interval.end_s:g} s; expected start before end"
        )
    if interval.end_s > n_segments + TOLERATED_OVERSHOOT_S:
        raise RequestError(409, f"step {interval.step} ends at {interval.end_s:g} s; the video has {n_segments} s")
    return StepInterval(interval.step - 1, Interval(round(interval.start_s, 2), round(interval.end_s, 2)))


def _add_file_routes(app: FastAPI, contents: Contents) -> None:
    pages = page_files()

    @app.api_route("/media", methods=["GET", "HEAD"], include_in_schema=False)
    def media(task: TaskId, video: VideoId) -> Response:
        """The video file, or a byte range of it."""
        path = servable_media(contents.run, contents.videos[_key_of(contents, task, video)])
        if path is None:
            raise RequestError(404, "this run has no file of that video")
        return MediaResponse(path, media_type=VIDEO_TYPES[path.suffix.lower()])

    @app.api_route("/{name:path}", methods=["GET", "HEAD"], include_in_schema=False)
    def page(name: str) -> Response:
        """A file of the page, looked up by its full name in a fixed table."""
        found = pages.get(name or "index.html")
        if found is None:
            raise RequestError(404, "no such page")
        return Response(found[0], media_type=f"{found[1]}; charset=utf-8")


def _add_error_handlers(app: FastAPI) -> None:
    @app.exception_handler(RequestError)
    def request_error(request: Request, error: RequestError) -> Response:
        return _json({"detail": error.detail}, error.status)

    @app.exception_handler(InputError)
    def bad_input(request: Request, error: InputError) -> Response:
        return _json({"detail": " ".join(str(error).split())}, 409)

    @app.exception_handler(RequestValidationError)
    def invalid(request: Request, error: RequestValidationError) -> Response:
        """The location and the message of each error, without the value, which may not be text."""
        problems = [f"{'.'.join(str(part) for part in one['loc'])}: {one['msg']}" for one in error.errors()[:5]]
        return _json({"detail": "; ".join(problems)[:1000]}, 422)

    @app.exception_handler(OSError)
    def disk(request: Request, error: OSError) -> Response:
        log.warning("%s: %s", error.filename, error.strerror)
        name = Path(str(error.filename)).name if error.filename else "the run folder"
        return _json({"detail": f"{name} cannot be written or read: {error.strerror}; reload the page to see what is saved"}, 409)


def _json(value: Any, status: int = 200) -> JSONResponse:
    """JSON in ASCII, so that lone surrogates in text cannot fail to be encoded."""
    return _AsciiJson(value, status_code=status)


class _AsciiJson(JSONResponse):
    def render(self, content: Any) -> bytes:
        return json.dumps(content, separators=(",", ":"), allow_nan=False).encode("ascii")
