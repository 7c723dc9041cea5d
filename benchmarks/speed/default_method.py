"""What training the default method costs: seconds and memory at CrossTask's full shape, and how CPU time grows with each size. Writes JSON.

    python -m benchmarks.speed.default_method FOLDER --out results/default-method-cost.json

Full shape: 2,490 synthetic videos in 83 tasks with the lengths, step lists and windows of the synthetic corpus, 3200 columns of float16
noise with a signal inside the windows, written to FOLDER once (4 GB, and as much again packed). `crosstask train` runs as a process whose
anonymous memory is read every 50 ms (Linux only).
Growth: CPU seconds of `HiddenMarkovModel.fit` in this process while one size is multiplied by 1, 2 and 4; last, for videos that each are a
task of their own.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from itertools import groupby, product
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

import numpy as np
from benchmarks.scripts import arguments_of, write_result
from benchmarks.speed.training_memory import anonymous_kb

from crosstask import open_corpus
from crosstask.datasets.release import write_release
from crosstask.features import FeaturesInMemory, write_rows
from crosstask.features.packed_corpus import with_packed_features
from crosstask.methods.hmm import HiddenMarkovModel
from crosstask.model.file import load_model
from crosstask.records import Corpus, Interval, StepInterval, Task, Video
from crosstask.synthetic import Shape, generate_without_features

FULL = Shape("full", 18, 65, 30, 0, 0, 30)
N_DIMENSIONS = 3200
BASE = {"videos": 120, "T": 120, "K": 8, "D": 1024, "tasks": 15}
OWN_TASKS = {
    "videos": 500,
    "T": 30,
    "K": 5,
    "D": 32,
    "tasks": 500,
}  # every video is a task, with as many different words as videos
FACTORS = (1, 2, 4)
NOISE = 3.0  # deviation of a feature around the mean of its step, whose dimensions have deviation 1


def training_process(corpus: Path, out: Path) -> dict[str, float]:
    """Wall and CPU seconds, and the largest anonymous memory in MB, of one `crosstask train`; the load of the machine before it."""
    command = [sys.executable, "-m", "crosstask.cli.main", "train", str(corpus), "--method", "hmm", "--out", str(out)]
    load, begun, peak = os.getloadavg()[0], perf_counter(), 0
    training = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ | {"OMP_NUM_THREADS": "1"}
    )
    while True:
        peak = max(peak, anonymous_kb(training.pid))
        ended, status, usage = os.wait4(training.pid, os.WNOHANG)
        if ended:
            break
        time.sleep(0.05)
    training.returncode = os.waitstatus_to_exitcode(status)
    if training.returncode != 0:
        raise SystemExit(f"training ended with {training.returncode}")
    cpu_s = usage.ru_utime + usage.ru_stime
    return {"wall_s": perf_counter() - begun, "cpu_s": cpu_s, "peak_anonymous_mb": peak / 1024, "load_before": load}


def full_shape(folder: Path, repeats: int) -> dict:
    """Medians over some trainings at CrossTask's full shape, and each of them."""
    corpus_folder = folder / "full"
    if not (corpus_folder / "crosstask_release").exists():
        write_full(corpus_folder)
    corpus = with_packed_features(open_corpus(corpus_folder))
    runs = [training_process(corpus_folder, folder / "hmm.safetensors") for _ in range(repeats)]
    lengths = [corpus.n_segments(video) for video in corpus.videos]
    return {
        "tasks": len(corpus.tasks),
        "steps": sum(len(task.steps) for task in corpus.tasks.values()),
        "videos": len(corpus.videos),
        "mean_T": float(np.mean(lengths)),
        "D": N_DIMENSIONS,
        "features_mb": round(2 * N_DIMENSIONS * sum(lengths) / 1e6),
        "windows_used": load_model(folder / "hmm.safetensors").scorer.windows_used,
        **{name: median(run[name] for run in runs) for name in runs[0]},
        "runs": runs,
    }


def write_full(folder: Path) -> None:
    """Write the tasks, lengths and windows of the synthetic corpus at the full shape, with features of `with_signal`."""
    corpus, rng = generate_without_features(FULL, "default", 0), np.random.default_rng(0)
    noise = noise_of(FULL.longest_s, N_DIMENSIONS, rng)
    for task, videos in groupby(corpus.videos, key=lambda video: video.task):
        means = rng.standard_normal((len(corpus.tasks[task].steps), N_DIMENSIONS), dtype=np.float32)
        for video in videos:
            rows = np.roll(noise, int(rng.integers(N_DIMENSIONS)), axis=1)[: corpus.seconds[video.id]]
            write_rows(folder / "crosstask_features" / f"{video.id}.npy", with_signal(rows, means, corpus.windows[video.key]))
    write_release(corpus, folder)


def noise_of(n_segments: int, n_dimensions: int, rng: np.random.Generator) -> np.ndarray:
    """(T, D) float16 noise; videos differ by the column it begins with, as contents hardly matter for time."""
    return (NOISE * rng.standard_normal((n_segments, n_dimensions), dtype=np.float32)).astype(np.float16)


