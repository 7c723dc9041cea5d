"""The audio of a video file second by second: 16 kHz, one channel, aligned to the time stamps."""

from collections.abc import Generator, Iterator
from pathlib import Path

import numpy as np

from crosstask.extraction.containers import decode_frames, need_pyav, open_container, start_of
from crosstask.extraction.second import SAMPLE_RATE, Audio

_MAX_GAP_S = 600  # ours: longer gaps mean invalid time stamps and are not filled with silence
_MIN_GAP_S = 0.1  # ours: smaller differences between time stamps and sample counts are rounding


def padded_audio_seconds(path: Path) -> Generator[Audio, None, None]:
    """(16000,) samples of each second, continued with silence without end."""
    yield from audio_seconds(path)
    while True:
        yield np.zeros(SAMPLE_RATE, np.float32)


def audio_seconds(path: Path) -> Iterator[Audio]:
    """(16000,) samples of each second up to the end of the audio, the last second padded with silence."""
    pending: list[Audio] = []
    n_pending = 0
    for block in _sample_blocks(path):
        pending.append(block)
        n_pending += len(block)
        if n_pending < SAMPLE_RATE:
            continue
        joined = np.concatenate(pending)
        whole = len(joined) // SAMPLE_RATE * SAMPLE_RATE
        for start in range(0, whole, SAMPLE_RATE):
            yield joined[start : start + SAMPLE_RATE]
        pending, n_pending = [joined[whole:]], len(joined) - whole
    if n_pending:
        yield np.concatenate([*pending, np.zeros(SAMPLE_RATE - n_pending, np.float32)])


def _sample_blocks(path: Path) -> Iterator[Audio]:
    """Blocks of samples in order of time, gaps filled with silence."""
    av = need_pyav()
    with open_container(path) as container:
        if not container.streams.audio:
            return
        stream = container.streams.audio[0]
        if stream.codec_context is None:
            return
        start_s = start_of(container)
        resampler, n_samples = None, 0
        for frame in decode_frames(container, stream):
            if frame.time is not None:
                for silence in _silence_of(frame.time - start_s - n_samples / SAMPLE_RATE):
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


def _silence_of(missing_s: float) -> Iterator[Audio]:
    """Zeros for a gap in the audio, in blocks of at most one second."""
    remaining = round(missing_s * SAMPLE_RATE) if _MIN_GAP_S < missing_s <= _MAX_GAP_S else 0
    while remaining > 0:
        n = min(remaining, SAMPLE_RATE)
        yield np.zeros(n, np.float32)
        remaining -= n
