"""How long one video takes from a trained model: as a process, and in Python after loading. Writes JSON.

    python -m benchmarks.speed.localize FOLDER --out results/localize-speed.json

Synthetic features of the published width, 3200 columns, videos of about 300 s. A process is timed from its start to its end, imports
and all; its CPU seconds stand beside the wall clock, since other work may share the machine. The first process after an installation also
compiles the kernels, once: it is listed apart.
"""

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np
from benchmarks.scripts import arguments_of

from crosstask.features import read_rows
from crosstask.model.file import load_model
from crosstask.storage import write_json
from crosstask.synthetic import Shape, write_synthetic

SHAPE = Shape(
    "localize", 6, 0, 6, 4, 0, 0, mean_log_seconds=5.7, task_deviation_log_seconds=0.05, video_deviation_log_seconds=0.15
)


def crosstask(*words: object, cache: Path | None = None) -> tuple[float, float]:
    """Wall and CPU seconds of one command."""
    environment = os.environ | ({} if cache is None else {"NUMBA_CACHE_DIR": str(cache)})
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), perf_counter()
    command = [sys.executable, "-m", "crosstask.cli.main", *map(str, words)]
    subprocess.run(command, check=True, capture_output=True, env=environment)
    wall, after = perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _compiling(folder: Path, words: tuple[object, ...]) -> float:
    """Wall seconds with nothing compiled yet."""
    with tempfile.TemporaryDirectory(dir=folder) as empty:
        return crosstask(*words, cache=Path(empty))[0]


def measured(folder: Path, recipe: str, processes: int) -> dict[str, object]:
    """One recipe: wall and CPU seconds of processes, and milliseconds a video in Python."""
    model, features = folder / f"{recipe}.safetensors", sorted((folder / "corpus" / "crosstask_features").glob("*.npy"))
    if not model.exists():
        crosstask("train", folder / "corpus", "--recipe", recipe, "--out", model)
    loaded = load_model(model)
    task = next(iter(loaded.tasks.values()))
    words = ("localize", model, features[0], "--task", task.id)
    crosstask(*words)
    runs = [crosstask(*words) for _ in range(processes)]
    rows = [np.asarray(read_rows(path)) for path in features[:12]]
    loaded.localize(rows[0], task)
    times = []
    for video in rows * 5:
        begun = perf_counter()
        loaded.localize(video, task)
        times.append(1e3 * (perf_counter() - begun))
    return {
        "process_wall_s": {"median": round(float(np.median([w for w, _ in runs])), 2), "best": round(min(w for w, _ in runs), 2)},
        "process_cpu_s": round(float(np.median([cpu for _, cpu in runs])), 2),
        "first_process_compiling_s": round(_compiling(folder, words), 1),
        "python_ms": {"median": round(float(np.median(times)), 2), "95th": round(float(np.quantile(times, 0.95)), 2)},
        "seconds_of_video": round(float(np.mean([len(video) for video in rows]))),
    }


def main() -> None:
    parser = arguments_of(__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--processes", type=int, default=11)
    arguments = parser.parse_args()
    if not (arguments.folder / "corpus").exists():
        write_synthetic(arguments.folder / "corpus", SHAPE, "clear", 0, 3200)
    result = {recipe: measured(arguments.folder, recipe, arguments.processes) for recipe in ("best", "paper")}
    what = "one video of 3200 columns (synthetic) localised from a trained model; shared machine"
    command = "python -m benchmarks.speed.localize FOLDER --out results/localize-speed.json"
    write_json(arguments.out, {"what": what, "command": command, "seed": 0, "processes": arguments.processes} | result)
    print(arguments.out.read_text())


if __name__ == "__main__":
    main()
