"""A video file decoded second by second: sampled frames and 16 kHz audio, with at most two seconds in memory.

Frames and audio are each decoded once, in parallel. T is the duration of the frames, rounded up to whole seconds; longer audio is cut,
missing audio is silence. Times count from the start of the file, as in a player.
"""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from crosstask.extraction.audio import padded_audio_seconds
from crosstask.extraction.containers import (
    MAX_VIDEO_S,
    DecodingErrors,
    decode_frames,
    header_duration_s,
    open_container,
    start_of,
    video_stream,
)
from crosstask.extraction.second import Frames, Image, Sampling, Second
from crosstask.records import InputError

log = logging.getLogger(__name__)
# Limits of ours: beyond them the file is taken for damaged.
MAX_FRAME_GAP_S = 600  # a slide is shown for less; a longer gap means invalid time stamps
_MIN_MISSING_S, _MIN_MISSING_SHARE = 2.0, 0.05  # a shorter missing end is not reported
_DEFAULT_FRAME_RATE = 25  # per second, where the file gives none
_MAX_ASPECT = 4  # of width to height; frames are squeezed to it before cropping


def decode_seconds(path: Path, samplings: Sequence[Sampling]) -> Iterator[Second]:
    """The seconds of a video; undecodable packets are skipped with one warning, a file without usable frames is an `InputError`."""
    audio = padded_audio_seconds(path)
    try:
        for frames in frames_by_second(path, samplings):
            yield Second(frames, next(audio))
    finally:
        audio.close()


def frames_by_second(path: Path, samplings: Sequence[Sampling]) -> Iterator[dict[Sampling, Frames]]:
    """For each second its frames (n, size, size, 3) by sampling."""
    with open_container(path) as container:
        stream = video_stream(path, container)
        stream.thread_type = "AUTO"
        samplers = [FrameSampler(sampling) for sampling in samplings]
        n_frames, second, last_s = 0, 0, 0.0
        for time_s, frame in _timed_frames(path, container, stream):
            for sampler in samplers:
                sampler.current_frame = sampler.current_frame or frame  # sound may begin before the first one
            while time_s >= second + 1:
                yield {sampler.sampling: sampler.finish_second(second) for sampler in samplers}
                second += 1
            for sampler in samplers:
                sampler.add_frame(time_s, frame, second)
            n_frames, last_s = n_frames + 1, time_s
        if n_frames < 2:
            raise InputError(
                f"{path.name}: {n_frames} frames could be decoded; expected a video, not {'a still image' if n_frames else 'damaged data'}"
            )
        yield {sampler.sampling: sampler.finish_second(second) for sampler in samplers}
        in_stream = stream.duration and stream.time_base  # mkv and webm have the duration of the whole file only
        announced_s = float(stream.duration * stream.time_base) if in_stream else header_duration_s(container)
        if announced_s - last_s > max(_MIN_MISSING_S, _MIN_MISSING_SHARE * announced_s):
            log.warning("%s: frames end at %.0f s of %.0f s; the rest is missing", path.name, last_s, announced_s)


def _timed_frames(path: Path, container: Any, stream: Any) -> Iterator[tuple[float, Any]]:
    """(seconds from the start, frame) pairs with non-decreasing times; undecodable frames are skipped."""
    start_s = start_of(container)
    step_s = 1 / float(stream.average_rate or _DEFAULT_FRAME_RATE)
    before_s: float | None = None
    for frame in _frames(path, container, stream):
        time_s = frame.time
        if time_s is None:
            time_s = 0.0 if before_s is None else before_s + step_s
        elif before_s is None and not 0 <= time_s - start_s <= MAX_FRAME_GAP_S:
            start_s = time_s
        time_s = max(time_s - start_s if frame.time is not None else time_s, before_s or 0.0)
        if time_s - (before_s or 0.0) > MAX_FRAME_GAP_S or time_s > MAX_VIDEO_S:
            raise InputError(
                f"{path.name}: no frame between {before_s or 0:.0f} s and {time_s:.0f} s; its time stamps are invalid, convert it again"
            )
        before_s = time_s
        yield time_s, frame


def _frames(path: Path, container: Any, stream: Any) -> Iterator[Any]:
    """Frames in decoding order; undecodable packets are reported once at the end."""
    errors = DecodingErrors()
    yield from decode_frames(container, stream, errors)
    if errors.packets or errors.end_reason:
        what = errors.end_reason or f"{errors.packets} packets cannot be decoded"
        log.warning("%s: damaged (%s); what could be decoded is used", path.name, what)


@dataclass
class FrameSampler:
    """Selects the frames of each second for one sampling; only selected frames are converted to RGB."""

    sampling: Sampling
    selected: list[Image] = field(default_factory=list)
    current_frame: Any = None  # the last frame that was added, which a player still shows; at first the first one
    converted: Image | None = None  # `current_frame` as RGB, once it is selected
    n_frames_seen: int = 0

    def add_frame(self, time_s: float, frame: Any, second: int) -> None:
        """Add the next frame; sampling times before `time_s` select the previous one."""
        self._select_before(time_s, second)
        wanted = self.sampling.per_second is None and self.n_frames_seen % self.sampling.every == 0
        self.current_frame, self.converted, self.n_frames_seen = frame, None, self.n_frames_seen + 1
        if wanted:
            self.selected.append(self._converted_frame())

    def finish_second(self, second: int) -> Frames:
        """(n, size, size, 3) frames selected in a second; the current frame if there was no new one."""
        self._select_before(second + 1, second)
        frames = self.selected or [self._converted_frame()]
        self.selected = []
        return np.stack(frames)

    def _select_before(self, time_s: float, second: int) -> None:
        per_second = self.sampling.per_second
        if per_second is None or self.current_frame is None:
            return
        while len(self.selected) < per_second and second + (len(self.selected) + 0.5) / per_second < time_s:
            self.selected.append(self._converted_frame())

    def _converted_frame(self) -> Image:
        if self.converted is None:
            self.converted = square_frame(self.current_frame, self.sampling.size)
        return self.converted


def square_frame(frame: Any, size: int) -> Image:
    """(size, size, 3): the shorter side scaled to `size`, centre-cropped, rotated as a player shows it."""
    aspect = min(max(frame.width / frame.height, 1 / _MAX_ASPECT), _MAX_ASPECT)
    width, height = (round(size * aspect), size) if aspect >= 1 else (size, round(size / aspect))
    scaled = frame.reformat(width=width, height=height, format="rgb24", interpolation="BILINEAR").to_ndarray()
    top, left = (height - size) // 2, (width - size) // 2
    image = scaled[top : top + size, left : left + size]
    turns = round((frame.rotation or 0) / 90) % 4
    return np.ascontiguousarray(np.rot90(image, turns))
