"""Single pictures of a video at given seconds, found by seeking: a strip of frames does not cost a whole decoding."""

import io
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from crosstask.extraction.containers import decoded, need_pyav, opened, video_stream
from crosstask.extraction.second import Pictures

_NEAR_S = 20.0  # a picture this near is reached by decoding on: seeking would go back to the same key frame
_MOST_FRAMES = 3000  # decoded for one picture; a film of fewer key frames than that is left alone
_WIDEST = 3


def stills(path: Path, seconds: Iterable[int], height: int = 108) -> dict[int, Pictures]:
    """What a player shows in the middle of each of these seconds, (height, width, 3); a second that cannot be reached is left out."""
    found: dict[int, Pictures] = {}
    with opened(path) as container:
        stream = video_stream(path, container)
        for second, frame in _frames_at(container, stream, sorted(set(seconds))):
            found[second] = _small(frame, height)
    return found


def _frames_at(container: Any, stream: Any, seconds: list[int]) -> Iterator[tuple[int, Any]]:
    """(second, the frame on screen at its middle), in order of time; ends where the file can be decoded no further."""
    start_s = (container.start_time or 0) / 1e6
    coming = _timed(container, stream)
    on_screen, after = None, None  # a frame and its successor
    for second in seconds:
        wanted_s = start_s + second + 0.5
        if after is None or after.time + _NEAR_S < wanted_s:
            _seek(container, stream, wanted_s)
            coming = _timed(container, stream)
            on_screen, after = None, next(coming, None)
        for _ in range(_MOST_FRAMES):
            if after is None or after.time > wanted_s:
                break
            on_screen, after = after, next(coming, None)
        else:
            return
        if on_screen is None and after is None:
            return
        yield second, on_screen if on_screen is not None else after


def _seek(container: Any, stream: Any, wanted_s: float) -> None:
    """Go to the last key frame before a moment; a file that cannot seek goes on where it is."""
    av = need_pyav()
    try:
        container.seek(int(wanted_s / stream.time_base), stream=stream)
    except (av.error.FFmpegError, OSError):
        return


def _timed(container: Any, stream: Any) -> Iterator[Any]:
    """Frames that know their time, from where the file stands."""
    return (frame for frame in decoded(container, stream) if frame.time is not None)


def _small(frame: Any, height: int) -> Pictures:
    """(height, width, 3), upright as a player shows it."""
    turns = round((frame.rotation or 0) / 90) % 4
    aspect = frame.height / frame.width if turns % 2 else frame.width / frame.height
    width = round(height * min(max(aspect, 1 / _WIDEST), _WIDEST))
    size = (height, width) if turns % 2 else (width, height)
    picture = frame.reformat(width=size[0], height=size[1], format="rgb24", interpolation="BILINEAR").to_ndarray()
    return np.ascontiguousarray(np.rot90(picture, turns))


def jpeg(picture: Pictures, quality: int = 72) -> bytes:
    """A picture (H, W, 3) as a JPEG file; the same picture is the same bytes."""
    from PIL import Image

    out = io.BytesIO()
    Image.fromarray(picture).save(out, "JPEG", quality=quality, optimize=True)
    return out.getvalue()
