"""Peak memory and time of feature extraction for a two-hour video: `crosstask extract` in its own process, once per feature spec.

    python -m benchmarks.speed.long_video FOLDER --out results/long-video.json

The film is made here (synthetic: drifting patches and a tone, 640 x 360 at 25 frames a second); its length is what matters.
"""

import json
import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from time import perf_counter

import av
import numpy as np
from benchmarks.scripts import arguments_of

from crosstask.storage import write_json

WIDTH, HEIGHT, PATCH = 640, 360, 20


def minute(path: Path, rate: int) -> Path:
    """`path`, a film of one minute with sound."""
    with av.open(str(path), "w") as container:
        pictures = container.add_stream("libx264", rate=rate, options={"preset": "ultrafast", "crf": "30", "bf": "0"})
        pictures.width, pictures.height, pictures.pix_fmt = WIDTH, HEIGHT, "yuv420p"
        sound = container.add_stream("aac", rate=16_000, layout="mono")
        tone = (0.3 * np.sin(2 * np.pi * 440 * np.arange(16_000) / 16_000)).astype(np.float32)
        drawn = np.random.default_rng(0).integers(0, 256, (HEIGHT // PATCH, WIDTH // PATCH, 3)).astype(np.uint8)
        patches = drawn.repeat(PATCH, axis=0).repeat(PATCH, axis=1)
        for second in range(60):
            for i in range(rate):
                drifted = np.roll(patches, (second, second * rate + i), axis=(0, 1))
                frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(drifted), "rgb24")
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


def described(path: Path, features: str, folder: Path) -> dict:
    """What describing the film took, told by the system of that process alone."""
    command = ["extract", str(path), "--features", features, "--workers", "1", "--out", str(folder), "--json"]
    load, begun = os.getloadavg()[0], perf_counter()
    with (folder.with_suffix(".txt")).open("w+") as said:
        process = subprocess.Popen([sys.executable, "-m", "crosstask.cli.main", *command], stdout=said)
        _, status, used = os.wait4(process.pid, 0)
        wall_s = perf_counter() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"extract --features {features} ended with {process.returncode}")
        said.seek(0)
        told = json.load(said)
    if told["done"] != 1:
        raise SystemExit(f"{folder}: {told}; expected one video described now, so choose a new folder")
    return {
        "features": told["recipe"],
        "shape": list(np.load(folder / "long.npy", mmap_mode="r").shape),
        "peak_memory_mb": used.ru_maxrss / 1024,
        "wall_seconds": wall_s,
        "cpu_seconds": used.ru_utime + used.ru_stime,
        "load_at_start": load,
    }


def main():
    parser = arguments_of(__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--minutes", type=int, default=120)
    parser.add_argument("--rate", type=int, default=25)
    parser.add_argument("--features", nargs="+", default=["log-mel", "default"])
    arguments = parser.parse_args()
    path = film(arguments.folder / "long.mp4", arguments.minutes, arguments.rate)
    recipes = {name: described(path, name, arguments.folder / f"features-{name}") for name in arguments.features}
    write_json(
        arguments.out,
        {
            "command": "python -m benchmarks.speed.long_video FOLDER --out results/long-video.json",
            "synthetic": True,
            "seconds_of_video": next(iter(recipes.values()))["shape"][0],
            "frames_per_second": arguments.rate,
            "picture": [WIDTH, HEIGHT],
            "file_bytes": path.stat().st_size,
            "limit_mb": 2048,
            "recipes": recipes,
            "under_the_limit": all(of["peak_memory_mb"] < 2048 for of in recipes.values()),
        },
    )


if __name__ == "__main__":
    main()
