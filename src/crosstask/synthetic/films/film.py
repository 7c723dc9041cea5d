"""Rendering of a script to an mp4 file with image and sound, by PyAV. Extra: video."""

import shutil
import subprocess
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from crosstask.records import MissingExtra
from crosstask.synthetic.films.scenes import HEIGHT, WIDTH, Kitchen, draw_frame
from crosstask.synthetic.films.scripts import Line, Script

FRAMES_PER_SECOND = 8
SAMPLE_RATE = 16_000
Samples = npt.NDArray[np.float32]


def render_film(path: Path, script: Script, kitchen: Kitchen, rng: np.random.Generator, spoken: bool) -> Path:
    """`path`, to which the video of a script was written atomically."""
    try:
        import av
    except ImportError:
        raise MissingExtra("rendering videos", "video") from None
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.stem}.partial{path.suffix}")
    unfinished.unlink(missing_ok=True)  # a link would be followed
    with av.open(str(unfinished), "w", options={"movflags": "faststart", "fflags": "+bitexact"}) as container:
        pictures: Any = container.add_stream(
            "libx264",
            rate=FRAMES_PER_SECOND,
            options={"preset": "superfast", "crf": "30", "threads": "1", "x264-params": "cpu-independent=1:mbtree=0"},
        )
        pictures.width, pictures.height, pictures.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        sound: Any = container.add_stream("aac", rate=SAMPLE_RATE, layout="mono")
        for number, picture in enumerate(frames(script, kitchen, rng)):
            frame = av.VideoFrame.from_ndarray(picture, "rgb24")
            frame.pts, frame.time_base = number, Fraction(1, FRAMES_PER_SECOND)
            container.mux(pictures.encode(frame))
        container.mux(pictures.encode())
        wave = soundtrack(script, rng, spoken)
        for start in range(0, len(wave), 1024):
            piece = av.AudioFrame.from_ndarray(wave[None, start : start + 1024], "fltp", "mono")
            piece.sample_rate, piece.pts = SAMPLE_RATE, start
            container.mux(sound.encode(piece))
        container.mux(sound.encode())
    unfinished.replace(path)
    return path


def frames(script: Script, kitchen: Kitchen, rng: np.random.Generator) -> Iterator[npt.NDArray[np.uint8]]:
    """The frames (192, 256, 3) of a script in order."""
    shots = iter(script.shots)
    shot = next(shots)
    for number in range(int(script.seconds * FRAMES_PER_SECOND)):
        time_s = number / FRAMES_PER_SECOND
        while time_s >= shot.end_s:
            shot = next(shots)
        yield draw_frame(kitchen, shot, time_s, rng)


def soundtrack(script: Script, rng: np.random.Generator, spoken: bool) -> Samples:
    """(n,) samples: background noise, a sound for each action at random loudness, and the narrator's voice if `spoken`."""
    n = int(script.seconds * SAMPLE_RATE)
    wave = 0.004 * rng.standard_normal(n)
    for shot in script.shots:
        if shot.step is None:
            continue
        first, last = int(shot.start_s * SAMPLE_RATE), min(n, int(shot.end_s * SAMPLE_RATE))
        wave[first:last] += rng.uniform(0.01, 0.05) * _noise(shot.kind, last - first, rng)
    if spoken:
        for line in script.lines:
            voice = speak(line)
            first = int(line.start_s * SAMPLE_RATE)
            wave[first : first + len(voice)] += voice[: max(0, n - first)]
    return np.clip(wave, -1, 1).astype(np.float32)


def _noise(verb: str, n: int, rng: np.random.Generator) -> npt.NDArray[np.float64]:
    """(n,) samples of the sound of an action."""
    t = np.arange(n) / SAMPLE_RATE
    rush = rng.standard_normal(n)
    if verb == "pour":
        return rush * (1 + 0.3 * np.sin(2 * np.pi * 5 * t))
    if verb in ("cut", "press"):
        beat = 1.6 if verb == "cut" else 0.6
        return 2 * rush * np.exp(-40 * ((t * beat) % 1) / beat)
    if verb == "stir":
        return np.sin(2 * np.pi * 2300 * t) * np.exp(-25 * ((1.9 * t) % 1))
    if verb == "flip":
        return np.diff(rush, prepend=0.0)
    return np.asarray(0.3 * np.cumsum(rush) / np.sqrt(np.arange(1, n + 1)))


def can_speak() -> bool:
    """True if espeak-ng is installed."""
    return shutil.which("espeak-ng") is not None


def speak(line: Line) -> Samples:
    """(n,) samples of a line spoken by espeak-ng at about the speed of its subtitles."""
    words_a_minute = max(120, min(260, round(60 * len(line.text.split()) / max(0.5, line.end_s - line.start_s))))
    command = ["espeak-ng", "-v", "en-us", "-s", str(words_a_minute), "--stdout", line.text]
    data = subprocess.run(command, capture_output=True, check=True, timeout=60).stdout
    samples = (
        np.frombuffer(data[44 : 44 + (len(data) - 44) // 2 * 2], "<i2").astype(np.float32) / 32768
    )  # 22050 Hz after the header
    moments = np.arange(0, len(samples) / 22050, 1 / SAMPLE_RATE)
    return (0.5 * np.interp(moments, np.arange(len(samples)) / 22050, samples)).astype(np.float32)
