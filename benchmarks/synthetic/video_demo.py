"""`crosstask demo` from nothing, once a seed: its time and memory as measured here, and what it found.

    python -m benchmarks.synthetic.video_demo FOLDER --seeds 0 1 2 --out results/video-demo.json

Synthetic videos. A seed draws films, layouts, scripts and speech anew, so seeds are independent. Test films (layouts of their own) are never
trained on. Time by the clock depends on what else the machine does: the load is kept beside it.
A demonstration that this script has already timed in FOLDER is not run again; one that it did not time is refused.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np
from benchmarks.scripts import arguments_of

from crosstask.evaluation.paired import paired_difference
from crosstask.storage import write_json


def demonstrated(folder: Path, seed: int) -> dict:
    """What the demonstration of a seed printed, and what it took; run now unless this script has done so before."""
    kept = folder / f"seed-{seed}.json"
    if kept.is_file():
        return json.loads(kept.read_text("utf-8"))
    out = folder / f"seed-{seed}"
    if out.exists():
        raise SystemExit(f"{out}: exists, so its time from nothing cannot be measured; remove it or choose another folder")
    load, begun = os.getloadavg()[0], perf_counter()
    command = [sys.executable, "-m", "crosstask.cli.main", "demo", "--seed", str(seed), "--out", str(out), "--json"]
    with tempfile.TemporaryFile() as printed:
        process = subprocess.Popen(command, stdout=printed)
        _, status, used = os.wait4(process.pid, 0)  # what this process and those it waited for used, and no other
        process.returncode = os.waitstatus_to_exitcode(status)
        wall = perf_counter() - begun
        if process.returncode != 0:
            raise SystemExit(f"the demonstration of seed {seed} ended with {process.returncode}")
        printed.seek(0)
        figures = json.loads(printed.read())
    took = {
        "wall_seconds": wall,
        "cpu_seconds": used.ru_utime + used.ru_stime,
        "largest_process_mb": used.ru_maxrss / 1024,
        "load_at_start": load,
        "load_at_end": os.getloadavg()[0],
        "cores": len(os.sched_getaffinity(0)),
        "report_bytes": (out / "report.html").stat().st_size,
    }
    found = {"took": took, "figures": figures}
    write_json(kept, found)
    return found


def main():
    parser = arguments_of(__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    arguments = parser.parse_args()
    seeds = {}
    for seed in arguments.seeds:
        found = demonstrated(arguments.folder, seed)
        figures = found["figures"]
        seeds[str(seed)] = {"recall": figures["recall"], "tasks": figures["tasks"], "stages": figures["seconds"], **found["took"]}
    recalls = [of["recall"] for of in seeds.values()]
    gains = [of["hmm"] - of["hmm_no_sharing"] for of in recalls]
    write_json(
        arguments.out,
        {
            "command": f"python -m benchmarks.synthetic.video_demo FOLDER --seeds {' '.join(map(str, arguments.seeds))} --out results/video-demo.json",
            "synthetic": True,
            "features": "light",
            "seeds": seeds,
            "recall": {name: float(np.mean([of[name] for of in recalls])) for name in recalls[0]},
            "least": {
                "hmm": min(of["hmm"] for of in recalls),
                "never_trained_over_uniform": min(of["never_trained"] / of["uniform"] for of in recalls),
            },
            "gain_from_sharing": {"seeds": gains, "seeds_won": sum(gain > 0 for gain in gains)}
            | paired_difference(gains, [0.0] * len(gains)),
            "most": {
                name: max(of[name] for of in seeds.values()) for name in ("wall_seconds", "cpu_seconds", "largest_process_mb")
            },
        },
    )


if __name__ == "__main__":
    main()
