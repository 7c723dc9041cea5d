"""Seconds and memory of the verbs on large collections: synthetic corpora of 1,000, 10,000 and 100,000 short videos.

    python -m benchmarks.speed.collections FOLDER --out results/collections.json

Synthetic: 20 tasks of 6 steps, 20 segments of 16 random columns a video, with a bump where a step is; every video is annotated. Each verb is a
process of its own; its time by the clock, its CPU time and its largest resident memory are recorded, so all contain the start of Python (about
a second); what numba compiles is compiled before. `view` is the time until the page answers; then each kind of request is sent several
times, also after a label was saved, and the median of each is recorded. The exponent of a verb is that of a power of the number of videos through
its last two sizes, in CPU time. What FOLDER already holds is made again, except the corpora.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from benchmarks.scripts import arguments_of, write_result

from crosstask.datasets import write_release
from crosstask.features import FeaturesInMemory
from crosstask.model.localization import localization_of
from crosstask.records import Corpus, Interval, StepInterval, Task, Video
from crosstask.runs import Run, RunVideo, write_run

N_TASKS, N_SEGMENTS, WIDTH = 20, 20, 16
VERBS = ("heat", "melt", "crack", "whisk", "add", "stir", "pour", "bake", "cut", "wash", "dry", "fold")
NOUNS = ("oven", "butter", "egg", "flour", "milk", "pan", "bowl", "dough")


def step_lists(rng: np.random.Generator) -> dict[str, Task]:
    """Tasks of six steps, each of two words."""
    return {
        str(i): Task(str(i), f"Task {i}", tuple(f"{rng.choice(VERBS)} {rng.choice(NOUNS)} {k}" for k in range(6)))
        for i in range(N_TASKS)
    }


def make_corpus(folder: Path, n_videos: int) -> Corpus:
    """A corpus in the published layout, made once."""
    rng = np.random.default_rng(0)
    tasks = step_lists(rng)
    directions = rng.normal(size=(N_TASKS, 6, WIDTH))
    videos, rows, annotations = [], {}, {}
    for i in range(n_videos):
        video = Video(str(i % N_TASKS), f"v{i:06d}", "http://example.org")
        starts = np.sort(rng.choice(N_SEGMENTS - 2, 6, replace=False))
        features = rng.normal(size=(N_SEGMENTS, WIDTH))
        for k, start in enumerate(starts):
            features[start : start + 2] += 2 * directions[i % N_TASKS, k]
        videos.append(video)
        rows[video.id] = features.astype(np.float16)
        annotations[video.key] = tuple(StepInterval(k, Interval(float(s), float(s) + 2)) for k, s in enumerate(starts))
    corpus = Corpus(folder.name, tasks, tuple(videos), annotations=annotations, features=FeaturesInMemory(rows))
    if not (folder / "complete").exists():
        write_release(replace(corpus, annotations={}), folder)
        places = [folder / "crosstask_features", folder / "crosstask_release" / "annotations"]
        for place in places:
            place.mkdir(parents=True, exist_ok=True)
        for video in videos:  # without flushing each file to disk, which takes most of the time
            np.save(places[0] / f"{video.id}.npy", rows[video.id])
            lines = [f"{s.step + 1},{s.interval.start_s:g},{s.interval.end_s:g}\n" for s in annotations[video.key]]
            (places[1] / f"{video.key}.csv").write_text("".join(lines))
        (folder / "complete").touch()
    return corpus


def make_run(folder: Path, corpus: Corpus) -> None:
    """A run folder of random localizations of every video."""
    rng = np.random.default_rng(1)
    found = [localization_of(corpus.task_of(v), rng.normal(size=(N_SEGMENTS, 6)), v.id) for v in corpus.videos]
    videos = tuple(RunVideo(v.task, v.id, N_SEGMENTS, None, corpus.annotations[v.key], None) for v in corpus.videos)
    write_run(folder, Run("Synthetic", "run", "benchmark", 0, True, corpus.tasks, videos, ("hmm",)), {"hmm": found})


def largest_mb(pid: int) -> float:
    """The largest resident memory of a process so far; 0 when it has ended. Unlike ru_maxrss, it does not contain that of its parent."""
    try:
        return int(Path(f"/proc/{pid}/status").read_text().split("VmHWM:")[1].split()[0]) / 1024
    except (OSError, IndexError):
        return 0.0


def measured(*arguments: object) -> dict[str, float]:
    """Seconds and largest resident MB of a verb."""
    begun = time.perf_counter()
    with tempfile.TemporaryFile() as printed:
        command = [sys.executable, *map(str, arguments)]
        process = subprocess.Popen(command, stdout=printed, stderr=subprocess.STDOUT)
        largest = 0.0
        while True:
            pid, status, used = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            largest = largest_mb(process.pid) or largest  # it only grows once the program is loaded
            time.sleep(0.02)
        process.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.perf_counter() - begun
        if process.returncode:
            printed.seek(0)
            raise SystemExit(f"{command}: {printed.read().decode()[-500:]}")
    return {
        "seconds": round(seconds, 2),
        "cpu_seconds": round(used.ru_utime + used.ru_stime, 2),
        "mb": round(largest),
    }


REQUESTS: dict[str, dict[str, Any]] = {
    "run": {"url": "/api/run"},
    "page of videos": {"url": "/api/videos", "params": {"page": 3}},
    "videos of a task": {"url": "/api/videos", "params": {"task": "3", "page": 2}},
    "search": {"url": "/api/videos", "params": {"search": "v00099"}},
    "videos without annotation": {"url": "/api/videos", "params": {"show": "not-annotated"}},
    "video": {"url": "/api/video", "params": {"task": "3", "video": "v000003"}},
    "review": {"url": "/api/review"},
}
LABEL = {"task": "3", "video": "v000003", "step": 1, "kind": "right"}
_WARM_S = 60.0  # at most: the order of the review is prepared after the start


def milliseconds(client: httpx.Client, request: dict[str, Any], repeats: int) -> float:
    """The median time of an answer."""
    taken = []
    for _ in range(repeats):
        asked = time.perf_counter()
        client.request(**({"method": "GET"} | request)).raise_for_status()
        taken.append(1000 * (time.perf_counter() - asked))
    return round(float(np.median(taken)), 1)


def cpu_seconds(pid: int) -> float:
    """CPU time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_until_idle(pid: int) -> None:
    """Wait until a process has used next to no CPU for a second."""
    deadline, before = time.perf_counter() + _WARM_S, -1.0
    while time.perf_counter() < deadline and cpu_seconds(pid) - before > 0.02:
        before = cpu_seconds(pid)
        time.sleep(1.0)


