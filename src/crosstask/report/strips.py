"""Strips of frames: for each step the frame at the found moment beside one at a true moment, with the verdict in words and colour.

The frames of a run are `frames/TASK_VIDEO/SECOND.jpg`; `frames/strips.json` lists the videos and methods.
"""

import base64
import json
from dataclasses import dataclass
from html import escape
from pathlib import Path

from crosstask.records import FoundStep, Interval, Localization, StepInterval, VideoKey, refuse_escaping_id
from crosstask.report.timeline import RIGHT, UNKNOWN, WRONG, verdict
from crosstask.runs import RunFolder, RunVideo
from crosstask.storage import raise_if_disk_failed, read_text

MAX_BYTES = 2_000_000  # of pictures in a report; base64 makes a third more
LARGEST_PICTURE_BYTES = 60_000


@dataclass(frozen=True)
class Strip:
    """A video shown as a strip: the method, and whether its task was left out of training."""

    method: str
    key: VideoKey
    unseen: bool = False


def true_second(truth: tuple[StepInterval, ...] | None, step: int, second: int) -> int | None:
    """The middle second of the true interval of a step nearest to a moment; None if the step is not shown or the video is not annotated.

    >>> true_second((StepInterval(0, Interval(2, 6)), StepInterval(0, Interval(20, 30))), 0, 18)
    25
    """
    intervals = [annotated.interval for annotated in truth or () if annotated.step == step]
    if not intervals:
        return None
    return _middle(min(intervals, key=lambda interval: (_distance_s(interval, second + 0.5), interval.start_s)))


def _distance_s(interval: Interval, moment_s: float) -> float:
    return max(interval.start_s - moment_s, moment_s - interval.end_s, 0.0)


def _middle(interval: Interval) -> int:
    return int((interval.start_s + interval.end_s) / 2)


def seconds_shown(localization: Localization, truth: tuple[StepInterval, ...] | None) -> list[int]:
    """The seconds shown in a strip: the found second of each step, and a true one if there is one."""
    true = (true_second(truth, k, step.segment) for k, step in enumerate(localization.steps))
    return sorted({step.segment for step in localization.steps} | {second for second in true if second is not None})


def picture_path(folder: Path, key: VideoKey, second: int) -> Path:
    """The path of the frame of a video at a second in a run folder."""
    refuse_escaping_id(str(key), "video")
    return folder / "frames" / str(key) / f"{second}.jpg"


def strips_section(run: RunFolder) -> str:
    """All strips of a run as HTML, or an empty string; strips beyond MAX_BYTES are left out with a note."""
    videos = {video.key: video for video in run.run.videos}
    blocks: list[str] = []
    left = MAX_BYTES
    for strip in read_strips(run.folder):
        localization = run.localizations.get(strip.method, {}).get(strip.key)
        if localization is None or strip.key not in videos:
            continue
        block, used = _strip(run, strip, videos[strip.key], localization)
        if used > left:
            blocks.append(
                "<p>More strips are in the folder <code>frames</code> of the run; they would make this page too large.</p>"
            )
            break
        left -= used
        blocks.append(block)
    if not blocks:
        return ""
    about = (
        "Each step at the moment it was found, beside a moment where it truly happens, where that is known. Frames: ✓ right, "
        "✗ wrong, ? predicted not shown."
    )
    return f"<h2>Frames</h2><p>{about}</p>{''.join(blocks)}"


def read_strips(folder: Path) -> list[Strip]:
    """The strips listed in a run; an empty list if there is no list, or it is damaged."""
    try:
        listed = json.loads(read_text(folder / "frames" / "strips.json", "utf-8"))["strips"]
        return [Strip(str(s["method"]), VideoKey(str(s["task"]), str(s["video"])), bool(s["unseen"])) for s in listed]
    except OSError as error:
        raise_if_disk_failed(error)
        return []
    except (ValueError, KeyError, TypeError, RecursionError):
        return []


def _strip(run: RunFolder, strip: Strip, video: RunVideo, localization: Localization) -> tuple[str, int]:
    """The strip as HTML, and the number of bytes of its pictures."""
    pictures = {second: _picture(run.folder, video.key, second) for second in seconds_shown(localization, video.truth)}
    steps = "".join(_step(k, step, video, pictures) for k, step in enumerate(localization.steps))
    task = run.run.tasks[video.task].title if video.task in run.run.tasks else video.task
    method = "by a model that never trained on this task" if strip.unseen else f"by {escape(strip.method)}"
    head = f"<h4>{escape(task)}: {escape(video.id)}, {method}</h4>"
    return f'{head}<div class="strip">{steps}</div>', sum(len(data) for data in pictures.values() if data)


def _picture(folder: Path, key: VideoKey, second: int) -> bytes | None:
    path = picture_path(folder, key, second)
    if path.is_symlink() or not path.is_file() or path.stat().st_size > LARGEST_PICTURE_BYTES:
        return None
    return path.read_bytes()


def _step(k: int, step: FoundStep, video: RunVideo, pictures: dict[int, bytes | None]) -> str:
    colour, word = verdict_words(video.truth, k, step, video.n_segments)
    true = true_second(video.truth, k, step.segment)
    pair = _moment(pictures.get(step.segment), "found", step, step.segment)
    if video.truth is not None:
        absent = '<div><div class="none">not shown in this video</div>truth</div>'
        pair += absent if true is None else _moment(pictures.get(true), "truth", step, true)
    return (
        f'<figure style="border-color:{colour}"><div class="pair">{pair}</div>'
        f'<figcaption>{k + 1}. {escape(step.name)}: <strong style="color:{colour}">{word}</strong></figcaption></figure>'
    )


def verdict_words(truth: tuple[StepInterval, ...] | None, k: int, step: FoundStep, n_segments: int) -> tuple[str, str]:
    """Colour and words for a found step, with an addition if it is predicted absent."""
    colour, _, word = verdict(truth, k, step.segment, n_segments)
    words = {"right": "✓ right", "wrong": "✗ wrong", "not shown": "✗ localized, but not shown", "found": "found"}[word]
    assert colour in (RIGHT, WRONG, UNKNOWN)
    return colour, words if step.shown else f"{words}; ? predicted not shown"


def _moment(data: bytes | None, what: str, step: FoundStep, second: int) -> str:
    when = f"{what} {second // 60}:{second % 60:02d}"
    if data is None:
        return f'<div><div class="none">no picture</div>{when}</div>'
    source = base64.b64encode(data).decode()
    return f'<div><img alt="{escape(step.name)}, {when}" src="data:image/jpeg;base64,{source}">{when}</div>'
