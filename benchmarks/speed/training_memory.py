"""Peak anonymous memory of training: both methods on a corpus with features of the published width. Writes JSON.

    python -m benchmarks.speed.training_memory FOLDER --out results/training-memory.json

630 synthetic videos of about 300 s in 18 tasks, 3200 columns of float16, 1.2 GB in FOLDER. `crosstask train` runs as a process
whose anonymous memory is read every 50 ms. Linux only.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.scripts import arguments_of

from crosstask.storage import write_json
from crosstask.synthetic import Shape, write_synthetic

SHAPE = Shape("memory", 18, 0, 35, 0, 0, 0, 5.7, 0.05, 0.15)


def peak_mb(corpus: Path, recipe: str, out: Path) -> float:
    """The largest anonymous memory of one training, in MB."""
    command = [sys.executable, "-m", "crosstask.cli.main", "train", str(corpus), "--recipe", recipe, "--out", str(out)]
    training = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=os.environ | {"OMP_NUM_THREADS": "1"}
    )
    peak = 0
    while training.poll() is None:
        peak = max(peak, anonymous_kb(training.pid))
        time.sleep(0.05)
    if training.returncode != 0:
        raise SystemExit(f"training by recipe {recipe} ended with {training.returncode}")
    return peak / 1024


def anonymous_kb(pid: int) -> int:
    """RssAnon of a process; nothing once it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("RssAnon")), 0)


def main() -> None:
    parser = arguments_of(__doc__)
    parser.add_argument("folder", type=Path)
    arguments = parser.parse_args()
    corpus = arguments.folder / "corpus"
    if not corpus.exists():
        write_synthetic(corpus, SHAPE, "clear", 0, 3200)
    rows = sum(path.stat().st_size for path in (corpus / "crosstask_features").glob("*.npy"))
    result = {
        "what": "largest anonymous memory of `crosstask train` on synthetic rows of the published width",
        "command": "python -m benchmarks.speed.training_memory FOLDER --out results/training-memory.json",
        "seed": 0,
        "videos": 18 * 35,
        "rows_mb": round(rows / 2**20),
        "peak_anonymous_mb": {r: round(peak_mb(corpus, r, arguments.folder / f"{r}.safetensors")) for r in ("best", "paper")},
    }
    write_json(arguments.out, result)
    print(arguments.out.read_text())


if __name__ == "__main__":
    main()
