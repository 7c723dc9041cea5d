"""Which files may be served: those of the page and the video files that the run names."""

from pathlib import Path

from crosstask.runs import RunFolder, RunVideo, inside

VIDEO_TYPES = {
    ".mp4": "video/mp4",
    ".m4v": "video/mp4",
    ".mov": "video/quicktime",
    ".webm": "video/webm",
    ".mkv": "video/x-matroska",
    ".ogv": "video/ogg",
    ".avi": "video/x-msvideo",
}


def servable_media(run: RunFolder, video: RunVideo) -> Path | None:
    """The video file, or None where there is none to serve.

    A relative path must lie in the run folder after resolving links. An absolute path is served only if it resolves to a regular
    file with the suffix of a video.
    """
    path = run.media(video)
    if path is None or video.media is None:
        return None
    target = path.resolve()
    if target.suffix.lower() not in VIDEO_TYPES or not target.is_file():
        return None
    relative = not Path(video.media).is_absolute()
    return None if relative and not inside(run.folder, path) else target


def page_files() -> dict[str, tuple[bytes, str]]:
    """Name -> (bytes, media type) of the files of the page, read once; no other file can be requested."""
    types = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
    folder = Path(__file__).parent / "page"
    return {path.name: (path.read_bytes(), types[path.suffix]) for path in sorted(folder.iterdir()) if path.suffix in types}
