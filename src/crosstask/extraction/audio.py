"""The sound of a video file, second by second: 16 kHz, one channel, at the times a player plays it."""

from collections.abc import Generator, Iterator
from pathlib import Path

import numpy as np

from crosstask.extraction.containers import decoded, need_pyav, opened
from crosstask.extraction.second import SAMPLE_RATE, Sound

_LONGEST_PAUSE_S = 600  # a longer hole in the sound is a broken clock: the rest is played on at once
_HOLE_S = 0.1  # smaller differences between clock and samples are rounding


def padded_audio_seconds(path: Path) -> Generator[Sound, None, None]:
    """(16000,) for each second, without end: silence where there is no sound, or none any more."""
    yield from audio_seconds(path)
    while True:
        yield np.zeros(SAMPLE_RATE, np.float32)


def audio_seconds(path: Path) -> Iterator[Sound]:
    """(16000,) for each second as long as there is sound, the last one filled up with silence."""
    waiting: list[Sound] = []
    n_waiting = 0
    for piece in _pieces(path):
        waiting.append(piece)
        n_waiting += len(piece)
        if n_waiting < SAMPLE_RATE:
            continue
        joined = np.concatenate(waiting)
        whole = len(joined) // SAMPLE_RATE * SAMPLE_RATE
        for start in range(0, whole, SAMPLE_RATE):
            yield joined[start : start + SAMPLE_RATE]
        waiting, n_waiting = [joined[whole:]], len(joined) - whole
    if n_waiting:
        yield np.concatenate([*waiting, np.zeros(SAMPLE_RATE - n_waiting, np.float32)])


def _pieces(path: Path) -> Iterator[Sound]:
    """Samples in order of time, holes filled with silence."""
    av = need_pyav()
    with opened(path) as container:
        if not container.streams.audio:
            return
        stream = container.streams.audio[0]
        if stream.codec_context is None:
            return
        start_s = (container.start_time or 0) / 1e6
        resampler, n_samples = None, 0
        for frame in decoded(container, stream):
            if frame.time is not None:
                for silence in _hole(frame.time - start_s - n_samples / SAMPLE_RATE):
                    n_samples += len(silence)
                    yield silence
            frame.pts = None
            shape = (frame.format.name, frame.layout.name, frame.sample_rate)
            if resampler is None or resampler[0] != shape:
                resampler = (shape, av.AudioResampler(format="flt", layout="mono", rate=SAMPLE_RATE))
            for resampled in resampler[1].resample(frame):
                samples = np.nan_to_num(resampled.to_ndarray().reshape(-1).astype(np.float32))
                n_samples += len(samples)
                yield samples


def _hole(missing_s: float) -> Iterator[Sound]:
    """Silence for a hole in the sound, in pieces of at most a second."""
    left = round(missing_s * SAMPLE_RATE) if _HOLE_S < missing_s <= _LONGEST_PAUSE_S else 0
    while left > 0:
        n = min(left, SAMPLE_RATE)
        yield np.zeros(n, np.float32)
        left -= n
