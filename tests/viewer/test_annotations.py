"""The store of annotations: one writer at a time, by locks that end with their process."""

import json
import os
import subprocess
import sys
import time

import pytest

from crosstask.datasets import write_step_intervals
from crosstask.records import InputError, Interval, StepInterval, StepLabel, VideoKey
from crosstask.runs import Change, RunLabel, open_run
from crosstask.runs.label_changes import change_to_line
from crosstask.viewer.annotations import LOCK_FILE, AnnotationStore
from fuzz.hanging import no_hang
from tiny import TASKS

KEY = VideoKey("1", "-v1_0")
HOLD_LOCK = """
import sys, time
from pathlib import Path
from crosstask.storage import nonblocking_lock
with nonblocking_lock(Path(sys.argv[1]) / "annotations"):
    print("locked", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def store(folder):
    return AnnotationStore(open_run(folder), write_step_intervals)


def test_annotations_and_relevance_are_read_back(store):
    intervals = (StepInterval(0, Interval(1.0, 2.5)), StepInterval(2, Interval(7.0, 9.0)))
    assert store.read_annotation(KEY, TASKS["1"]) is None and store.annotated_videos() == frozenset()
    assert store.save_annotation(KEY, intervals) == "annotations/1_-v1_0.csv"
    assert store.read_annotation(KEY, TASKS["1"]) == intervals and store.annotated_videos() == {KEY}
    store.save_relevance(KEY, "relevant")
    assert store.read_relevance() == {KEY: "relevant"}
    store.save_relevance(KEY, None)
    assert store.read_relevance() == {}


def test_files_left_by_a_dead_process_do_not_block(store, folder):
    (folder / LOCK_FILE).write_text("999999\n")
    (folder / ".marking").touch()  # the lock file of earlier versions
    store.save_relevance(KEY, "relevant")
    assert store.read_relevance() == {KEY: "relevant"} and not (folder / LOCK_FILE).exists()


@pytest.mark.parametrize("hours", [1, -1])
def test_a_lock_file_from_another_time_does_not_block(store, folder, hours):
    """A clock that is set back leaves files of the future: `touch -d '+1 hour'` on the lock, then save."""
    for name in (LOCK_FILE, ".marking"):
        (folder / name).touch()
        os.utime(folder / name, (time.time() + 3600 * hours,) * 2)
    with no_hang():
        store.save_annotation(KEY, (StepInterval(0, Interval(1.0, 2.5)),))
        store.save_relevance(KEY, "relevant")
    assert store.annotated_videos() == {KEY} and store.read_relevance() == {KEY: "relevant"}


def test_a_writer_waits_until_the_process_that_holds_the_lock_has_ended(store, folder):
    process = subprocess.Popen([sys.executable, "-c", HOLD_LOCK, str(folder)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "locked\n"
    begun = time.monotonic()
    killer = subprocess.Popen([sys.executable, "-c", f"import os, time; time.sleep(0.5); os.kill({process.pid}, 9)"])
    store.save_relevance(KEY, "irrelevant")
    assert time.monotonic() - begun > 0.3
    process.wait()
    killer.wait()
    assert json.loads((folder / "relevance.json").read_text())["videos"] == {"1_-v1_0": "irrelevant"}


def test_a_lock_file_that_links_out_of_the_run_is_an_error(store, folder, tmp_path):
    (tmp_path / "outside").write_text("keep")
    (folder / LOCK_FILE).symlink_to(tmp_path / "outside")
    with pytest.raises(InputError, match="leads out of the run folder"):
        store.save_relevance(KEY, "relevant")
    assert (tmp_path / "outside").read_text() == "keep"


def test_a_damaged_relevance_file_is_an_error_that_says_what_to_do(store, folder):
    (folder / "relevance.json").write_text("[")
    with pytest.raises(InputError, match="repair it or delete it"):
        store.read_relevance()


def test_the_annotation_file_holds_what_another_page_said_meanwhile(store, folder):
    """A page sends all intervals that it shows, also those of steps that it did not change and that another page labelled since."""
    other = AnnotationStore(open_run(folder), write_step_intervals)
    store.save_annotation(KEY, (StepInterval(0, Interval(2.0, 4.0)),), [0], seen=0)
    other.save_annotation(KEY, (StepInterval(0, Interval(10.0, 12.0)), StepInterval(1, Interval(20.0, 22.0))), [1], seen=0)
    lines = (folder / "annotations" / f"{KEY}.csv").read_text().splitlines()
    assert lines[:2] == ["1,2,4", "2,20,22"]


def test_annotation_files_follow_a_renamed_video_and_two_videos_of_one_file(folder):
    """A label is of the content of a file, whatever names it has."""
    data = json.loads((folder / "run.json").read_text("utf-8"))
    keys = [VideoKey(video["task"], video["video"]) for video in data["videos"] if video["task"] == "1"][:2]
    for video in data["videos"]:
        video["content"] = "one" if VideoKey(video["task"], video["video"]) in keys else None
    (folder / "run.json").write_text(json.dumps(data))
    store = AnnotationStore(open_run(folder), write_step_intervals)
    for key in keys:
        store.save_annotation(key, (StepInterval(0, Interval(1.0, 2.0)),), [0])
    said = RunLabel(1, TASKS["1"].steps[1], StepLabel(1, intervals=(Interval(20.0, 21.0),)))
    former = Change(9, VideoKey("1", "former"), (said,), content="one")
    with (folder / "labels.jsonl").open("a") as file:
        file.write(change_to_line(former) + "\n")

    def first_lines():
        return [(folder / "annotations" / f"{key}.csv").read_text().splitlines()[:2] for key in keys]

    store.label_step(keys[0], 0, StepLabel(0, intervals=(Interval(4.0, 5.0),)))
    assert first_lines() == [["1,4,5", "2,20,21"]] * 2
    store.undo(former.id)
    assert "2,20,21" not in first_lines()[0] + first_lines()[1]


def test_nothing_is_undone_in_a_run_that_was_made_again(store, folder):
    change = store.label_step(KEY, 0, StepLabel(0, moment_s=3.0))
    described = json.loads((folder / "run.json").read_text())
    described["tasks"]["1"]["title"] = "Make Another Latte"
    (folder / "run.json").write_text(json.dumps(described))
    with pytest.raises(InputError, match="the run was made again"):
        store.undo(change.id)
    assert KEY in store.run.labels.labels()


def test_nothing_is_saved_of_a_video_whose_file_was_replaced_after_the_run(folder):
    """The person watched another film than the one that the run is about."""
    film = folder / "film.mp4"
    film.write_bytes(b"one")
    data = json.loads((folder / "run.json").read_text("utf-8"))
    for video in data["videos"]:
        video |= {"media": "film.mp4", "content": "one"}
    (folder / "run.json").write_text(json.dumps(data))
    store = AnnotationStore(open_run(folder), write_step_intervals, lambda path: path.read_text())
    store.save_annotation(KEY, (StepInterval(0, Interval(1.0, 2.5)),))
    store.label_step(KEY, 1, StepLabel(1, moment_s=3.0))
    store.save_relevance(KEY, "relevant")
    before = {path: path.read_bytes() for path in sorted(folder.rglob("*.json*"))}
    film.write_bytes(b"another")
    for save in (
        lambda: store.save_annotation(KEY, ()),
        lambda: store.label_step(KEY, 1, StepLabel(1)),
        lambda: store.confirm_step(KEY, 0),
        lambda: store.save_relevance(KEY, "irrelevant"),
    ):
        with pytest.raises(InputError, match=r"film\.mp4 was replaced after the run; nothing was saved: repeat `crosstask run`"):
            save()
    assert before == {path: path.read_bytes() for path in sorted(folder.rglob("*.json*"))}
    film.unlink()
    store.label_step(KEY, 1, StepLabel(1, moment_s=4.0))  # nothing is played