def with_signal(rows: np.ndarray, means: np.ndarray, windows: Sequence[StepInterval]) -> np.ndarray:
    """(T, D) rows with the mean of a step added inside its windows, so that windows are informative and used."""
    rows = rows.copy()
    for window in windows:
        segments = slice(int(window.interval.start_s), int(window.interval.end_s) + 1)
        rows[segments] += means[window.step].astype(np.float16)
    return rows


def random_corpus(sizes: dict[str, int], seed: int = 0) -> Corpus:
    """A corpus in memory: every second step of a video has a window near its place in order, and step names share words."""
    rng = np.random.default_rng(seed)
    names = (
        own_names(sizes["tasks"] * sizes["K"], sizes["videos"], rng) if sizes["tasks"] == sizes["videos"] else pairs_of_words(rng)
    )
    tasks = {
        f"t{i}": Task(f"t{i}", f"task {i}", tuple(names[i * sizes["K"] : (i + 1) * sizes["K"]])) for i in range(sizes["tasks"])
    }
    means = {task: rng.standard_normal((sizes["K"], sizes["D"]), dtype=np.float32) for task in tasks}
    noise, part = noise_of(sizes["T"], sizes["D"], rng), sizes["T"] / sizes["K"]
    windows, rows = {}, {}
    for i in range(sizes["videos"]):
        video = Video(f"t{i % len(tasks)}", f"v{i:05d}")
        starts = part * (np.arange(sizes["K"]) + rng.uniform(-0.5, 0.5, sizes["K"])).clip(0, sizes["K"] - 1)
        windows[video] = tuple(StepInterval(k, Interval(starts[k], starts[k] + part)) for k in range(0, sizes["K"], 2))
        rows[video.id] = with_signal(np.roll(noise, i, axis=1), means[video.task], windows[video])
    by_key = {video.key: of_video for video, of_video in windows.items()}
    return Corpus("random", tasks, tuple(windows), windows=by_key, features=FeaturesInMemory(rows))


def pairs_of_words(rng: np.random.Generator) -> list[str]:
    """All pairs of 120 words, in random order."""
    words = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in "aeiou" for c in "kt"]
    return rng.permutation([f"{first} {second}" for first in words for second in words if first < second]).tolist()


def own_names(n: int, n_words: int, rng: np.random.Generator) -> list[str]:
    """n step names of two of so many words, some words being frequent and most of them rare."""
    words = ["".join(letters) + "k" for letters in product("bdfgklmnprst", "aeiou", "bdfgklmnprst", "aeiou")][:n_words]
    shares = 1 / np.sqrt(np.arange(1, n_words + 1))
    return [" ".join(pair) for pair in rng.choice(words, (n, 2), p=shares / shares.sum())]


def fit_seconds(corpus: Corpus) -> float:
    """CPU seconds of one training."""
    begun = process_time()
    HiddenMarkovModel().fit(corpus, np.random.default_rng(0))
    return process_time() - begun


def growth(repeats: int) -> dict:
    """By size: CPU seconds at 1, 2 and 4 times the base, the median of some trainings, and the exponent fitted to them."""
    fit_seconds(random_corpus(BASE | {"videos": 40}))  # compile
    result = {}
    cases = {name: (BASE, [name]) for name in BASE} | {"tasks of one video each": (OWN_TASKS, ["videos", "tasks"])}
    for name, (base, growing) in cases.items():
        at, seconds = [factor * base[growing[0]] for factor in FACTORS], []
        for n in at:
            corpus = random_corpus(base | dict.fromkeys(growing, n))
            seconds.append(median(fit_seconds(corpus) for _ in range(repeats)))
        exponent = float(np.polyfit(np.log(FACTORS), np.log(seconds), 1)[0])
        result[name] = {"at": at, "cpu_s": seconds, "exponent": exponent}
        print(name, result[name], flush=True)
    return result


def main() -> None:
    parser = arguments_of(__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--only", choices=("full", "growth"), help="measure this part, and keep the other of the output file")
    arguments = parser.parse_args()
    result = {
        "what": "training by the default method: CrossTask's full shape as a process, and CPU seconds while one size grows; synthetic features",
        "command": f"python -m benchmarks.speed.default_method FOLDER --repeats {arguments.repeats} --out results/default-method-cost.json",
        "seed": 0,
        "cores": os.cpu_count(),
        "growth_base": BASE,
    }
    kept = json.loads(arguments.out.read_text()) if arguments.only else {}
    result["full"] = kept["full"] if arguments.only == "growth" else full_shape(arguments.folder, arguments.repeats)
    result["growth"] = kept["growth"] if arguments.only == "full" else growth(arguments.repeats)
    if arguments.only:
        result["measured again alone"] = arguments.only
    write_result(arguments.out, result)


if __name__ == "__main__":
    main()
