"""`crosstask demo --video` from nothing, once a seed: its time and memory as measured here, what it found, and sharing against no sharing.

    python -m benchmarks.synthetic.video_demo FOLDER --seeds 0 1 2 --out results/video-demo.json

Synthetic videos. A seed draws films, layouts, scripts and speech anew, so seeds are independent. Test films (layouts of their own) are never
trained on. Sharing is paired with no sharing within each seed: with all 8 training films of a task, and over draws of 4 of them.
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

from crosstask import open_corpus
from crosstask.evaluation.evaluate import evaluate_videos
from crosstask.evaluation.paired import paired_difference
from crosstask.methods.hmm import HiddenMarkovModel
from crosstask.records import parse_video_key
from crosstask.storage import write_json

DRAWS, TRAIN_VIDEOS_PER_TASK = 3, 4


def demonstrated(folder: Path, seed: int) -> dict:
    """What the demonstration of a seed printed, and what it took; run now unless this script has done so before."""
    kept = folder / f"seed-{seed}.json"
    if kept.is_file():
        return json.loads(kept.read_text("utf-8"))
    out = folder / f"seed-{seed}"
    if out.exists():
        raise SystemExit(f"{out}: exists, so its time from nothing cannot be measured; remove it or choose another folder")
    load, begun = os.getloadavg()[0], perf_counter()
    command = [sys.executable, "-m", "crosstask.cli.main", "demo", "--video", "--seed", str(seed), "--out", str(out), "--json"]
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


def recall(corpus, train, test, sharing):
    kept = corpus.only_tasks({v.task for v in train}).only(train)
    scorer = HiddenMarkovModel(sharing).fit(kept, np.random.default_rng(0))
    by_task = evaluate_videos(corpus, scorer, test).by_metric["recall"]
    return sum(by_task.values()) / len(by_task)


def fewer_films(folder: Path, seed: int) -> list[list[float]]:
    """[component, none] recall for each draw of 4 training films a task."""
    kept = folder / f"seed-{seed}-fewer.json"
    if kept.is_file():
        return json.loads(kept.read_text("utf-8"))["pairs"]
    corpus = open_corpus(folder / f"seed-{seed}" / "corpus")
    keys = {parse_video_key(line) for line in (folder / f"seed-{seed}" / "corpus/test-videos.txt").read_text().split()}
    test = [v for v in corpus.videos if v.key in keys]
    pairs = []
    for draw in range(DRAWS):
        rng = np.random.default_rng([seed, draw])
        fewer = []
        for task in corpus.tasks:
            own = [v for v in corpus.videos if v.task == task and v.key not in keys]
            fewer += [own[i] for i in sorted(rng.choice(len(own), TRAIN_VIDEOS_PER_TASK, replace=False))]
        pairs.append([recall(corpus, fewer, test, sharing) for sharing in ("component", "none")])
    write_json(kept, {"pairs": pairs})
    return pairs


def main():
    parser = arguments_of(__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    arguments = parser.parse_args()
    seeds, pairs, gains = {}, {}, {"8 training films": [], "4 training films, mean of draws": []}
    for seed in arguments.seeds:
        found = demonstrated(arguments.folder, seed)
        figures = found["figures"]
        by_method = {name: of["mean"] for name, of in figures["recall"].items()}
        by_method["best, task never trained on"] = figures["left_out"]["mean"]["never_trained"]
        pairs[seed] = fewer_films(arguments.folder, seed)
        seeds[str(seed)] = {
            "recall": by_method,
            "tasks": {name: of["tasks"] for name, of in figures["recall"].items()},
            "tasks_left_out": figures["left_out"]["tasks"],
            "4 training films: component, none": pairs[seed],
            "stages": figures["seconds"],
            **found["took"],
        }
        gains["8 training films"].append(by_method["best"] - by_method["no sharing"])
        gains["4 training films, mean of draws"].append(float(np.mean([a - b for a, b in pairs[seed]])))
    names = next(iter(seeds.values()))["recall"]
    write_json(
        arguments.out,
        {
            "command": f"python -m benchmarks.synthetic.video_demo FOLDER --seeds {' '.join(map(str, arguments.seeds))} --out results/video-demo.json",
            "synthetic": True,
            "seeds": seeds,
            "recall": {name: float(np.mean([of["recall"][name] for of in seeds.values()])) for name in names},
            "gain_from_sharing": {name: gain_of(values) for name, values in gains.items()},
            "twice_uniform": all(of["recall"]["best"] >= 2 * of["recall"]["uniform"] for of in seeds.values()),
            "tasks_left_out_above_uniform": sum(
                row["never_trained"] > row["uniform"] for of in seeds.values() for row in of["tasks_left_out"].values()
            ),
            "tasks_left_out": sum(len(of["tasks_left_out"]) for of in seeds.values()),
        },
    )


def gain_of(values):
    """Mean over seeds, paired, with its 95 % interval (t); every seed's own gain."""
    return {"seeds": values, "seeds_won": sum(value > 0 for value in values)} | paired_difference(values, [0.0] * len(values))


if __name__ == "__main__":
    main()
