"""A video file as a stream of seconds: pictures of the wanted sizes and rates with 16 kHz sound, never more than a second or two in memory.

Pictures and sound are each decoded once, side by side. T is the number of whole or part seconds of pictures; sound that goes on longer
is cut, sound that is missing is silence. Times are those a player shows: from the start of the file, whichever stream begins it.
"""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from crosstask.extraction.audio import padded_audio_seconds
from crosstask.extraction.containers import DecodingErrors, decoded, opened, video_stream
from crosstask.extraction.second import Pictures, Sampling, Second
from crosstask.records import InputError

log = logging.getLogger(__name__)
LONGEST_STILL_S = 600  # a picture that stands longer is a broken clock, not a slide
LONGEST_VIDEO_S = 24 * 3600
_WIDEST = 4  # sides of a picture are brought to at most this ratio before cropping


def decode_seconds(path: Path, samplings: Sequence[Sampling]) -> Iterator[Second]:
    """Each second of a video; damage is skipped and named once, a file without usable pictures is an `InputError`."""
    sound = padded_audio_seconds(path)
    try:
        for pictures in frames_by_second(path, samplings):
            yield Second(pictures, next(sound))
    finally:
        sound.close()


def frames_by_second(path: Path, samplings: Sequence[Sampling]) -> Iterator[dict[Sampling, Pictures]]:
    """For each second its pictures (n, size, size, 3) by sampling."""
    with opened(path) as container:
        stream = video_stream(path, container)
        stream.thread_type = "AUTO"
        pickers = [FrameSampler(sampling) for sampling in samplings]
        moments = _moments(path, container, stream)
        n_frames, second, last_s = 0, 0, 0.0
        for time_s, frame in moments:
            while time_s >= second + 1:
                yield {picker.sampling: picker.close_second(second) for picker in pickers}
                second += 1
            for picker in pickers:
                picker.see(time_s, frame, second)
            n_frames, last_s = n_frames + 1, time_s
        if n_frames < 2:
            raise InputError(
                f"{path.name}: {n_frames} pictures could be decoded; expected a video, not {'a still' if n_frames else 'damage'}"
            )
        yield {picker.sampling: picker.close_second(second) for picker in pickers}
        announced_s = float(stream.duration * stream.time_base) if stream.duration and stream.time_base else 0.0
        if announced_s - last_s > max(2.0, 0.05 * announced_s):
            log.warning("%s: pictures end at %.0f s of %.0f announced; the rest is missing", path.name, last_s, announced_s)


def _moments(path: Path, container: Any, stream: Any) -> Iterator[tuple[float, Any]]:
    """(seconds from the start, frame) in order of time; frames that cannot be decoded are left out."""
    start_s = (container.start_time or 0) / 1e6
    step_s = 1 / float(stream.average_rate or 25)
    before_s: float | None = None
    for frame in _frames(path, container, stream):
        time_s = frame.time
        if time_s is None:
            time_s = 0.0 if before_s is None else before_s + step_s
        elif before_s is None and not 0 <= time_s - start_s <= LONGEST_STILL_S:
            start_s = time_s
        time_s = max(time_s - start_s if frame.time is not None else time_s, before_s or 0.0)
        if time_s - (before_s or 0.0) > LONGEST_STILL_S or time_s > LONGEST_VIDEO_S:
            raise InputError(
                f"{path.name}: no picture between {before_s or 0:.0f} s and {time_s:.0f} s; its clock is broken, convert it anew"
            )
        before_s = time_s
        yield time_s, frame


def _frames(path: Path, container: Any, stream: Any) -> Iterator[Any]:
    """Frames as they come; damage is named once."""
    damage = DecodingErrors()
    yield from decoded(container, stream, damage)
    if damage.packets or damage.ended:
        what = damage.ended or f"{damage.packets} packets cannot be decoded"
        log.warning("%s: damaged (%s); what could be decoded is used", path.name, what)


@dataclass
class FrameSampler:
    """Chooses the pictures of each second for one sampling; a frame is converted only when it is chosen."""

    sampling: Sampling
    chosen: list[Pictures] = field(default_factory=list)
    held: Any = None  # the frame on screen
    converted: Pictures | None = None  # the frame on screen, once somebody wanted it
    n_seen: int = 0

    def see(self, time_s: float, frame: Any, second: int) -> None:
        """A frame appears: the moments before it belonged to the one on screen."""
        self._take_moments_before(time_s, second)
        wanted = self.sampling.per_second is None and self.n_seen % self.sampling.every == 0
        self.held, self.converted, self.n_seen = frame, None, self.n_seen + 1
        if wanted:
            self.chosen.append(self._picture())

    def close_second(self, second: int) -> Pictures:
        """(n, size, size, 3) of the second that is over; what was on screen where no frame was new."""
        self._take_moments_before(second + 1, second)
        pictures = self.chosen or [self._picture()]
        self.chosen = []
        return np.stack(pictures)

    def _take_moments_before(self, time_s: float, second: int) -> None:
        per_second = self.sampling.per_second
        if per_second is None or self.held is None:
            return
        while len(self.chosen) < per_second and second + (len(self.chosen) + 0.5) / per_second < time_s:
            self.chosen.append(self._picture())

    def _picture(self) -> Pictures:
        if self.converted is None:
            self.converted = square_frame(self.held, self.sampling.size)
        return self.converted


def square_frame(frame: Any, size: int) -> Pictures:
    """(size, size, 3): the shorter side scaled to `size`, the middle cut out, upright as a player shows it."""
    aspect = min(max(frame.width / frame.height, 1 / _WIDEST), _WIDEST)
    width, height = (round(size * aspect), size) if aspect >= 1 else (size, round(size / aspect))
    scaled = frame.reformat(width=width, height=height, format="rgb24", interpolation="BILINEAR").to_ndarray()
    top, left = (height - size) // 2, (width - size) // 2
    picture = scaled[top : top + size, left : left + size]
    turns = round((frame.rotation or 0) / 90) % 4
    return np.ascontiguousarray(np.rot90(picture, turns))
