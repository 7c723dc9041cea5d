import numpy as np
import pytest

pytest.importorskip("av", reason="extra video is not installed")

import io
from dataclasses import replace

from crosstask.pipeline.frame_strips import MOST_STRIPS, choose_strips, write_strips
from crosstask.records import FoundStep, Interval, Localization, StepInterval, Task, VideoKey
from crosstask.report.page import write_report
from crosstask.report.strips import read_strips
from crosstask.runs import Run, RunVideo, open_run, write_run
from extraction.media import write_video

STEPS = ("pour milk", "stir coffee")


def run_of_films(folder, n_tasks=2, videos_per_task=2, annotated=True):
    """A run about films that get brighter by 30 every second: steps found at seconds 1 and 3, truly at 1 and 4."""
    tasks = {f"t{i}": Task(f"t{i}", f"Make {i}", STEPS) for i in range(n_tasks)}
    truth = (StepInterval(0, Interval(1, 2)), StepInterval(1, Interval(4, 5))) if annotated else None
    videos, parses = [], []
    for task in tasks:
        for j in range(videos_per_task):
            path = write_video(folder / "films" / f"{task}-{j}.mp4", seconds=6, rate=4, sound=False)
            videos.append(RunVideo(task, path.stem, 6, str(path), truth, None))
            found = tuple(FoundStep(name, s, 0.0, s, s + 1) for name, s in zip(STEPS, (1, 3), strict=True))
            parses.append(Localization(path.stem, task, found))
    run = Run("films", "run", "crosstask run", 0, True, tasks, tuple(videos), ("best",))
    return write_run(folder / "run", run, {"best": parses, "stranger": parses}), run, parses


def test_frames_are_those_of_their_seconds_and_the_report_holds_them(tmp_path):
    from PIL import Image

    out, run, _ = run_of_films(tmp_path)
    strips = write_strips(out, {})
    assert len(strips) == 4 and read_strips(out) == strips
    for video in run.videos:
        kept = {
            int(p.stem): np.asarray(Image.open(io.BytesIO(p.read_bytes()))) for p in (out / "frames" / str(video.key)).iterdir()
        }
        assert sorted(kept) == [1, 3, 4]
        for second, picture in kept.items():
            assert abs(picture.mean() - (20 + 30 * second)) < 8
    text = write_report(out).read_text("utf-8")
    assert (
        text.count("data:image/jpeg;base64,") == 4 * 2 * 2
        and text.count("✓ right</strong>") == text.count("✗ wrong</strong>") == 4
    )
    assert len(text) < 300_000


def test_the_same_run_gives_the_same_frames_and_drops_older_ones(tmp_path):
    out, _, _ = run_of_films(tmp_path, n_tasks=1, videos_per_task=1)
    write_strips(out, {})
    before = {path: path.read_bytes() for path in (out / "frames").rglob("*.*")}
    old = out / "frames" / "t0_t0-0" / "77.jpg"
    old.write_bytes(b"old")
    write_strips(out, {})
    assert not old.exists() and {path: path.read_bytes() for path in (out / "frames").rglob("*.*")} == before


def test_tasks_take_turns_and_those_left_out_of_training_come_first(tmp_path):
    out, run, _ = run_of_films(tmp_path, n_tasks=5, videos_per_task=2)
    opened = open_run(out)
    plain = choose_strips(opened, {})
    assert len(plain) == MOST_STRIPS and {s.key.task for s in plain} == set(run.tasks) and not any(s.unseen for s in plain)
    chosen = choose_strips(opened, {"t3": "stranger"})
    assert (chosen[0].method, chosen[0].key.task, chosen[0].unseen) == ("stranger", "t3", True)
    assert len({s.key for s in chosen}) == len(chosen) == MOST_STRIPS
    tested = frozenset({VideoKey("t0", "t0-1")})
    assert VideoKey("t0", "t0-1") in {s.key for s in choose_strips(opened, {}, tested)[:5]}


def test_films_that_are_gone_or_broken_have_no_strip(tmp_path):
    out, run, parses = run_of_films(tmp_path, n_tasks=1, videos_per_task=3, annotated=False)
    (tmp_path / "films/t0-0.mp4").unlink()
    (tmp_path / "films/t0-1.mp4").write_bytes(b"broken")
    assert [s.key.video for s in write_strips(out, {})] == ["t0-2"]
    assert "truth 0:" not in write_report(out).read_text("utf-8")
    gone = write_run(tmp_path / "gone", replace(run, videos=tuple(replace(v, media=None) for v in run.videos)), {"best": parses})
    assert write_strips(gone, {}) == [] and not (gone / "frames").exists()
