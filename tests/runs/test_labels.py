"""The labels of a run folder: nothing that was confirmed to a person is ever lost, whoever writes or dies meanwhile."""

import json
import os
import signal
import subprocess
import sys
import threading
from dataclasses import replace

import pytest

from crosstask.records import InputError, Interval, StepLabel, VideoKey
from crosstask.runs import labels
from crosstask.runs.label_changes import RunLabel
from crosstask.runs.labels import LABELS_FILE, LabelStore
from tiny import TASKS

KEY, OTHER = VideoKey("1", "-v1_0"), VideoKey("2", "-v2_1")
STEPS = TASKS["1"].steps


def moment(step, second, around=None):
    return RunLabel(step, STEPS[step], StepLabel(step, moment_s=second), around)


def spans(step, *intervals):
    return RunLabel(step, STEPS[step], StepLabel(step, intervals=tuple(Interval(*i) for i in intervals)))


def absent(step):
    return RunLabel(step, STEPS[step], StepLabel(step))


@pytest.fixture
def store(tmp_path):
    return LabelStore(tmp_path, TASKS)


def test_labels_of_every_kind_are_read_back_by_another_process(store, tmp_path):
    said = [moment(0, 3.5, Interval(2.0, 6.0)), spans(1, (8, 9.5), (11, 12)), absent(2)]
    for label in said:
        store.append(KEY, [label], "viewer")
    again = LabelStore(tmp_path, TASKS)
    assert list(again.labels()[KEY].values()) == said
    assert [label.kind for label in again.step_labels()[KEY]] == ["moment", "intervals", "not shown"]
    lines = [json.loads(line) for line in (tmp_path / LABELS_FILE).read_text().splitlines()]
    assert [line["change"] for line in lines] == [1, 2, 3]
    assert lines[1]["labels"] == [{"step": 2, "name": "stir coffee", "kind": "intervals", "intervals": [[8, 9.5], [11, 12]]}]


def test_undo_brings_back_what_was_said_before_and_every_change_is_kept(store, tmp_path):
    first = store.append(KEY, [moment(0, 3)], "viewer")
    second = store.append(KEY, [moment(0, 7), absent(1)], "viewer")
    store.undo(second.id)
    assert list(store.labels()[KEY].values()) == [moment(0, 3)]
    store.undo(first.id)
    assert store.labels() == {} and store.history(KEY) == []
    assert len((tmp_path / LABELS_FILE).read_text().splitlines()) == 4
    with pytest.raises(InputError, match="undone already"):
        store.undo(first.id)


def test_undoing_an_earlier_change_leaves_a_later_one(store):
    first = store.append(KEY, [moment(0, 3)], "viewer")
    store.append(KEY, [moment(0, 7)], "viewer")
    store.undo(first.id)
    assert list(store.labels()[KEY].values()) == [moment(0, 7)]


def test_a_removed_label_gives_the_step_back_to_the_machine(store):
    store.append(KEY, [moment(0, 3), absent(1)], "viewer")
    store.append(KEY, [RunLabel(0, STEPS[0], None)], "viewer")
    assert list(store.labels()[KEY]) == [1]


def test_a_stale_window_cannot_overwrite_but_may_label_other_steps(store):
    seen = store.append(KEY, [moment(0, 3)], "viewer").id
    store.append(KEY, [moment(0, 9)], "viewer", seen=seen)
    with pytest.raises(InputError, match="step 1 was labelled somewhere else meanwhile"):
        store.append(KEY, [moment(0, 5), absent(2)], "viewer", seen=seen)
    assert list(store.labels()[KEY].values()) == [moment(0, 9)]
    store.append(KEY, [absent(2)], "viewer", seen=seen)
    store.append(OTHER, [RunLabel(0, "boil water", StepLabel(0))], "viewer", seen=0)
    assert list(store.labels()[KEY]) == [0, 2] and OTHER in store.labels()


