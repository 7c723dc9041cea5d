"""Breakfast: text labels `..._TASK.txt`, lines `FIRST-LAST label` in frames from 1, 15 a second; SIL is background.

Step lists are derived: labels in at least 15 % of a task's videos, by mean position. Videos in folders are named by folders and file, joined with '-'.
"""

import re
from pathlib import Path

from crosstask.datasets.named_steps import AnnotatedVideo, corpus_from_annotated_videos, task_id_from
from crosstask.records import Corpus, InputError, Interval, at_line

FRAMES_A_SECOND = 15
LEAST_SHARE = 0.15
BACKGROUND = "SIL"
_LINE = re.compile(r"(\d{1,9})-(\d{1,9})\s+(\S+)")


def is_breakfast(folder: Path) -> bool:
    """Whether a folder holds label files."""
    first = next((path for path in sorted(folder.rglob("*.txt"))[:20] if "_" in path.stem), None)
    return first is not None and _LINE.match(_text(first).lstrip()) is not None


def read_breakfast(folder: Path) -> Corpus:
    """The labels of a folder and the folders in it; `features/` beside them is used."""
    videos = []
    for path in sorted(folder.rglob("*.txt")):
        if "_" in path.stem and path.relative_to(folder).parts[0] not in ("features", "subtitles"):
            videos.append(_video(folder, path))
    if not videos:
        raise InputError(f"{folder}: no label files; expected P03_cam01_P03_cereals.txt with lines such as 31-150 pour_milk")
    return corpus_from_annotated_videos("Breakfast", folder, videos, least_share=LEAST_SHARE)


def _video(folder: Path, path: Path) -> AnnotatedVideo:
    steps, last = [], 0
    for number, line in enumerate(_text(path).splitlines(), start=1):
        if not line.strip():
            continue
        found = _LINE.fullmatch(line.strip())
        if found is None or not 1 <= int(found[1]) <= int(found[2]):
            raise at_line(path, number, f"found {line[:60]!r}; expected FIRST-LAST label in frames from 1, e.g. 31-150 pour_milk")
        last = max(last, int(found[2]))
        if found[3] != BACKGROUND:
            span = Interval((int(found[1]) - 1) / FRAMES_A_SECOND, int(found[2]) / FRAMES_A_SECOND)
            steps.append((found[3].replace("_", " ").replace(",", " "), span))
    video = "-".join(path.relative_to(folder).with_suffix("").parts)
    return AnnotatedVideo(task_id_from(path.stem.rpartition("_")[2]), video, tuple(steps), last / FRAMES_A_SECOND or None)


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8-sig")
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: not UTF-8 text; expected lines such as 31-150 pour_milk") from None
