import numpy as np
import pytest

from crosstask import open_corpus
from crosstask.datasets import read_step_intervals, read_tasks, write_release, write_step_intervals
from crosstask.datasets.release import read_seconds
from crosstask.records import InputError, Interval, StepInterval, Task, VideoKey
from tiny import TASKS, write_tiny


def test_what_is_written_is_read_again(tmp_path):
    corpus = write_tiny(tmp_path)
    again = open_corpus(tmp_path)
    assert again.tasks == TASKS
    assert again.videos == corpus.videos
    assert again.validation == corpus.validation
    assert dict(again.annotations) == corpus.annotations
    assert {key: len(w) for key, w in again.windows.items()} == {key: len(w) for key, w in corpus.windows.items()}
    assert all(np.array_equal(again.features.rows(v.id), corpus.features.rows(v.id)) for v in corpus.videos)


def test_writing_twice_gives_the_same_bytes(tmp_path):
    write_tiny(tmp_path / "a")
    write_release(open_corpus(tmp_path / "a"), tmp_path / "b")
    for path in sorted((tmp_path / "a" / "crosstask_release").rglob("*.*")):
        assert path.read_bytes() == (tmp_path / "b" / path.relative_to(tmp_path / "a")).read_bytes(), path


def test_a_step_that_does_not_exist_is_named_with_its_line(tmp_path):
    path = tmp_path / "annotations" / "1_v.csv"
    path.parent.mkdir()
    path.write_text("1,0,2\n9,3,4\n")
    with pytest.raises(
        InputError, match=r"annotations/1_v.csv, line 2: step 9 does not exist; 'Make Latte' has 3, numbered from 1"
    ):
        read_step_intervals(path, TASKS["1"])


@pytest.mark.parametrize("line", ["1,5,2", "1,a,2", "1,2", "1,nan,2", "1,0,inf"])
def test_spans_that_are_none_are_refused(tmp_path, line):
    path = tmp_path / "1_v.csv"
    path.write_text(line + "\n")
    with pytest.raises(InputError, match="line 1"):
        read_step_intervals(path, TASKS["1"])


def test_steps_count_from_1_on_disk_and_from_0_in_memory(tmp_path):
    path = write_step_intervals(tmp_path / "x.csv", [StepInterval(2, Interval(1.5, 3.25))])
    assert path.read_text() == "3,1.5,3.25\n"
    assert read_step_intervals(path, TASKS["1"]) == (StepInterval(2, Interval(1.5, 3.25)),)


def test_a_task_that_lies_about_its_steps_is_refused(tmp_path):
    path = tmp_path / "tasks_primary.txt"
    path.write_text("5\nT\nhttp\n3\na,b\n\n")
    with pytest.raises(InputError, match=r"line 4: 'T' announces '3' steps but lists 2"):
        read_tasks(path, primary=True)


def test_a_step_with_a_comma_cannot_be_written(tmp_path):
    corpus = write_tiny(tmp_path / "a")
    odd = corpus.only([])
    object.__setattr__(odd, "tasks", {"9": Task("9", "T", ("cut, slowly",))})
    with pytest.raises(InputError, match="comma"):
        write_release(odd, tmp_path / "b")


def test_an_id_may_begin_with_a_dash_but_not_escape(tmp_path):
    write_tiny(tmp_path)
    videos = tmp_path / "crosstask_release" / "videos.csv"
    assert open_corpus(tmp_path).videos[0].id.startswith("-")
    videos.write_text("1,../../etc/passwd,x\n")
    with pytest.raises(InputError, match="cannot name a file"):
        open_corpus(tmp_path)


def test_a_folder_that_is_no_corpus_says_what_was_expected(tmp_path):
    with pytest.raises(InputError, match=r"crosstask_release/ or corpus.toml"):
        open_corpus(tmp_path)
    with pytest.raises(InputError, match="no such folder"):
        open_corpus(tmp_path / "nothing")


def test_the_real_release_is_read_whole(real_release):
    assert len(real_release.tasks) == 83 and len(real_release.videos) == 4700 and len(real_release.validation) == 360
    assert sum(len(real_release.annotations[key]) for key in real_release.annotations) == 20_919
    assert len({v.id for v in real_release.videos}) == 4607
    twice = [t.title for t in real_release.tasks.values() if len(set(t.steps)) < len(t.steps)]
    assert len(twice) == 2
    assert VideoKey("105222", "-YtYoSwdUf8") in real_release.annotations


def test_the_real_release_survives_a_round_trip(real_release, tmp_path):
    write_release(real_release, tmp_path)
    again = open_corpus(tmp_path)
    assert (
        again.tasks == real_release.tasks and again.videos == real_release.videos and again.validation == real_release.validation
    )
    key = VideoKey("105222", "-YtYoSwdUf8")
    assert again.annotations[key] == real_release.annotations[key]


@pytest.mark.parametrize("length", ["\x1f120", "12²", "-3", "9" * 30, ""])
def test_lengths_that_are_none_are_refused_or_read_as_they_look(tmp_path, length):
    path = tmp_path / "video_seconds.csv"
    path.write_text(f"v,{length}\n", "utf-8")
    if length.strip() == "120":
        assert read_seconds(path) == {"v": 120}
    else:
        with pytest.raises(InputError, match="expected video,T"):
            read_seconds(path)