def test_an_unfinished_line_is_dropped_and_a_finished_one_without_its_end_is_kept(store, tmp_path):
    store.append(KEY, [moment(0, 3)], "viewer")
    path = tmp_path / LABELS_FILE
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"format": 1, "change": 2, "task": "1", "vid')
    assert len(store.changes()) == 1
    assert store.append(KEY, [absent(1)], "viewer").id == 2
    assert path.read_bytes().startswith(whole) and len(store.changes()) == 2
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    assert store.append(KEY, [absent(2)], "viewer").id == 3
    assert list(LabelStore(tmp_path, TASKS).labels()[KEY]) == [0, 1, 2]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("[]", "not a change"),
        ("{", "line 2: damaged"),
        (
            '{"format": 1, "change": 9, "task": "1", "video": "v", "labels": [{"step": 1, "name": "\\ud800", "kind": "not shown"}]}',
            "line 2: damaged",
        ),
        ('{"format": 9}', "format 1"),
        ('{"format": 1, "change": 2, "task": "1", "video": "../x", "undoes": 1}', "cannot name a file"),
        (
            '{"format": 1, "change": 2, "task": "1", "video": "v", "labels": [{"step": 0, "name": "a", "kind": "none"}]}',
            "not a number",
        ),
        (
            '{"format": 1, "change": 2, "task": "1", "video": "v", "labels": [{"step": 1, "name": "a", "kind": "moment", "moment_s": 1e99}]}',
            "not a time in seconds",
        ),
        (
            '{"format": 1, "change": 2, "task": "1", "video": "v", "labels": [{"step": 1, "name": "a", "kind": "moment", "moment_s": 1%s}]}'
            % ("0" * 400),
            "not a time in seconds",
        ),
        ('{"format": 1, "change": 1, "task": "1", "video": "v", "undoes": 1}', "expected rising numbers"),
    ],
)
def test_a_damaged_line_is_named(store, tmp_path, line, said):
    store.append(KEY, [moment(0, 3)], "viewer")
    with (tmp_path / LABELS_FILE).open("a") as file:
        file.write(line + "\n")
    with pytest.raises(InputError, match=r"labels.jsonl, line 2") as error:
        store.labels()
    assert said in str(error.value)


def test_a_label_follows_the_name_of_its_step_when_the_list_changes(store, tmp_path):
    from dataclasses import replace

    store.append(KEY, [moment(0, 3), spans(2, (8, 9))], "viewer")
    changed = {"1": replace(TASKS["1"], steps=("froth milk", "pour milk", "stir coffee"))}
    labels = LabelStore(tmp_path, changed).labels()[KEY]
    assert list(labels) == [1] and labels[1].name == "pour milk", "'pour coffee' is in the list no more"
    assert list(store.labels()[KEY]) == [0, 2], "and nothing is lost"


def test_annotations_of_earlier_versions_count_until_the_video_has_a_label(store, tmp_path):
    (tmp_path / "annotations").mkdir()
    (tmp_path / "annotations" / "1_-v1_0.csv").write_text("1,2,4\n3,9,11\n3,15,16\n")
    assert store.labels()[KEY] == {0: spans(0, (2, 4)), 2: spans(2, (9, 11), (15, 16))}
    change = store.append(KEY, [absent(2)], "viewer")
    assert store.labels()[KEY] == {0: spans(0, (2, 4)), 2: absent(2)}
    (tmp_path / "annotations" / "1_-v1_0.csv").unlink()
    store.undo(change.id)
    assert store.labels()[KEY] == {0: spans(0, (2, 4)), 2: spans(2, (9, 11), (15, 16))}


def test_links_out_of_the_run_are_refused(store, tmp_path):
    inner = tmp_path / "run"
    inner.mkdir()
    (tmp_path / "outside").write_text("keep")
    (inner / LABELS_FILE).symlink_to(tmp_path / "outside")
    with pytest.raises(InputError, match="leads out of the run folder"):
        LabelStore(inner, TASKS).append(KEY, [absent(0)], "viewer")
    assert (tmp_path / "outside").read_text() == "keep"


