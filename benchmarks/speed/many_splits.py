"""Twenty splits of CrossTask's full shape by the paper's training, in two processes that share one packed file. Writes JSON.

    python -m benchmarks.speed.many_splits FOLDER --out results/many-splits.json

4,713 videos of 300 s in 83 tasks, D = 3200, float16 (9 GB of noise in FOLDER, written once: contents do not matter for time); a split
trains on 30 videos of each task, 60 epochs. First single splits in one process, then all of them in two: the ratio says what the second core gave.
"""

from dataclasses import replace
from pathlib import Path
from time import perf_counter

import numpy as np
from benchmarks.scripts import arguments_of
from benchmarks.speed.training import PAPER, anonymous_mb, mapped_rows, our_seconds, random_videos

from crosstask.jobs.pool import Job, Values, run_all
from crosstask.learning.zhukov19.training_set import video_arrays
from crosstask.methods.training_videos import TrainingArrays
from crosstask.storage import write_json

N_TASKS, N_VIDEOS, N_SEGMENTS, TRAINED_PER_TASK = 83, 4713, 300, 30


def split_arrays(path: Path, split: int) -> TrainingArrays:
    """The training videos of a split: thirty of each task, drawn anew."""
    tasks, videos = random_videos(N_VIDEOS, N_SEGMENTS, 8, N_TASKS, 0)
    rng = np.random.default_rng(split)
    of_task = [range(task, N_VIDEOS, N_TASKS) for task in range(N_TASKS)]
    chosen = sorted(int(v) for numbers in of_task for v in rng.choice(numbers, TRAINED_PER_TASK, replace=False))
    rows = mapped_rows(path, N_VIDEOS * N_SEGMENTS, 3200, 0)
    return TrainingArrays(rows, video_arrays([videos[v] for v in chosen], tasks), tasks, ())


def train(values: Values) -> dict[str, float]:
    """Seconds of one split, from opening the file to the last epoch, and the memory it took."""
    begun = perf_counter()
    arrays = split_arrays(Path(values["rows"]), values["split"])
    settings = replace(PAPER, initial_epochs=values["epochs"], epochs=values["epochs"])
    n_components = int(arrays.tasks.components.max()) + 1
    seconds, _ = our_seconds(arrays, n_components, settings, values["split"])
    return {"seconds": perf_counter() - begun, "epochs_s": float(sum(seconds)), "anonymous_mb": anonymous_mb()}


def timed(jobs: list[Job], folder: Path, workers: int) -> tuple[float, list[dict[str, float]]]:
    """Wall seconds of all jobs together, and what each of them says."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.json"):
        old.unlink()
    begun = perf_counter()
    results = run_all(train, jobs, folder, workers=workers)
    return perf_counter() - begun, results


def main() -> None:
    parser = arguments_of(__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--epochs", type=int, default=30, help="of each kind")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    rows = arguments.folder / "rows"
    split_arrays(rows, 0).rows[::512].sum()  # written, and in the page cache as far as it fits
    jobs = [Job(f"split-{n:02d}", {"rows": str(rows), "split": n, "epochs": arguments.epochs}) for n in range(arguments.splits)]
    alone, _ = timed(jobs[:2], arguments.folder / "one", 1)
    together, results = timed(jobs, arguments.folder / "two", 2)
    write_json(
        arguments.out,
        {
            "what": "the paper's training on splits of CrossTask's full shape, two processes on one packed file; synthetic rows, shared machine",
            "command": "python -m benchmarks.speed.many_splits FOLDER --out results/many-splits.json",
            "splits": len(jobs),
            "epochs": [arguments.epochs, arguments.epochs],
            "one_process_s_per_split": round(alone / 2, 1),
            "two_processes_s_in_all": round(together, 1),
            "two_processes_gain": round(alone / 2 * len(jobs) / together, 2),
            "anonymous_mb_of_a_process": round(max(result["anonymous_mb"] for result in results)),
        },
    )
    print(arguments.out.read_text())


if __name__ == "__main__":
    main()
