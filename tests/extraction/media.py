"""Tiny generated video files: brightness and pitch encode the second."""

from fractions import Fraction
from pathlib import Path

import av
import numpy as np

WIDTH, HEIGHT = 64, 48


def write_video(
    path: Path,
    seconds: float = 3,
    rate: int = 8,
    sound: bool = True,
    times: list[float] | None = None,
    size: tuple[int, int] = (WIDTH, HEIGHT),
    options: dict[str, str] | None = None,
    draw=None,
    rotation: int = 0,
    pitch: int = 300,
) -> Path:
    """A video whose brightness is 20 + 30 per second; `times` gives a variable frame rate; sound is a tone of `pitch` + 200 s Hz."""
    path.parent.mkdir(parents=True, exist_ok=True)
    times = times if times is not None else [i / rate for i in range(round(seconds * rate))]
    with av.open(str(path), "w", options=options or {}) as container:
        stream = container.add_stream("libx264" if path.suffix != ".avi" else "mpeg4", rate=rate)
        stream.width, stream.height, stream.pix_fmt = *size, "yuv420p"
        stream.time_base = stream.codec_context.time_base = Fraction(1, 1000)
        if path.suffix == ".avi":
            stream.codec_context.time_base = Fraction(1, rate)
        if rotation:
            stream.set_display_rotation(rotation)
        voice = container.add_stream("aac" if path.suffix != ".webm" else "libopus", rate=16000, layout="mono") if sound else None
        for time in times:
            image = draw(time) if draw else np.full((size[1], size[0], 3), 20 + 30 * int(time) % 210, np.uint8)
            frame = av.VideoFrame.from_ndarray(image, "rgb24")
            frame.time_base = stream.codec_context.time_base
            frame.pts = round(time / frame.time_base)
            container.mux(stream.encode(frame))
        container.mux(stream.encode())
        if voice is not None:
            t = np.arange(round(seconds * 16000)) / 16000
            wave = 0.5 * np.sin(2 * np.pi * (pitch + 200 * np.floor(t)) * t)
            for start in range(0, len(wave), 1024):
                piece = av.AudioFrame.from_ndarray(wave[None, start : start + 1024].astype(np.float32), "fltp", "mono")
                piece.sample_rate, piece.pts = 16000, start
                container.mux(voice.encode(piece))
            container.mux(voice.encode())
    return path