def test_threads_and_stores_together_lose_nothing(tmp_path):
    stores = [LabelStore(tmp_path, TASKS), LabelStore(tmp_path, TASKS)]
    threads = [
        threading.Thread(target=stores[i % 2].append, args=(VideoKey("1", f"v{i}"), [moment(0, float(i))], "viewer"))
        for i in range(12)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    labels = LabelStore(tmp_path, TASKS).labels()
    assert {key.video: found[0].label.moment_s for key, found in labels.items()} == {f"v{i}": float(i) for i in range(12)}


WRITER = """
import sys
from pathlib import Path
from crosstask.records import StepLabel, Task, VideoKey
from crosstask.runs import labels
from crosstask.runs.label_changes import RunLabel
from crosstask.runs.labels import LabelStore
store = LabelStore(Path(sys.argv[1]), {"1": Task("1", "Make Latte", ("pour milk", "stir coffee", "pour coffee"))})
for i in range(10_000):
    store.append(VideoKey("1", f"v{i}"), [RunLabel(0, "pour milk", StepLabel(0, moment_s=float(i)))], "viewer")
    print(i, flush=True)
"""


def test_what_a_killed_process_confirmed_is_there(tmp_path):
    for confirmed_before_the_kill in (1, 7, 20):
        folder = tmp_path / str(confirmed_before_the_kill)
        folder.mkdir()
        process = subprocess.Popen([sys.executable, "-c", WRITER, str(folder)], stdout=subprocess.PIPE, text=True)
        for _ in range(confirmed_before_the_kill):
            process.stdout.readline()
        os.kill(process.pid, signal.SIGKILL)
        confirmed = confirmed_before_the_kill + len(process.stdout.read().splitlines())
        process.wait()
        store = LabelStore(folder, TASKS)
        assert len(store.changes()) >= confirmed
        store.append(KEY, [absent(0)], "viewer")
        assert len(LabelStore(folder, TASKS).labels()) >= confirmed + 1


def test_a_label_that_could_not_be_read_again_is_not_written(store, tmp_path):
    store.append(KEY, [moment(0, 3.5)], "viewer")
    before = (tmp_path / LABELS_FILE).read_bytes()
    for label in (moment(0, -0.01), moment(0, 1e9), RunLabel(0, STEPS[0], StepLabel(0, moment_s=1.0), confidence=7.0)):
        with pytest.raises(InputError, match="cannot be saved as a label"):
            store.append(KEY, [label], "viewer")
    assert (tmp_path / LABELS_FILE).read_bytes() == before and len(store.changes()) == 1


def test_a_label_of_a_repeated_name_whose_place_is_another_step_now_is_named(tmp_path):
    task = replace(TASKS["1"], steps=("stir", "pour", "stir"))
    LabelStore(tmp_path, {"1": task}).append(KEY, [RunLabel(2, "stir", StepLabel(2, moment_s=5.0))], "viewer")
    assert LabelStore(tmp_path, {"1": task}).unused() == []
    changed = LabelStore(tmp_path, {"1": replace(task, steps=("stir", "stir", "pour"))})
    assert changed.labels() == {} and changed.unused() == [f"'stir' of {KEY}"]


def test_the_last_word_about_a_step_holds_whatever_place_it_had_in_the_list_then(tmp_path):
    short = {"1": replace(TASKS["1"], steps=("pour", "stir"))}
    long = {"1": replace(TASKS["1"], steps=("boil", "pour", "stir"))}
    LabelStore(tmp_path, short).append(KEY, [RunLabel(0, "pour", StepLabel(0, moment_s=5.0))], "viewer")
    LabelStore(tmp_path, long).append(KEY, [RunLabel(1, "pour", StepLabel(1, moment_s=9.0))], "viewer")
    for tasks, place in ((short, 0), (long, 1)):
        assert LabelStore(tmp_path, tasks).step_labels() == {KEY: (StepLabel(place, moment_s=9.0),)}
        assert LabelStore(tmp_path, tasks).unused() == []
    LabelStore(tmp_path, long).append(KEY, [RunLabel(1, "pour", None)], "viewer")
    assert LabelStore(tmp_path, short).labels() == {}
    LabelStore(tmp_path, long).undo(3)
    LabelStore(tmp_path, long).undo(2)
    assert LabelStore(tmp_path, long).step_labels() == {KEY: (StepLabel(1, moment_s=5.0),)}


def test_the_answers_of_a_review_have_the_numbers_of_the_list_as_it_is_now(tmp_path):
    """Otherwise the accuracy and the calibration would count them for other steps."""
    LabelStore(tmp_path, TASKS).append(KEY, [moment(0, 3), absent(2)], "review", "random")
    reversed_ = {"1": replace(TASKS["1"], steps=STEPS[::-1][:2])}
    (change,) = LabelStore(tmp_path, reversed_).current()
    assert [(label.step, label.name, label.label) for label in change.labels] == [(0, STEPS[2], StepLabel(0))]
    assert LabelStore(tmp_path, reversed_).unused() == [f"'{STEPS[0]}' of {KEY}"]


def test_a_label_is_of_the_content_of_a_file_and_not_of_its_name(tmp_path):
    renamed, copied = VideoKey("1", "renamed"), VideoKey("1", "copied")
    LabelStore(tmp_path, TASKS, {KEY: "a"}).append(KEY, [moment(0, 3)], "viewer")
    for contents, expected in (
        ({KEY: "a"}, {KEY}),
        ({KEY: "b"}, set()),
        ({KEY: "b", renamed: "a", copied: "a"}, {renamed, copied}),
        ({OTHER: "a"}, set()),
        ({KEY: None}, {KEY}),
        ({renamed: None}, set()),
    ):
        store = LabelStore(tmp_path, TASKS, contents)
        assert store.labels().keys() == expected and bool(store.unused()) == (not expected), contents


def test_a_label_without_a_content_has_that_of_the_next_change_of_its_video(tmp_path):
    LabelStore(tmp_path, TASKS).append(KEY, [moment(0, 3)], "an earlier version")
    LabelStore(tmp_path, TASKS, {KEY: "a"}).note_contents()
    assert LabelStore(tmp_path, TASKS, {KEY: "a"}).labels() and not LabelStore(tmp_path, TASKS, {KEY: "b"}).labels()


def test_labels_of_a_file_that_replaces_another_labelled_one_hold(tmp_path):
    """A copy of it over another video by mistake, or a renamed one."""
    renamed, untouched = VideoKey("1", "first"), VideoKey("1", "second")
    before = LabelStore(tmp_path, TASKS, {renamed: "a", untouched: "b"})
    before.append(renamed, [moment(0, 3), moment(1, 5)], "viewer")
    before.append(untouched, [moment(0, 8)], "viewer")
    for contents in ({renamed: "b", untouched: "b"}, {renamed: "b"}):
        store = LabelStore(tmp_path, TASKS, contents)
        assert store.note_replaced() == ({renamed: 2} if untouched in contents else {}), "it is said once"
        assert store.step_labels() == dict.fromkeys(contents, (StepLabel(0, moment_s=8.0),))
    restored = LabelStore(tmp_path, TASKS, {renamed: "a", untouched: "b"})
    assert restored.step_labels() == before.step_labels()
    store = LabelStore(tmp_path, TASKS, {renamed: "b"})
    store.undo(next(change.id for change in store.changes() if change.source == labels.REPLACED))
    assert store.step_labels()[renamed] == (StepLabel(0, moment_s=8.0), StepLabel(1, moment_s=5.0)), "step 1 was not withdrawn"


@pytest.mark.parametrize("n", [2, 40])
def test_that_many_videos_were_replaced_is_noted_by_looking_at_all_labels_a_few_times(tmp_path, monkeypatch, n):
    """Once a video took minutes in a large collection."""
    keys = [VideoKey("1", f"v{i}") for i in range(n)]
    LabelStore(tmp_path, TASKS, dict.fromkeys(keys, "former")).append_all({key: [moment(0, 3)] for key in keys}, "viewer")
    looked = []
    for name in ("with_contents", "live_changes", "parse_changes"):
        function = getattr(labels, name)
        monkeypatch.setattr(labels, name, lambda found, function=function: looked.append(1) or function(found))
    store = LabelStore(tmp_path, TASKS, dict.fromkeys(keys, "now"))
    assert store.note_replaced() == dict.fromkeys(keys, 1) and len(looked) < 10
    assert store.note_replaced() == {} and store.labels() == {}


def test_changes_of_several_videos_are_saved_together_or_not_at_all(store):
    store.append(KEY, [moment(0, 3)], "viewer")
    with pytest.raises(InputError, match="step 1 was labelled somewhere else"):
        store.append_all({OTHER: [absent(1)], KEY: [moment(0, 5)]}, "import", seen=0)
    assert store.labels().keys() == {KEY}
    assert [change.id for change in store.append_all({OTHER: [absent(1)], KEY: [moment(1, 5)]}, "import", seen=0)] == [2, 3]
