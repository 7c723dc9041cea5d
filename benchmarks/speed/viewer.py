"""Response times of the viewer on a random run of 500 videos, and time to the first paint in headless Chromium; prints JSON.

python -m benchmarks.speed.viewer --out results/viewer-speed.json
"""

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import httpx
import numpy as np

from crosstask.model.localization import localization_of
from crosstask.records import Interval, StepInterval, Task
from crosstask.runs import Run, RunVideo, write_run

STEPS = ("heat oven", "melt butter", "crack egg", "whisk egg", "add flour", "stir mixture", "pour mixture", "bake muffin")
METHODS = ("proposed", "task-specific", "supervised", "uniform")
WARM_S = 5.0  # nobody edits steps sooner; the ordered programme is loaded meanwhile
FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-dev-shm-usage"
)


def write_large_run(folder: Path, n_videos: int, n_segments: int, rng: np.random.Generator) -> Path:
    """A run of random scores: four methods, eight steps, eighteen tasks."""
    tasks = {str(i): Task(str(i), f"Bake Muffins, manner {i}", STEPS) for i in range(18)}
    videos, parses, scores = [], {method: [] for method in METHODS}, []
    for i in range(n_videos):
        task, video = str(i % 18), f"video{i:05d}"
        starts = np.sort(rng.uniform(0, n_segments - 10, len(STEPS)))
        spans = tuple(StepInterval(k, Interval(float(start), float(start) + 8)) for k, start in enumerate(starts))
        videos.append(RunVideo(task, video, n_segments, None, spans, spans))
        for method in METHODS:
            values = rng.standard_normal((n_segments, len(STEPS)))
            parses[method].append(localization_of(tasks[task], values, video))
            scores.append((method, videos[-1].key, values))
    run = Run("A made-up run", "demo", "python -m benchmarks.speed.viewer", 0, True, tasks, tuple(videos), METHODS)
    return write_run(folder, run, parses, scores)


def milliseconds(client: httpx.Client, repeats: int, **request: object) -> dict[str, float]:
    """Median and slowest of several answers, over the wire; the first one, which warms up, is told apart."""
    taken = []
    for _ in range(repeats + 1):
        begun = time.perf_counter()
        client.request(**request).raise_for_status()
        taken.append((time.perf_counter() - begun) * 1e3)
    rest = sorted(taken[1:])
    return {
        "first_ms": round(taken[0], 1),
        "median_ms": round(statistics.median(rest), 1),
        "p95_ms": round(rest[int(0.95 * (len(rest) - 1))], 1),
        "slowest_ms": round(rest[-1], 1),
    }


def answers(address: str, repeats: int, n_videos: int) -> dict[str, dict[str, float]]:
    one = {"task": "3", "video": "video00003"}
    asked = {
        "run": {"url": "api/run"},
        "page of videos": {"url": "api/videos", "params": {"page": 3}},
        "search": {"url": "api/videos", "params": {"search": f"video{n_videos - 1:05d}"}},
        "video": {"url": "api/video", "params": one},
        "scores": {"url": "api/scores", "params": {**one, "source": "this:proposed"}},
        "parse edited steps": {
            "method": "POST",
            "url": "api/parse",
            "json": {**one, "source": "this:proposed", "steps": list(STEPS[::-1])},
        },
        "save annotation": {
            "method": "PUT",
            "url": "api/annotation",
            "json": {**one, "spans": [{"step": 1, "start_s": 3, "end_s": 9}]},
        },
    }
    with httpx.Client(base_url=address) as client:
        return {name: milliseconds(client, repeats, **{"method": "GET", **request}) for name, request in asked.items()}


def paints(address: str, repeats: int) -> dict[str, object] | None:
    """First contentful paint, and the moment the list of videos stands, from the start of navigation; fresh browser, empty cache first."""
    browser, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if browser is None or driver is None:
        return None
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    for flag in FLAGS.split():
        options.add_argument(flag)
    options.binary_location = browser
    seen: list[tuple[float, float]] = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        options.add_argument(f"--user-data-dir={profile}")
        page = webdriver.Chrome(options=options, service=Service(driver))
        try:
            page.execute_cdp_cmd("Network.enable", {})
            page.execute_cdp_cmd("Network.setCacheDisabled", {"cacheDisabled": True})
            watching = (
                "new MutationObserver((_, o) => { if (document.querySelector('.card')) { window.listed = performance.now(); o.disconnect(); } })"
                ".observe(document, {childList: true, subtree: true});"
            )
            page.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": watching})
            for _ in range(repeats):
                page.get("about:blank")
                page.get(address)
                for _ in range(200):
                    found = page.execute_script(
                        "const p=performance.getEntriesByName('first-contentful-paint')[0];"
                        "return p && window.listed ? [p.startTime, window.listed] : null"
                    )
                    if found:
                        seen.append((found[0], found[1]))
                        break
                    time.sleep(0.02)
        finally:
            page.quit()
    first, listed = sorted(a for a, _ in seen), sorted(b for _, b in seen)
    return {
        "first_contentful_paint_ms": {"median": round(statistics.median(first)), "slowest": round(first[-1])},
        "videos_listed_ms": {"median": round(statistics.median(listed)), "slowest": round(listed[-1])},
        "loads": len(seen),
    }


def measure(n_videos: int, n_segments: int, repeats: int, seed: int) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as folder:
        run = write_large_run(Path(folder) / "run", n_videos, n_segments, np.random.default_rng(seed))
        begun = time.perf_counter()
        command = [sys.executable, "-m", "crosstask.cli.main", "view", str(run), "--port", "0"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"})
        try:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            started = time.perf_counter() - begun
            time.sleep(WARM_S)
            load = os.getloadavg()[0]
            answered, painted = answers(address, repeats, n_videos), paints(address, max(5, repeats // 5))
        finally:
            process.terminate()
            process.wait(20)
    return {
        "what": "the viewer of a made-up run, over the wire and in headless Chromium, on one machine",
        "videos": n_videos,
        "seconds_per_video": n_segments,
        "methods": len(METHODS),
        "repeats": repeats,
        "seed": seed,
        "targets_ms": {"answer": 100, "first paint": 1000},
        "first_question_after_s": WARM_S,
        "command_to_address_s": round(started, 2),
        "answers": answered,
        "paint": painted,
        "machine": {
            "processor": platform.machine(),
            "cores": os.cpu_count(),
            "python": platform.python_version(),
            "load_average": round(load, 1),
        },
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--videos", type=int, default=500)
    parser.add_argument("--segments", type=int, default=300)
    parser.add_argument("--repeats", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    sizes = f"--videos {arguments.videos} --segments {arguments.segments} --repeats {arguments.repeats} --seed {arguments.seed}"
    measured = measure(arguments.videos, arguments.segments, arguments.repeats, arguments.seed)
    text = json.dumps({"command": f"python -m benchmarks.speed.viewer {sizes}", **measured}, indent=2)
    print(text)
    if arguments.out is not None:
        arguments.out.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
