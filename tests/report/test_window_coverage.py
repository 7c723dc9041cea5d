import numpy as np

from crosstask.records import Interval, StepInterval, Task, VideoKey
from crosstask.report.window_coverage import BINS, coverage, window_coverage_section


def test_coverage_is_the_share_of_videos_whatever_their_lengths():
    first = (VideoKey("t", "a"), 80, (StepInterval(0, Interval(0, 20)), StepInterval(1, Interval(60, 80))))
    second = (VideoKey("t", "b"), 400, (StepInterval(0, Interval(0, 200)),))
    covered = coverage([first, second], 3)
    quarter = BINS // 4
    np.testing.assert_array_equal(covered[0], [1] * quarter + [0.5] * quarter + [0] * 2 * quarter)
    np.testing.assert_array_equal(covered[1], [0] * 3 * quarter + [0.5] * quarter)
    assert not covered[2].any()


def test_two_windows_of_one_step_in_a_video_count_once():
    twice = (VideoKey("t", "a"), 40, (StepInterval(0, Interval(0, 20)), StepInterval(0, Interval(10, 30))))
    assert coverage([twice], 1).max() == 1


def test_a_strip_per_task_that_has_windows():
    tasks = {name: Task(name, f"Make <{name}>", ("pour milk", "stir")) for name in ("a", "b")}
    drawn = window_coverage_section(tasks, [(VideoKey("a", "v"), 40, (StepInterval(1, Interval(20, 30)),))])
    assert drawn.count("<details") == 1 and "Make &lt;a&gt; (videos with windows: 1)" in drawn and "stir mostly at 51 %" in drawn
    assert window_coverage_section(tasks, []) == ""


def test_many_tasks_stay_small():
    tasks = {f"t{i}": Task(f"t{i}", f"Task {i}", tuple(f"step number {k}" for k in range(11))) for i in range(90)}
    spans = tuple(StepInterval(k, Interval(3 * k + 0.3, 3 * k + 9.7)) for k in range(11))
    drawn = window_coverage_section(tasks, [(VideoKey(name, f"v{j}"), 60 + 7 * j, spans) for name in tasks for j in range(9)])
    assert len(drawn) < 400_000 and "The first 24 of 90 tasks" in drawn
