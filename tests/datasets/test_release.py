import numpy as np
import pytest

from crosstask import open_corpus
from crosstask.datasets import read_step_intervals, read_tasks, write_release, write_step_intervals
from crosstask.datasets.release import read_seconds, read_videos
from crosstask.records import InputError, Interval, StepInterval, Task, VideoKey
from tiny import TASKS, write_tiny


def test_write_and_read_round_trip(tmp_path):
    corpus = write_tiny(tmp_path)
    reread = open_corpus(tmp_path)
    assert reread.tasks == TASKS
    assert reread.videos == corpus.videos
    assert reread.validation == corpus.validation
    assert dict(reread.annotations) == corpus.annotations
    assert {key: len(w) for key, w in reread.windows.items()} == {key: len(w) for key, w in corpus.windows.items()}
    assert all(np.array_equal(reread.features.rows(v.id), corpus.features.rows(v.id)) for v in corpus.videos)


def test_writing_twice_gives_the_same_bytes(tmp_path):
    write_tiny(tmp_path / "a")
    write_release(open_corpus(tmp_path / "a"), tmp_path / "b")
    for path in sorted((tmp_path / "a" / "crosstask_release").rglob("*.*")):
        assert path.read_bytes() == (tmp_path / "b" / path.relative_to(tmp_path / "a")).read_bytes(), path


def test_unknown_step_is_named_with_its_line(tmp_path):
    path = tmp_path / "annotations" / "1_v.csv"
    path.parent.mkdir()
    path.write_text("1,0,2\n9,3,4\n")
    with pytest.raises(
        InputError, match=r"annotations/1_v.csv, line 2: step 9 does not exist; 'Make Latte' has 3, numbered from 1"
    ):
        read_step_intervals(path, TASKS["1"])


@pytest.mark.parametrize("line", ["1,5,2", "1,a,2", "1,2", "1,nan,2", "1,0,inf"])
def test_invalid_intervals_are_rejected(tmp_path, line):
    path = tmp_path / "1_v.csv"
    path.write_text(line + "\n")
    with pytest.raises(InputError, match="line 1"):
        read_step_intervals(path, TASKS["1"])


def test_steps_count_from_1_on_disk_and_from_0_in_memory(tmp_path):
    path = write_step_intervals(tmp_path / "x.csv", [StepInterval(2, Interval(1.5, 3.25))])
    assert path.read_text() == "3,1.5,3.25\n"
    assert read_step_intervals(path, TASKS["1"]) == (StepInterval(2, Interval(1.5, 3.25)),)


def test_wrong_number_of_steps_is_rejected(tmp_path):
    path = tmp_path / "tasks_primary.txt"
    path.write_text("5\nT\nhttp\n3\na,b\n\n")
    with pytest.raises(InputError, match=r"line 4: 'T' announces '3' steps but lists 2"):
        read_tasks(path, primary=True)


@pytest.mark.parametrize("name", ["tasks_primary.txt", "tasks_related.txt"])
def test_a_task_id_with_two_step_lists_is_refused(tmp_path, name):
    write_tiny(tmp_path)
    with (tmp_path / "crosstask_release" / name).open("a") as file:
        file.write("1\nMake Espresso\n\n3\ngrind,press,pour\n\n")
    with pytest.raises(InputError, match=f"{name}: task 1 is 'Make Latte' and 'Make Espresso', with other steps; rename one"):
        open_corpus(tmp_path)


def test_a_step_with_a_comma_cannot_be_written(tmp_path):
    corpus = write_tiny(tmp_path / "a")
    with_comma = corpus.only([])
    object.__setattr__(with_comma, "tasks", {"9": Task("9", "T", ("cut, slowly",))})
    with pytest.raises(InputError, match="comma"):
        write_release(with_comma, tmp_path / "b")


def test_id_may_start_with_a_dash_but_not_escape_the_folder(tmp_path):
    write_tiny(tmp_path)
    videos = tmp_path / "crosstask_release" / "videos.csv"
    assert open_corpus(tmp_path).videos[0].id.startswith("-")
    videos.write_text("1,../../etc/passwd,x\n")
    with pytest.raises(InputError, match="cannot name a file"):
        open_corpus(tmp_path)


def test_error_for_other_folders_says_what_is_expected(tmp_path):
    with pytest.raises(InputError, match=r"crosstask_release/ or corpus.toml"):
        open_corpus(tmp_path)
    with pytest.raises(InputError, match="no such folder"):
        open_corpus(tmp_path / "nothing")


def test_real_release_has_the_published_counts(real_release):
    assert len(real_release.tasks) == 83 and len(real_release.videos) == 4700 and len(real_release.validation) == 360
    assert sum(len(real_release.annotations[key]) for key in real_release.annotations) == 20_919
    assert len({v.id for v in real_release.videos}) == 4607
    twice = [t.title for t in real_release.tasks.values() if len(set(t.steps)) < len(t.steps)]
    assert len(twice) == 2
    assert VideoKey("105222", "-YtYoSwdUf8") in real_release.annotations


def test_real_release_round_trip(real_release, tmp_path):
    write_release(real_release, tmp_path)
    reread = open_corpus(tmp_path)
    assert (
        reread.tasks == real_release.tasks
        and reread.videos == real_release.videos
        and reread.validation == real_release.validation
    )
    key = VideoKey("105222", "-YtYoSwdUf8")
    assert reread.annotations[key] == real_release.annotations[key]


@pytest.mark.parametrize("length", ["\x1f120", "12²", "-3", "9" * 30, ""])
def test_invalid_lengths_are_rejected(tmp_path, length):
    path = tmp_path / "video_seconds.csv"
    path.write_text(f"v,{length}\n", "utf-8")
    if length.strip() == "120":
        assert read_seconds(path) == {"v": 120}
    else:
        with pytest.raises(InputError, match="expected video,T"):
            read_seconds(path)


def test_a_video_whose_files_would_have_too_long_names_is_refused_when_the_list_is_read(tmp_path):
    (tmp_path / "videos.csv").write_text(f"1,{'x' * 195},u\n")
    with pytest.raises(InputError, match="names of 202 bytes; expected at most 200"):
        read_videos(tmp_path / "videos.csv", TASKS)


@pytest.mark.parametrize("others", ["1_2,3,\n", ""])
def test_a_video_whose_files_would_be_those_of_another_task_is_refused(tmp_path, others):
    """Ids of tasks may hold underscores, and TASK_VIDEO names the files of a video."""
    tasks = {name: Task(name, name, ("stir",)) for name in ("1", "1_2")}
    (tmp_path / "videos.csv").write_text(f"{others}1,2_3,\n")
    with pytest.raises(InputError, match=r"line \d: the files 1_2_3 of video 2_3 of task 1 would be those of 3 of 1_2: rename"):
        read_videos(tmp_path / "videos.csv", tasks)
