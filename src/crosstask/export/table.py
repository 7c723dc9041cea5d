"""Every export format by name, and the function that writes them."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from crosstask.export.annotation_tools import elan, fiftyone, label_studio
from crosstask.export.chapters import webvtt, youtube
from crosstask.export.localized_video import LocalizedVideo, localized_videos
from crosstask.export.tables_and_json import activitynet, csv_table, json_list, localize_json
from crosstask.export.web_page import index_page, link_from, web_page
from crosstask.records import PERSON, InputError, refuse_escaping_id
from crosstask.runs import RunFolder
from crosstask.storage import replace_file, write_many

Files = Iterable[tuple[str, Iterable[str]]]  # file name and its text in pieces, made while they are written
Remarks = list[str]
DEFAULT_FPS = 25.0  # frames per second, for formats that count frames


def _per_video(ending: str, text: Callable[[LocalizedVideo], str]) -> Callable[[Sequence[LocalizedVideo], float, Remarks], Files]:
    return lambda videos, frames_per_second, remarks: ((f"{video.key}.{ending}", (text(video),)) for video in videos)


def _youtube(videos: Sequence[LocalizedVideo], frames_per_second: float, remarks: Remarks) -> Files:
    for video in videos:
        text, changes = youtube(video)
        remarks += [f"{video.key}: {change}" for change in changes]
        yield f"{video.key}.txt", (text,)


def _html(videos: Sequence[LocalizedVideo], frames_per_second: float, remarks: Remarks) -> Files:
    for video in videos:
        yield f"{video.key}.html", (web_page(video),)
    if len(videos) > 1:
        yield "index.html", (index_page({f"{video.key}.html": video for video in videos}),)


# Files of some videos; remarks on changes are added to the list while the files are made.
FORMATS: dict[str, Callable[[Sequence[LocalizedVideo], float, Remarks], Files]] = {
    "vtt": _per_video("vtt", webvtt),
    "youtube": _youtube,
    "activitynet": lambda videos, fps, remarks: [("activitynet.json", activitynet(videos))],
    "elan": _per_video("eaf", elan),
    "label-studio": lambda videos, fps, remarks: [("label-studio.json", json_list(label_studio(videos, fps)))],
    "fiftyone": lambda videos, fps, remarks: [("labels.json", fiftyone(videos))],
    "csv": lambda videos, fps, remarks: [("steps.csv", csv_table(videos))],
    "html": _html,
    "json": lambda videos, fps, remarks: [("steps.json", json_list(localize_json(videos)))],
}
_FILES_PER_VIDEO = ("vtt", "youtube", "elan", "html")  # the other formats are one file


def format_names(wanted: Sequence[str] | None) -> list[str]:
    """The names of formats without repeats; every format for "all" or none."""
    names = list(FORMATS) if not wanted or "all" in wanted else list(dict.fromkeys(wanted))
    for name in names:
        if name not in FORMATS:
            raise InputError(f"format '{name}' is unknown; expected all, or one of {', '.join(FORMATS)}")
    return names


def n_exported_files(names: Sequence[str], n_videos: int) -> int:
    """The number of files that `export_run` writes for so many videos."""
    index = int("html" in names and n_videos > 1)
    return sum(n_videos if name in _FILES_PER_VIDEO else 1 for name in names) + index


def exported_files(
    videos: Sequence[LocalizedVideo],
    name: str,
    folder: Path,
    media_base: Path,
    frames_per_second: float = DEFAULT_FPS,
) -> tuple[dict[str, str], Remarks]:
    """The files of one format, file name -> text, and remarks on changes; arguments as in `_files`."""
    remarks: Remarks = []
    files = _files(videos, name, folder, media_base, frames_per_second, remarks)
    return {file: "".join(pieces) for file, pieces in files}, remarks


def _files(
    videos: Sequence[LocalizedVideo], name: str, folder: Path, media_base: Path, frames_per_second: float, remarks: Remarks
) -> Files:
    """The files of one format.

    Web pages link to the video files, so `folder` is where they will be, and relative media paths start at `media_base`.
    """
    if name == "html":
        videos = [replace(video, media=link_from(folder, media_base / video.media)) for video in videos]
    return FORMATS[name](videos, frames_per_second, remarks)


def left_out(videos: Sequence[LocalizedVideo]) -> Remarks:
    """How many steps are not exported, then each of them and why."""
    each = [f"{video.key}: {reason}" for video in videos for reason in video.left_out]
    total = sum(len(video.steps) for video in videos) + len(each)
    return [f"{len(each)} of {total} steps are left out; --all-steps includes those taken to be absent", *each] if each else []


def export_run(
    run: RunFolder,
    names: Sequence[str],
    out: Path,
    method: str | None = None,
    frames_per_second: float = DEFAULT_FPS,
    all_steps: bool = False,
    advance: Callable[[], object] = lambda: None,
    min_confidence: float = 0.0,
) -> tuple[list[Path], Remarks]:
    """Paths of the files written, one folder per format, and remarks on them for the user; `advance` is called after each."""
    names = format_names(names)
    videos = localized_videos(run, method, all_steps, min_confidence)
    paths: list[Path] = []
    remarks = left_out(videos)
    if n_corrected := sum(step.by == PERSON for video in videos for step in video.steps):
        remarks.append(f"{n_corrected} of the steps were confirmed or corrected by a person")
    for name in names:
        of_format: Remarks = []
        files = _files(videos, name, out / name, run.folder, frames_per_second, of_format)
        placed = ((out / name / refuse_escaping_id(file, "file"), pieces) for file, pieces in files)
        for path in _written(placed, many=name in _FILES_PER_VIDEO):
            paths.append(path)
            advance()
        remarks += [f"{name}: {remark}" for remark in of_format]
    return paths, remarks


def _written(files: Iterable[tuple[Path, Iterable[str]]], many: bool) -> Iterator[Path]:
    """The paths as they are complete; many small files together, a large one piece by piece."""
    if many:
        yield from write_many((path, "".join(pieces).encode("utf-8")) for path, pieces in files)
        return
    for path, pieces in files:
        with replace_file(path) as file:
            file.writelines(piece.encode("utf-8") for piece in pieces)
        yield path
