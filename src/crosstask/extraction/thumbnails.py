"""Single frames of a video at given seconds, found by seeking instead of decoding the whole file."""

import io
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from crosstask.extraction.containers import decode_frames, need_pyav, open_container, start_of, video_stream
from crosstask.extraction.second import Image

# All ours.
_MIN_SEEK_S = 20.0  # nearer frames are reached by decoding on, as seeking would return to the same key frame
_MAX_FRAMES = 3000  # decoded for one thumbnail; a video with rarer key frames is given up
_MAX_ASPECT = 3  # of width to height of a thumbnail


def thumbnails(path: Path, seconds: Iterable[int], height: int = 108) -> dict[int, Image]:
    """The frame in the middle of each second as (height, width, 3); seconds that cannot be reached are missing."""
    found: dict[int, Image] = {}
    with open_container(path) as container:
        stream = video_stream(path, container)
        for second, frame in _frames_at(container, stream, sorted(set(seconds))):
            found[second] = _resized(frame, height)
    return found


def _frames_at(container: Any, stream: Any, seconds: list[int]) -> Iterator[tuple[int, Any]]:
    """(second, frame shown at its middle) in order of time; ends where the file cannot be decoded."""
    start_s = start_of(container)
    frames = _frames_with_time(container, stream)
    shown, following = None, None  # a frame and its successor
    for second in seconds:
        wanted_s = start_s + second + 0.5
        if following is None or following.time + _MIN_SEEK_S < wanted_s:
            _seek(container, stream, wanted_s)
            frames = _frames_with_time(container, stream)
            shown, following = None, next(frames, None)
        for _ in range(_MAX_FRAMES):
            if following is None or following.time > wanted_s:
                break
            shown, following = following, next(frames, None)
        else:
            return
        if shown is None and following is None:
            return
        yield second, shown if shown is not None else following


def _seek(container: Any, stream: Any, wanted_s: float) -> None:
    """Seek to the last key frame before a time; a file without seeking support stays at its position."""
    av = need_pyav()
    try:
        container.seek(int(wanted_s / stream.time_base), stream=stream)
    except (av.error.FFmpegError, OSError):
        return


def _frames_with_time(container: Any, stream: Any) -> Iterator[Any]:
    """Frames with a time stamp, from the current position on."""
    return (frame for frame in decode_frames(container, stream) if frame.time is not None)


def _resized(frame: Any, height: int) -> Image:
    """(height, width, 3) image, rotated as a player shows it."""
    turns = round((frame.rotation or 0) / 90) % 4
    aspect = frame.height / frame.width if turns % 2 else frame.width / frame.height
    width = round(height * min(max(aspect, 1 / _MAX_ASPECT), _MAX_ASPECT))
    size = (height, width) if turns % 2 else (width, height)
    image = frame.reformat(width=size[0], height=size[1], format="rgb24", interpolation="BILINEAR").to_ndarray()
    return np.ascontiguousarray(np.rot90(image, turns))


def encode_jpeg(image: Image, quality: int = 72) -> bytes:
    """The bytes of a JPEG file of an (H, W, 3) image; equal images give equal bytes."""
    from PIL import Image as PillowImage

    out = io.BytesIO()
    PillowImage.fromarray(image).save(out, "JPEG", quality=quality, optimize=True)
    return out.getvalue()
