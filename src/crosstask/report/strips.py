"""Strips of frames: for each step the frame where it was found, beside one where it truly is; verdicts in words as well as in colour.

A run keeps them as `frames/TASK_VIDEO/SECOND.jpg`; `frames/strips.json` says which video is shown by which method.
"""

import base64
import json
from dataclasses import dataclass
from html import escape
from pathlib import Path

from crosstask.records import FoundStep, Interval, Localization, StepInterval, VideoKey, refuse_escaping_id
from crosstask.report.timeline import RIGHT, UNKNOWN, WRONG, verdict
from crosstask.runs import RunFolder, RunVideo

MOST_BYTES = 2_000_000  # of pictures in a page; a third more as text
LARGEST_PICTURE_BYTES = 60_000
STRIP_STYLE = """
.strip{display:flex;flex-wrap:wrap;gap:.6rem;margin:.4rem 0 1.4rem}
.strip figure{margin:0;padding:.4rem;border:3px solid;border-radius:.4rem;max-width:100%}
.strip .pair{display:flex;gap:.3rem}.strip .pair>div{font-size:.75rem;color:#4a5568}
.strip img{display:block;height:90px;max-width:100%;object-fit:cover}.strip figcaption{font-size:.85rem;max-width:19rem}
.strip .none{width:120px;height:90px;background:#edf2f7;display:flex;align-items:center;justify-content:center;text-align:center}
"""


@dataclass(frozen=True)
class Strip:
    """A video to be shown as a strip: by which method, and whether its task was left out of training."""

    method: str
    key: VideoKey
    unseen: bool = False


def true_second(truth: tuple[StepInterval, ...] | None, step: int, second: int) -> int | None:
    """The middle second of the true interval of a step that lies nearest to a moment; None where the step is not shown or nothing is known.

    >>> true_second((StepInterval(0, Interval(2, 6)), StepInterval(0, Interval(20, 30))), 0, 18)
    25
    """
    spans = [span.interval for span in truth or () if span.step == step]
    if not spans:
        return None
    return _middle(min(spans, key=lambda span: (_distance(span, second + 0.5), span.start_s)))


def _distance(span: Interval, moment_s: float) -> float:
    return max(span.start_s - moment_s, moment_s - span.end_s, 0.0)


def _middle(span: Interval) -> int:
    return int((span.start_s + span.end_s) / 2)


def seconds_shown(parse: Localization, truth: tuple[StepInterval, ...] | None) -> list[int]:
    """The seconds a strip shows: each found one, and a true one where there is one."""
    true = (true_second(truth, k, step.second) for k, step in enumerate(parse.steps))
    return sorted({step.second for step in parse.steps} | {second for second in true if second is not None})


def picture_path(folder: Path, key: VideoKey, second: int) -> Path:
    """Where the frame of a video at a second lies in a run folder."""
    refuse_escaping_id(str(key), "video")
    return folder / "frames" / str(key) / f"{second}.jpg"


def strips_section(run: RunFolder) -> str:
    """All strips of a run as HTML, or nothing; pictures beyond what a page can hold are left out, and that is said."""
    videos = {video.key: video for video in run.run.videos}
    blocks: list[str] = []
    left = MOST_BYTES
    for strip in read_strips(run.folder):
        parse = run.localizations.get(strip.method, {}).get(strip.key)
        if parse is None or strip.key not in videos:
            continue
        block, used = _strip(run, strip, videos[strip.key], parse)
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
        "✗ wrong, ? thought not to be shown."
    )
    return f"<h2>Frames</h2><p>{about}</p>{''.join(blocks)}"


def read_strips(folder: Path) -> list[Strip]:
    """The strips a run keeps; none where there are none or the list cannot be read."""
    try:
        listed = json.loads((folder / "frames" / "strips.json").read_text("utf-8"))["strips"]
        return [Strip(str(s["method"]), VideoKey(str(s["task"]), str(s["video"])), bool(s["unseen"])) for s in listed]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return []


def _strip(run: RunFolder, strip: Strip, video: RunVideo, parse: Localization) -> tuple[str, int]:
    """The strip as HTML, and the bytes of its pictures."""
    pictures = {second: _picture(run.folder, video.key, second) for second in seconds_shown(parse, video.truth)}
    steps = "".join(_step(k, step, video, pictures) for k, step in enumerate(parse.steps))
    task = run.run.tasks[video.task].title if video.task in run.run.tasks else video.task
    who = "by a model that never trained on this task" if strip.unseen else f"by {escape(strip.method)}"
    head = f"<h4>{escape(task)}: {escape(video.id)}, {who}</h4>"
    return f'{head}<div class="strip">{steps}</div>', sum(len(data) for data in pictures.values() if data)


def _picture(folder: Path, key: VideoKey, second: int) -> bytes | None:
    path = picture_path(folder, key, second)
    if path.is_symlink() or not path.is_file() or path.stat().st_size > LARGEST_PICTURE_BYTES:
        return None
    return path.read_bytes()


def _step(k: int, step: FoundStep, video: RunVideo, pictures: dict[int, bytes | None]) -> str:
    colour, word = judged(video.truth, k, step, video.n_segments)
    true = true_second(video.truth, k, step.second)
    pair = _moment(pictures.get(step.second), "found", step, step.second)
    if video.truth is not None:
        nothing = '<div><div class="none">not shown in this video</div>truth</div>'
        pair += nothing if true is None else _moment(pictures.get(true), "truth", step, true)
    return (
        f'<figure style="border-color:{colour}"><div class="pair">{pair}</div>'
        f'<figcaption>{k + 1}. {escape(step.step)}: <strong style="color:{colour}">{word}</strong></figcaption></figure>'
    )


def judged(truth: tuple[StepInterval, ...] | None, k: int, step: FoundStep, n_segments: int) -> tuple[str, str]:
    """Colour and words for a found step; a step thought to be absent says so besides."""
    colour, _, word = verdict(truth, k, step.second, n_segments)
    words = {"right": "✓ right", "wrong": "✗ wrong", "not shown": "✗ placed, but not shown", "found": "found"}[word]
    assert colour in (RIGHT, WRONG, UNKNOWN)
    return colour, words if step.shown else f"{words}; ? perhaps not shown"


def _moment(data: bytes | None, what: str, step: FoundStep, second: int) -> str:
    when = f"{what} {second // 60}:{second % 60:02d}"
    if data is None:
        return f'<div><div class="none">no picture</div>{when}</div>'
    source = base64.b64encode(data).decode()
    return f'<div><img alt="{escape(step.step)}, {when}" src="data:image/jpeg;base64,{source}">{when}</div>'
