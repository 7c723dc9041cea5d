"""Every export format by name, and the function that writes them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from crosstask.export.annotation_tools import elan, fiftyone, label_studio
from crosstask.export.chapters import webvtt, youtube
from crosstask.export.localized_video import LocalizedVideo, localized_videos
from crosstask.export.tables_and_json import activitynet, csv_table, localize_json
from crosstask.export.web_page import index_page, link_from, web_page
from crosstask.records import PERSON, InputError, refuse_escaping_id
from crosstask.runs import RunFolder
from crosstask.storage import stable_json, write_many

Files = dict[str, str]  # file name -> text
Remarks = list[str]
DEFAULT_FPS = 25.0  # frames per second, for formats that count frames


def _per_video(
    ending: str, text: Callable[[LocalizedVideo], str]
) -> Callable[[Sequence[LocalizedVideo], float], tuple[Files, Remarks]]:
    def write(videos: Sequence[LocalizedVideo], frames_per_second: float) -> tuple[Files, Remarks]:
        return {f"{video.key}.{ending}": text(video) for video in videos}, []

    return write


def _youtube(videos: Sequence[LocalizedVideo], frames_per_second: float) -> tuple[Files, Remarks]:
    texts = {video.key: youtube(video) for video in videos}
    files = {f"{key}.txt": text for key, (text, _) in texts.items()}
    return files, [f"{key}: {remark}" for key, (_, remarks) in texts.items() for remark in remarks]


def _html(videos: Sequence[LocalizedVideo], frames_per_second: float) -> tuple[Files, Remarks]:
    pages = {f"{video.key}.html": web_page(video) for video in videos}
    index = {"index.html": index_page(dict(zip(pages, videos, strict=True)))} if len(videos) > 1 else {}
    return pages | index, []


FORMATS: dict[str, Callable[[Sequence[LocalizedVideo], float], tuple[Files, Remarks]]] = {
    "vtt": _per_video("vtt", webvtt),
    "youtube": _youtube,
    "activitynet": lambda videos, fps: ({"activitynet.json": stable_json(activitynet(videos))}, []),
    "elan": _per_video("eaf", elan),
    "label-studio": lambda videos, fps: ({"label-studio.json": stable_json(label_studio(videos, fps))}, []),
    "fiftyone": lambda videos, fps: ({"labels.json": stable_json(fiftyone(videos))}, []),
    "csv": lambda videos, fps: ({"steps.csv": csv_table(videos)}, []),
    "html": _html,
    "json": lambda videos, fps: ({"steps.json": stable_json(localize_json(videos))}, []),
}


def format_names(wanted: Sequence[str] | None) -> list[str]:
    """The names of formats without repeats; every format for "all" or none."""
    names = list(FORMATS) if not wanted or "all" in wanted else list(dict.fromkeys(wanted))
    for name in names:
        if name not in FORMATS:
            raise InputError(f"format '{name}' is unknown; expected all, or one of {', '.join(FORMATS)}")
    return names


def exported_files(
    videos: Sequence[LocalizedVideo],
    name: str,
    folder: Path,
    media_base: Path,
    frames_per_second: float = DEFAULT_FPS,
) -> tuple[Files, Remarks]:
    """The files of one format, by name, and remarks on changes.

    Web pages link to the video files, so `folder` is where they will be, and relative media paths start at `media_base`.
    """
    if name == "html":
        videos = [replace(video, media=link_from(folder, media_base / video.media)) for video in videos]
    return FORMATS[name](videos, frames_per_second)


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
    progress: Callable[[str, int, int], None] = lambda name, done, total: None,
    min_confidence: float = 0.0,
) -> tuple[list[Path], Remarks]:
    """Paths of the files written, one folder per format, and remarks on them for the user; `progress` gets format, files done, files in all."""
    names = format_names(names)
    videos = localized_videos(run, method, all_steps, min_confidence)
    paths: list[Path] = []
    remarks = left_out(videos)
    if n_corrected := sum(step.by == PERSON for video in videos for step in video.steps):
        remarks.append(f"{n_corrected} of the steps were confirmed or corrected by a person")
    for name in names:
        files, of_format = exported_files(videos, name, out / name, run.folder, frames_per_second)
        texts = ((out / name / refuse_escaping_id(file, "file"), text.encode("utf-8")) for file, text in files.items())
        for done, path in enumerate(write_many(texts), start=1):
            paths.append(path)
            progress(name, done, len(files))
        remarks += [f"{name}: {remark}" for remark in of_format]
    return paths, remarks
