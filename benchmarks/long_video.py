"""Peak memory and time of describing a two-hour video: `crosstask extract` in a process of its own.

    python benchmarks/long_video.py FOLDER --out results/long-video.json

The film is made here (synthetic: a moving square and a tone); its length is what matters.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from time import perf_counter

import av
import numpy as np

from crosstask.storing import write_json

WIDTH, HEIGHT = 320, 240


def minute(path: Path, rate: int) -> Path:
    """`path`, a film of one minute with sound."""
    with av.open(str(path), "w") as container:
        pictures = container.add_stream("libx264", rate=rate, options={"preset": "ultrafast", "crf": "30", "bf": "0"})
        pictures.width, pictures.height, pictures.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        sound = container.add_stream("aac", rate=16_000, layout="mono")
        tone = (0.3 * np.sin(2 * np.pi * 440 * np.arange(16_000) / 16_000)).astype(np.float32)
        for second in range(60):
            for i in range(rate):
                picture = np.full((HEIGHT, WIDTH, 3), 40 + second, np.uint8)
                at = (7 * second + 11 * i) % (WIDTH - 40)
                picture[60:100, at : at + 40] = 220
                frame = av.VideoFrame.from_ndarray(picture, "rgb24")
                frame.pts, frame.time_base = second * rate + i, Fraction(1, rate)
                container.mux(pictures.encode(frame))
            piece = av.AudioFrame.from_ndarray(tone[None], "fltp", "mono")
            piece.sample_rate, piece.pts = 16_000, second * 16_000
            container.mux(sound.encode(piece))
        container.mux(pictures.encode())
        container.mux(sound.encode())
    return path


def film(path: Path, minutes: int, rate: int) -> Path:
    """`path`, the same minute that many times over: packets are repeated, nothing is encoded again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    once = minute(path.with_name("minute.mp4"), rate)
    with av.open(str(path), "w") as out, av.open(str(once)) as template:
        streams = {stream.index: out.add_stream_from_template(stream) for stream in template.streams}
        for k in range(minutes):
            with av.open(str(once)) as again:
                for packet in again.demux():
                    if packet.dts is None:
                        continue
                    shift = int(61 * k / packet.time_base)  # a second between, as sound ends a little after its minute
                    packet.pts, packet.dts = packet.pts + shift, packet.dts + shift
                    packet.stream = streams[packet.stream.index]
                    out.mux(packet)
    return path


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--minutes", type=int, default=120)
    parser.add_argument("--rate", type=int, default=2)
    parser.add_argument("--features", default="default")
    parser.add_argument("--out", type=Path, required=True)
    asked = parser.parse_args()
    path = film(asked.folder / "long.mp4", asked.minutes, asked.rate)
    features = asked.folder / "features"
    command = ["extract", str(path), "--features", asked.features, "--workers", "1", "--out", str(features), "--json"]
    before, load, begun = resource.getrusage(resource.RUSAGE_CHILDREN), os.getloadavg()[0], perf_counter()
    done = subprocess.run([sys.executable, "-m", "crosstask.cli.main", *command], check=True, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    shape = np.load(features / "long.npy", mmap_mode="r").shape
    write_json(
        asked.out,
        {
            "command": f"python benchmarks/long_video.py FOLDER --features {asked.features} --out results/long-video.json",
            "synthetic": True,
            "seconds_of_video": int(shape[0]),
            "frames_per_second": asked.rate,
            "picture": [WIDTH, HEIGHT],
            "features": json.loads(done.stdout)["recipe"],
            "shape": list(shape),
            "peak_memory_mb": after.ru_maxrss / 1024,
            "limit_mb": 2048,
            "wall_seconds": perf_counter() - begun,
            "cpu_seconds": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
            "load_at_start": load,
        },
    )


if __name__ == "__main__":
    main()
