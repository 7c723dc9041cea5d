"""The real `crosstask run`, workers and all, sent SIGKILL at random moments of each stage: repeated, it ends with every byte of an undisturbed run."""

import os
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

pytest.importorskip("av", reason="extra video is not installed")

from extraction.media import write_video
from extraction.test_speech import with_subtitles

# What appears when a part of the run begins; a moment of it lies between this and the next. Features are made once, all else in every run.
PARTS = {
    "starting": None,
    "listening": ".crosstask/.subtitles.lock",
    "extracting": ".crosstask/.features.lock",
    "features appear": ".crosstask/features/*.npy",
    "narrating": ".crosstask/.constraints.lock",
    "training": ".crosstask/constraints/tea_tea 2.csv",  # the last of the windows
    "model written": "run/model.safetensors",
    "run written": "run/run.json",
    "frames appear": "run/frames/*/*.jpg",
    "report begun": "run/frames/strips.json",
    "report written": "run/report.html",
}
TOML = """
[tasks.cocoa]
title = "Make Cocoa"
steps = ["boil milk", "stir cocoa"]
[tasks.latte]
title = "Make Latte"
steps = ["pour milk", "stir coffee"]
[tasks.tea]
title = "Make Tea"
steps = ["boil water", "pour water"]
"""
SAID = {
    "cocoa": ("boil milk", "stir cocoa"),
    "latte": ("pour the milk", "stir the coffee"),
    "tea": ("boil some water", "pour the water"),
}
SRT = "1\n00:00:02,000 --> 00:00:04,000\nnow {0}\n\n2\n00:00:06,000 --> 00:00:09,000\nthen {1}\n"
# The command, as where no sentence encoder is installed: loading that one costs more than all the rest.
COMMAND = "import sys; sys.modules['sentence_transformers'] = None; from crosstask.cli.main import run; run()"
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs process groups")]


class Bench:
    """A corpus of tiny films, the command, and what an undisturbed run leaves at the same place."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir()
        (folder / "corpus.toml").write_text(TOML)
        for task, said in SAID.items():
            for i in range(3):
                path = folder / "videos" / task / f"{task} {i}.mp4"
                if i == 0:  # speech inside the file, which is listened to
                    path.parent.mkdir(parents=True)
                    with_subtitles(path.with_suffix(".mkv"), SRT.format(*said))
                else:
                    write_video(path, seconds=12, rate=8)
                    path.with_suffix(".srt").write_text(SRT.format(*said))
        self.whole = {}

    def start(self):
        command = [sys.executable, "-c", COMMAND, "run", str(self.folder), "--features", "log-mel", "--workers", "2"]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True)

    def clear(self):
        for name in (".crosstask", "run"):
            shutil.rmtree(self.folder / name, ignore_errors=True)

    def left(self):
        """Every file of the run, hidden ones as well."""
        found = [p for name in (".crosstask", "run") for p in (self.folder / name).rglob("*") if p.is_file()]
        found += [p for p in self.folder.iterdir() if p.name.startswith(".") and p.is_file()]
        return {str(p.relative_to(self.folder)): p.read_bytes() for p in found}

    def refuse_halves(self):
        """After a kill: what has a final name is the whole file."""
        for name, data in self.left().items():
            if not name.endswith((".partial", ".lock", "/unfinished.json")):
                assert self.whole.get(name) == data, f"{name}: half a file under a final name"

    def new_since(self, pattern, before):
        """Whether a file of this name has been written since."""
        return any(stamp(p) not in before for p in self.folder.glob(pattern))

    def stamps(self):
        return {stamp(p) for p in self.folder.rglob("*")}


def stamp(path):
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_mtime_ns


def times_of_parts(bench):
    """{part: seconds from the start at which it began} of an undisturbed run."""
    before, begun, times = bench.stamps() | {None}, time.perf_counter(), {"starting": 0.0}
    process = bench.start()
    while process.poll() is None:
        for part, sign in PARTS.items():
            if part not in times and bench.new_since(sign, before):
                times[part] = time.perf_counter() - begun
        time.sleep(0.001)
    said = process.communicate()[1].decode()
    assert process.returncode == 0, said
    assert set(PARTS) - set(times) <= {"listening", "narrating"}, "only a lock can be missed, as it comes and goes"
    times["end"] = time.perf_counter() - begun
    return times


def kill_in(bench, part, delay_s):
    """Whether the run was killed `delay_s` after this part had begun; it may end before, and must then have ended well."""
    before = bench.stamps() | {None}
    process = bench.start()
    while process.poll() is None and PARTS[part] is not None and not bench.new_since(PARTS[part], before):
        time.sleep(0.001)
    time.sleep(delay_s)
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)  # it may still end by itself before the signal arrives
    said = process.communicate()[1].decode()
    assert process.returncode in (0, -signal.SIGKILL), said
    return process.returncode != 0


def test_killed_in_every_part_it_ends_with_the_same_bytes(tmp_path):
    bench, rng = Bench(tmp_path / "my films, déjà"), np.random.default_rng(0)
    times = times_of_parts(bench)
    bench.whole = bench.left()
    kinds = {name.rpartition(".")[2] for name in bench.whole}
    assert {"npy", "vtt", "csv", "safetensors", "json", "jpg", "html"} <= kinds and not {"partial", "lock"} & kinds
    bench.clear()
    order = [part for part in PARTS if part in times]
    lasts = {part: max(times[after] - times[part], 0.0) for part, after in zip(order, [*order[1:], "end"], strict=True)}
    killed = dict.fromkeys(order, 0)
    for part in [*order, *rng.permutation(order)[:4]]:
        for _ in range(4):
            if kill_in(bench, part, rng.uniform(0, lasts[part])):
                killed[part] += 1
                bench.refuse_halves()
                break
            assert bench.left() == bench.whole
            bench.clear()
    assert sum(killed.values()) >= 12 and sum(n > 0 for n in killed.values()) >= 9, killed
    last = bench.start()
    said = last.communicate()[1].decode()
    assert last.returncode == 0, said
    ended = bench.left()
    assert {name for name in {*ended, *bench.whole} if ended.get(name) != bench.whole.get(name)} == set()
