"""Every export format by name, and the function that writes them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from crosstask.export.annotation_tools import elan, fiftyone, label_studio
from crosstask.export.chapters import webvtt, youtube
from crosstask.export.export_folder import Files, FormatFiles, write_exported
from crosstask.export.localized_video import LocalizedVideo, localized_videos
from crosstask.export.tables_and_json import activitynet, csv_table, json_list, localize_json
from crosstask.export.web_page import index_page, link_from, web_page
from crosstask.records import PERSON, InputError, refuse_escaping_id
from crosstask.runs import RunFolder

Remarks = list[str]
DEFAULT_FPS = 25.0  # frames per second, for formats that count frames


def _per_video(ending: str, text: Callable[[LocalizedVideo], str]) -> Callable[[Sequence[LocalizedVideo], float, Remarks], Files]:
    return lambda videos, frames_per_second, remarks: ((f"{video.key}.{ending}", map(text, [video])) for video in videos)


def _youtube(videos: Sequence[LocalizedVideo], frames_per_second: float, remarks: Remarks) -> Files:
    def text_of(video: LocalizedVideo) -> str:
        text, changes = youtube(video)
        remarks.extend(f"{video.key}: {change}" for change in changes)
        return text

    return _per_video("txt", text_of)(videos, frames_per_second, remarks)


def _html(videos: Sequence[LocalizedVideo], frames_per_second: float, remarks: Remarks) -> Files:
    yield from _per_video("html", web_page)(videos, frames_per_second, remarks)
    if len(videos) > 1:
        yield "index.html", map(index_page, [{f"{video.key}.html": video for video in videos}])


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


def files_of_format(
    videos: Sequence[LocalizedVideo],
    name: str,
    out: Path,
    media_base: Path,
    remarks: Remarks,
    frames_per_second: float = DEFAULT_FPS,
) -> FormatFiles:
    """The files of one format in the folder NAME of `out`; `remarks` are those of the last time that they were made."""

    def make() -> Files:
        remarks.clear()
        files = _files(videos, name, out / name, media_base, frames_per_second, remarks)
        return ((f"{name}/{refuse_escaping_id(file, 'file')}", pieces) for file, pieces in files)

    return FormatFiles(make, name in _FILES_PER_VIDEO)


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
    overwrite: bool = False,
) -> tuple[list[Path], Remarks]:
    """Paths of the files written, one folder per format, and remarks on them for the user; `advance` is called after each."""
    videos = localized_videos(run, method, all_steps, min_confidence)
    remarks = left_out(videos)
    if n_corrected := sum(step.by == PERSON for video in videos for step in video.steps):
        remarks.append(f"{n_corrected} of the steps were confirmed or corrected by a person")
    of_formats: dict[str, Remarks] = {name: [] for name in format_names(names)}
    formats = [files_of_format(videos, name, out, run.folder, said, frames_per_second) for name, said in of_formats.items()]
    paths = write_exported(out, formats, [run.folder], overwrite, advance)
    return paths, remarks + [f"{name}: {remark}" for name, said in of_formats.items() for remark in said]