def viewed(run: Path) -> dict[str, Any]:
    """Seconds until the viewer of a run answers, milliseconds of each kind of request, and its largest resident MB."""
    (run / "labels.jsonl").unlink(missing_ok=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    begun = time.perf_counter()
    command = [sys.executable, "-m", "crosstask.cli.main", "view", str(run), "--port", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=120) as client:
            while True:
                try:
                    client.get("/api/run").raise_for_status()
                    break
                except httpx.TransportError:
                    if server.poll() is not None or time.perf_counter() - begun > 300:
                        raise SystemExit("the viewer did not start") from None
                    time.sleep(0.05)
            seconds, used = time.perf_counter() - begun, cpu_seconds(server.pid)
            time.sleep(3.0)  # the viewer prepares the review two seconds after its start
            wait_until_idle(server.pid)
            answers = {name: milliseconds(client, request, 15) for name, request in REQUESTS.items()}
            answers["save a label"] = milliseconds(client, {"method": "PUT", "url": "/api/label", "json": LABEL}, 5)
            answers["page of videos after a label"] = milliseconds(client, REQUESTS["page of videos"], 15)
        largest = largest_mb(server.pid)
    finally:
        server.terminate()
        server.wait()
    return {"seconds": round(seconds, 2), "cpu_seconds": round(used, 2), "mb": round(largest), "answers_ms": answers}


def of_size(folder: Path, n_videos: int) -> dict[str, dict[str, Any]]:
    """The cost of each verb on so many videos."""
    place = folder / f"videos-{n_videos}"
    corpus, run = make_corpus(place, n_videos), folder / f"run-{n_videos}"
    make_run(run, corpus)
    shutil.rmtree(place / ".crosstask", ignore_errors=True)  # the pack
    model, rows = folder / f"model-{n_videos}.safetensors", place / "crosstask_features" / "v000000.npy"
    quick = ("--initial-epochs", 2, "--epochs", 2)
    verbs = {
        "stats": ("stats", place, "--json"),
        "validate": ("validate", place),
        "pack": ("pack", place),
        "train hmm": ("train", place, "--out", model),
        "train zhukov19, 2 + 2 epochs": ("train", place, "--method", "zhukov19", *quick, "--out", folder / "z.safetensors"),
        "evaluate": ("evaluate", place, "--model", model, "--json"),
        "localize": ("localize", model, rows, "--task", "0", "--json"),
        "export": ("export", run, "--out", folder / f"exports-{n_videos}"),
    }
    found = {}
    for name, arguments in verbs.items():
        found[name] = measured("-m", "crosstask.cli.main", *arguments)
        print(n_videos, name, json.dumps(found[name]), flush=True)
    written = (
        "import sys; from pathlib import Path; from crosstask.report.page import write_report; write_report(Path(sys.argv[1]))"
    )
    found["report"] = measured("-c", written, run) | {"report_bytes": (run / "report.html").stat().st_size}
    found["view"] = viewed(run)
    return found


def exponent(before: float, after: float, growth: float) -> float:
    """The power of the number of videos, which grew by this factor, by which a cost grew."""
    return round(float(np.log(after / before) / np.log(growth)), 2)


def main():
    parser = arguments_of(__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 10_000, 100_000])
    arguments = parser.parse_args()
    of_size(arguments.folder, 100)  # compiles
    sizes = {str(n): of_size(arguments.folder, n) for n in arguments.sizes}
    before, after = arguments.sizes[-2:]
    exponents = {
        verb: exponent(cost["cpu_seconds"], sizes[str(after)][verb]["cpu_seconds"], after / before)
        for verb, cost in sizes[str(before)].items()
    }
    command = "python -m benchmarks.speed.collections FOLDER --out results/collections.json"
    write_result(arguments.out, {"command": command, "synthetic": True, "sizes": sizes, "exponents": exponents})


if __name__ == "__main__":
    main()
