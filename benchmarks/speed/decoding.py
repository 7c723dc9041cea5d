"""Time of decoding one video, in batches of random costs on one core; prints JSON.

python -m benchmarks.speed.decoding --out results/decoding-speed.json
"""

import argparse
import json
import platform
import time
from collections.abc import Callable
from pathlib import Path

import numba
import numpy as np

from crosstask.inference import decode_once_batch, once_marginals_in_batch
from crosstask.inference.once import once_batch_into

TARGET_US = 8.0  # one labelling at T = 300, K = 8


def least_seconds(work: Callable[[], object], repeats: int) -> float:
    """The quickest of several runs after a first one that compiles: what the code costs when nothing else disturbs it."""
    work()
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def once_us(T: int, K: int, n_videos: int, repeats: int, rng: np.random.Generator, dtype: type = np.float32) -> dict[str, float]:
    """Microseconds a video: the kernel alone, and the public call with its checks."""
    costs = rng.random(n_videos * T * K, dtype=dtype)
    n_segments, n_steps = np.full(n_videos, T), np.full(n_videos, K)
    times = np.empty(n_videos * K, np.int64)
    kernel = least_seconds(lambda: once_batch_into(costs, n_segments, n_steps, times), repeats)
    public = least_seconds(lambda: decode_once_batch(costs, n_segments, n_steps), repeats)
    return {"kernel_us": round(kernel / n_videos * 1e6, 2), "with_checks_us": round(public / n_videos * 1e6, 2)}


def measure(n_videos: int, repeats: int, seed: int) -> dict[str, object]:
    rng = np.random.default_rng(seed)
    sizes = [(300, 8), (600, 8), (1200, 8), (300, 16), (300, 32)]
    once = {(T, K): once_us(T, K, n_videos, repeats, rng) for T, K in sizes}
    kernel = {size: result["kernel_us"] for size, result in once.items()}
    cost = rng.random((300, 8), dtype=np.float32)
    few = 100
    marginals = least_seconds(
        lambda: once_marginals_in_batch(np.tile(cost.reshape(-1), few), np.full(few, 300), np.full(few, 8)), repeats
    )
    return {
        "what": "one ordered labelling, made-up uniform costs, float32, one core, quickest of the repeats",
        "videos_in_batch": n_videos,
        "repeats": repeats,
        "seed": seed,
        "target_us": TARGET_US,
        "once": {f"T={T}, K={K}": result for (T, K), result in once.items()},
        "once_float64": {"T=300, K=8": once_us(300, 8, n_videos, repeats, rng, np.float64)},
        "times_slower_when_T_doubles": [round(kernel[600, 8] / kernel[300, 8], 2), round(kernel[1200, 8] / kernel[600, 8], 2)],
        "times_slower_when_K_doubles": [round(kernel[300, 16] / kernel[300, 8], 2), round(kernel[300, 32] / kernel[300, 16], 2)],
        "marginals_us": {"T=300, K=8": round(marginals / few * 1e6, 1)},
        "machine": {"processor": platform.machine(), "python": platform.python_version(), "numba": numba.__version__},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--videos", type=int, default=2000)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    command = (
        f"python -m benchmarks.speed.decoding --videos {arguments.videos} --repeats {arguments.repeats} --seed {arguments.seed}"
    )
    text = json.dumps({"command": command, **measure(arguments.videos, arguments.repeats, arguments.seed)}, indent=2)
    print(text)
    if arguments.out is not None:
        arguments.out.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
