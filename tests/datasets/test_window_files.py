import pytest

from crosstask.datasets import write_step_intervals, write_windows
from crosstask.datasets.subtitle_folders import SubtitleFolders
from crosstask.datasets.window_files import read_windows
from crosstask.records import InputError, Interval, StepInterval, Task, VideoKey

MILK, WATER = (StepInterval(0, Interval(1, 4)),), (StepInterval(1, Interval(5, 9)),)


def test_windows_made_for_other_steps_are_not_used(tmp_path, caplog):
    tasks = {"1": Task("1", "Make Latte", ("pour milk", "stir")), "2": Task("2", "Make Tea", ("boil water", "pour water"))}
    keys = VideoKey("1", "a_b"), VideoKey("2", "c")
    write_windows(tmp_path, tasks, {keys[0]: MILK, keys[1]: WATER})
    assert dict(read_windows(tmp_path, tasks)) == {keys[0]: MILK, keys[1]: WATER} and not caplog.messages
    reordered = tasks | {"1": Task("1", "Make Latte", ("stir", "pour milk"))}
    assert dict(read_windows(tmp_path, reordered)) == {keys[1]: WATER} and keys[0] not in read_windows(tmp_path, reordered)
    assert "the windows of 1 were made for other steps and are not used" in caplog.text
    write_windows(tmp_path, reordered, {}, kept=keys)
    assert dict(read_windows(tmp_path, reordered)) == {keys[1]: WATER}
    write_windows(tmp_path, reordered, {})
    assert dict(read_windows(tmp_path, reordered)) == {}


def test_windows_of_earlier_versions_which_did_not_record_the_steps_are_read(tmp_path):
    task = Task("1", "Make Latte", ("pour milk", "stir"))
    write_step_intervals(tmp_path / "1_a.csv", MILK)
    assert dict(read_windows(tmp_path, {"1": task})) == {VideoKey("1", "a"): MILK}
    (tmp_path / "steps.json").write_text("[")
    with pytest.raises(InputError, match=r"steps.json: damaged"):
        read_windows(tmp_path, {"1": task})


def test_files_that_narrate_is_not_known_to_have_written_are_not_removed(tmp_path):
    write_step_intervals(tmp_path / "mine.csv", MILK)
    with pytest.raises(
        InputError, match=r"mine.csv would be removed, and no steps.json shows that `narrate` wrote it; move these files away"
    ):
        write_windows(tmp_path, {"1": Task("1", "Make Latte", ("pour milk", "stir"))}, {})
    assert (tmp_path / "mine.csv").is_file()


def test_windows_of_an_interrupted_writer_are_not_used(tmp_path, monkeypatch):
    task, key = Task("1", "Make Latte", ("pour milk", "stir")), VideoKey("1", "a")
    write_windows(tmp_path, {"1": task}, {key: MILK})
    reordered = {"1": Task("1", "Make Latte", ("stir", "pour milk"))}

    def killed(path, intervals):
        raise KeyboardInterrupt

    monkeypatch.setattr("crosstask.datasets.window_files.write_step_intervals", killed)
    with pytest.raises(KeyboardInterrupt):
        write_windows(tmp_path, reordered, {key: MILK})
    with pytest.raises(
        InputError, match="`narrate` or `run` was interrupted while it wrote them; wait until it has ended, or repeat it"
    ):
        list(read_windows(tmp_path, reordered))
    monkeypatch.undo()
    write_windows(tmp_path, reordered, {key: WATER})
    assert dict(read_windows(tmp_path, reordered)) == {key: WATER}


def test_a_reader_has_the_windows_of_one_moment(tmp_path):
    """Another command may make them again while a training goes on."""
    tasks, keys = {"1": Task("1", "Make Latte", ("pour milk", "stir"))}, (VideoKey("1", "a"), VideoKey("1", "b"))
    write_windows(tmp_path, tasks, dict.fromkeys(keys, MILK))
    before, late = read_windows(tmp_path, tasks), read_windows(tmp_path, tasks)
    assert before[keys[0]] == MILK
    write_windows(tmp_path, tasks, dict.fromkeys(keys, WATER))
    assert before[keys[1]] == MILK
    with pytest.raises(InputError, match="made again after the corpus was opened; open it again, or repeat the command"):
        late[keys[0]]
    assert read_windows(tmp_path, tasks)[keys[1]] == WATER


@pytest.mark.parametrize("task_id", ["1", "make_latte"])
def test_windows_of_subtitles_that_changed_or_are_gone_are_not_used(tmp_path, task_id):
    task, keys = Task(task_id, "Make Latte", ("pour milk", "stir")), [VideoKey(task_id, name) for name in ("a", "b", "c")]
    said = tmp_path / "subtitles"
    said.mkdir()
    for name in "abc":
        (said / f"{name}.vtt").write_text("WEBVTT")
    folder, windows = tmp_path / "windows", dict.fromkeys(keys, MILK)
    write_windows(folder, {task_id: task}, windows, SubtitleFolders((said,)))
    (said / "a.vtt").write_text("WEBVTT edited")
    (said / "b.vtt").unlink()
    assert set(read_windows(folder, {task_id: task}, SubtitleFolders((said,)))) == {keys[2]}
    write_windows(folder, {task_id: task}, {keys[0]: WATER}, SubtitleFolders((said,)), kept=keys)
    assert dict(read_windows(folder, {task_id: task}, SubtitleFolders((said,)))) == {keys[0]: WATER, keys[2]: MILK}
