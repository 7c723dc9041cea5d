"""The server's addresses. Every answer is JSON in a documented shape, a file of the page, or a video of the run. Needs the extra 'serve'."""

import json
import logging
from typing import Annotated, Any, Literal

from fastapi import FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, JSONResponse, Response

from crosstask import __version__
from crosstask.records import InputError, Interval, StepInterval, VideoKey
from crosstask.viewer.contents import Contents, found_step, score_lists
from crosstask.viewer.files import VIDEO_TYPES, page_files, servable_media
from crosstask.viewer.shapes import (
    AnnotationRequest,
    Id,
    ParseRequest,
    ParseShape,
    Refusal,
    RelevanceRequest,
    RunShape,
    Saved,
    ScoresShape,
    SpanShape,
    VideoPage,
    VideoShape,
)

log = logging.getLogger(__name__)
SHORTEST_SPAN_S = 0.05
LATE_S = 1.0  # annotations may end up to a second after the last segment, as six of the release do

TaskId = Annotated[Id, Query(description="Task id.")]
VideoId = Annotated[Id, Query(description="Video id.")]
Refused: dict[int | str, dict[str, Any]] = {
    code: {"model": Refusal, "description": meaning}
    for code, meaning in {
        400: "Not JSON at all",
        403: "Asked from another site",
        404: "The run has no such thing",
        409: "Does not fit this run, and why",
        413: "Too large",
        415: "Not declared as JSON",
        422: "Not the documented shape",
    }.items()
}


class Refusing(Exception):
    """An answer other than success."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status, self.detail = status, detail


def make_app(contents: Contents) -> FastAPI:
    """The app around a run, without its guard."""
    app = FastAPI(
        title="crosstask viewer",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
        responses=Refused,
    )
    _add_errors(app)
    _add_reading(app, contents)
    _add_writing(app, contents)
    _add_files(app, contents)
    return app


def _known(contents: Contents, task: str, video: str) -> VideoKey:
    key = VideoKey(task, video)
    if key not in contents.videos:
        raise Refusing(404, "this run has no such video")
    return key


def _add_reading(app: FastAPI, contents: Contents) -> None:
    @app.get("/api/run", response_model=RunShape)
    def run() -> Any:
        """What the run is."""
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
        """Everything about one video but its scores."""
        return contents.video(_known(contents, task, video))

    @app.get("/api/scores", response_model=ScoresShape)
    def scores(task: TaskId, video: VideoId, source: Annotated[Id, Query(description="As in /api/run.")]) -> Response:
        """The scores of one video by one source."""
        key = _known(contents, task, video)
        if source not in contents.sources:
            raise Refusing(404, "this run has no such source of scores")
        values = contents.scores(contents.sources[source], key)
        return _json({"scores": None if values is None else score_lists(values)})


def _add_writing(app: FastAPI, contents: Contents) -> None:
    backend = contents.backend

    @app.post("/api/parse", response_model=ParseShape)
    def parse(asked: ParseRequest) -> Response:
        """Where the steps of an edited list lie; nothing is kept."""
        key = _known(contents, asked.task, asked.video)
        source = contents.sources.get(asked.source)
        if source is None:
            raise Refusing(404, "this run has no such source of scores")
        made = backend.reparse(source.run, source.method, contents.videos[key], tuple(step.strip() for step in asked.steps))
        steps = [found_step(found, "unknown") for found in made.localization.steps]
        return _json({"steps": steps, "scores": score_lists(made.scores), "how": made.how, "notes": list(made.notes)})

    @app.put("/api/annotation", response_model=Saved)
    def annotation(asked: AnnotationRequest) -> Any:
        """Keep the spans a person marked, in the published format."""
        key = _known(contents, asked.task, asked.video)
        n_steps, n_segments = len(contents.task(key).steps), contents.videos[key].n_segments
        spans = tuple(sorted(_checked_span(span, n_steps, n_segments) for span in asked.spans))
        return {"file": backend.save_annotation(key, spans)}

    @app.put("/api/relevance", response_model=RelevanceRequest)
    def relevance(asked: RelevanceRequest) -> Any:
        """Keep whether a video is worth anything for its task."""
        key = _known(contents, asked.task, asked.video)
        backend.save_relevance(key, asked.relevance)
        return asked


def _checked_span(span: SpanShape, n_steps: int, n_segments: int) -> StepInterval:
    if span.step > n_steps:
        raise Refusing(409, f"step {span.step} does not exist; the task has {n_steps}, numbered from 1")
    if span.end_s - span.start_s < SHORTEST_SPAN_S:
        raise Refusing(409, f"step {span.step} runs from {span.start_s:g} to {span.end_s:g} s; expected start before end")
    if span.end_s > n_segments + LATE_S:
        raise Refusing(409, f"step {span.step} ends at {span.end_s:g} s; the video has {n_segments} s")
    return StepInterval(span.step - 1, Interval(round(span.start_s, 2), round(span.end_s, 2)))


def _add_files(app: FastAPI, contents: Contents) -> None:
    pages = page_files()

    @app.api_route("/media", methods=["GET", "HEAD"], include_in_schema=False)
    def media(task: TaskId, video: VideoId) -> Response:
        """The video file, in ranges when asked."""
        path = servable_media(contents.run, contents.videos[_known(contents, task, video)])
        if path is None:
            raise Refusing(404, "this run has no file of that video")
        return FileResponse(path, media_type=VIDEO_TYPES[path.suffix.lower()])

    @app.api_route("/{name:path}", methods=["GET", "HEAD"], include_in_schema=False)
    def page(name: str) -> Response:
        """A file of the page, looked up by its whole name in a fixed table."""
        found = pages.get(name or "index.html")
        if found is None:
            raise Refusing(404, "no such page")
        return Response(found[0], media_type=f"{found[1]}; charset=utf-8")


def _add_errors(app: FastAPI) -> None:
    @app.exception_handler(Refusing)
    def refusing(request: Request, error: Refusing) -> Response:
        return _json({"detail": error.detail}, error.status)

    @app.exception_handler(InputError)
    def bad_input(request: Request, error: InputError) -> Response:
        return _json({"detail": " ".join(str(error).split())}, 409)

    @app.exception_handler(RequestValidationError)
    def invalid(request: Request, error: RequestValidationError) -> Response:
        """Where and what, never the value itself: it may not even be text."""
        said = [f"{'.'.join(str(part) for part in one['loc'])}: {one['msg']}" for one in error.errors()[:5]]
        return _json({"detail": "; ".join(said)[:1000]}, 422)

    @app.exception_handler(OSError)
    def disk(request: Request, error: OSError) -> Response:
        log.warning("%s: %s", error.filename, error.strerror)
        return _json({"detail": f"the run folder cannot be written or read: {error.strerror}"}, 409)


def _json(value: Any, status: int = 200) -> JSONResponse:
    """JSON in plain ASCII, so that no text can fail to be sent."""
    return _PlainJson(value, status_code=status)


class _PlainJson(JSONResponse):
    def render(self, content: Any) -> bytes:
        return json.dumps(content, separators=(",", ":"), allow_nan=False).encode("ascii")
