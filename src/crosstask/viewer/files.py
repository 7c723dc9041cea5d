"""Which files may be read for the page: those of the run, and the videos it names."""

from pathlib import Path

from crosstask.records import InputError
from crosstask.runs import RunFolder, RunVideo

VIDEO_TYPES = {
    ".mp4": "video/mp4",
    ".m4v": "video/mp4",
    ".mov": "video/quicktime",
    ".webm": "video/webm",
    ".mkv": "video/x-matroska",
    ".ogv": "video/ogg",
    ".avi": "video/x-msvideo",
}


def inside(folder: Path, path: Path) -> bool:
    """Whether a path, all links followed, still lies in a folder."""
    return path.resolve().is_relative_to(folder.resolve())


def servable_media(run: RunFolder, video: RunVideo) -> Path | None:
    """The video file, or None where there is none to serve.

    A path relative to the run must stay in it, links followed. An absolute one was written down by whoever made the run: it is
    served only while it is, links followed, a regular file named like a video.
    """
    path = run.media(video)
    if path is None or video.media is None:
        return None
    target = path.resolve()
    if target.suffix.lower() not in VIDEO_TYPES or not target.is_file():
        return None
    relative = not Path(video.media).is_absolute()
    return None if relative and not inside(run.folder, path) else target


def refuse_outside(folder: Path, path: Path) -> Path:
    """The path itself, or an error when it leads out of the folder."""
    if not inside(folder, path):
        raise InputError(f"{path.name}: leads out of the run folder; expected a plain file in {folder.name}")
    return path


def page_files() -> dict[str, tuple[bytes, str]]:
    """Name -> (bytes, media type) of the page, read once: a request can name nothing else."""
    types = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
    folder = Path(__file__).parent / "page"
    return {path.name: (path.read_bytes(), types[path.suffix]) for path in sorted(folder.iterdir()) if path.suffix in types}
