"""Breakfast: label files `..._TASK.txt` with lines `FIRST-LAST label`, in frames from 1 at 15 frames per second; SIL is background.

Step lists are derived: the labels in at least 15 % of a task's videos, by mean position. The id of a video in subfolders joins the names of
the folders and the file with '-'.
"""

import re
from pathlib import Path

from crosstask.datasets.named_steps import AnnotatedVideo, corpus_from_annotated_videos, task_id_from
from crosstask.datasets.text_files import read_text
from crosstask.records import Corpus, InputError, Interval, at_line

FRAMES_PER_SECOND = 15  # of the published labels
MIN_SHARE = 0.15  # of a task's videos; ours, drops labels of single videos
_N_PROBED_FILES = 20
_EXPECTED = "expected lines such as 31-150 pour_milk"
BACKGROUND = "SIL"
_LINE = re.compile(r"(\d{1,9})-(\d{1,9})\s+(\S+)")


def is_breakfast(folder: Path) -> bool:
    """True if a folder holds label files of Breakfast."""
    first = next((path for path in sorted(folder.rglob("*.txt"))[:_N_PROBED_FILES] if "_" in path.stem), None)
    return first is not None and _LINE.match(read_text(first, _EXPECTED).lstrip()) is not None


def read_breakfast(folder: Path) -> Corpus:
    """The corpus of the label files in a folder and its subfolders; its `features/` is used."""
    videos = []
    for path in sorted(folder.rglob("*.txt")):
        if "_" in path.stem and path.relative_to(folder).parts[0] not in ("features", "subtitles"):
            videos.append(_read_video(folder, path))
    if not videos:
        raise InputError(f"{folder}: no label files; expected P03_cam01_P03_cereals.txt with lines such as 31-150 pour_milk")
    return corpus_from_annotated_videos("Breakfast", folder, videos, min_share=MIN_SHARE)


def _read_video(folder: Path, path: Path) -> AnnotatedVideo:
    steps, last = [], 0
    for number, line in enumerate(read_text(path, _EXPECTED).splitlines(), start=1):
        if not line.strip():
            continue
        found = _LINE.fullmatch(line.strip())
        if found is None or not 1 <= int(found[1]) <= int(found[2]):
            raise at_line(path, number, f"found {line[:60]!r}; expected FIRST-LAST label in frames from 1, e.g. 31-150 pour_milk")
        last = max(last, int(found[2]))
        if found[3] != BACKGROUND:
            interval = Interval((int(found[1]) - 1) / FRAMES_PER_SECOND, int(found[2]) / FRAMES_PER_SECOND)
            steps.append((found[3].replace("_", " ").replace(",", " "), interval))
    video = "-".join(path.relative_to(folder).with_suffix("").parts)
    return AnnotatedVideo(task_id_from(path.stem.rpartition("_")[2]), video, tuple(steps), last / FRAMES_PER_SECOND or None)
