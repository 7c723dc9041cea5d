"""Windows compared with annotation, counted by hand."""

import pytest

from crosstask.metrics.windows import score_windows
from crosstask.records import Corpus, Interval, StepInterval, Task, Video

A, B = Video("1", "a"), Video("2", "b")
TASKS = {"1": Task("1", "one", ("x", "y", "z")), "2": Task("2", "two", ("x",))}


def intervals(*items: tuple[int, float, float]) -> tuple[StepInterval, ...]:
    return tuple(StepInterval(k, Interval(start, end)) for k, start, end in items)


CORPUS = Corpus(
    "c", TASKS, (A, B), seconds={"a": 100, "b": 50},
    annotations={A.key: intervals((0, 10, 20), (1, 30.5, 34.5), (0, 60, 70)), B.key: intervals((0, 0, 10))},
)  # fmt: skip


def test_figures_by_hand() -> None:
    windows = {A.key: intervals((0, 14, 24), (1, 40, 48), (2, 80, 90)), B.key: intervals((0, 5, 15))}
    scores = score_windows(CORPUS, [A, B], windows)
    # task 1: truth 10 + 10 + 5 (30.5-34.5 touches 30..34); windows 10 + 8 + 10; common 6; step 0 midpoint 19 hits, step 1 outside
    assert scores.tasks["1"] == pytest.approx(
        {"precision": 6 / 28, "recall": 6 / 25, "iou": 6 / 47, "hit_rate": 1 / 2, "outside": 1 / 2, "mean_window_s": 28 / 3}
    )
    # task 2: midpoint 10 lies just after [0, 10)
    assert scores.tasks["2"] == pytest.approx(
        {"precision": 1 / 2, "recall": 1 / 2, "iou": 5 / 15, "hit_rate": 0, "outside": 0, "mean_window_s": 10}
    )
    assert scores.precision == pytest.approx((6 / 28 + 1 / 2) / 2)
    assert set(scores.to_json()) == {"precision", "recall", "iou", "hit_rate", "outside", "mean_window_s", "tasks"}


def test_the_truth_itself_is_perfect() -> None:
    scores = score_windows(CORPUS, [B], CORPUS.annotations)
    assert (scores.precision, scores.recall, scores.iou, scores.hit_rate, scores.outside) == (1, 1, 1, 1, 0)


def test_steps_of_a_video_without_windows_are_missed() -> None:
    scores = score_windows(CORPUS, [A], {})
    assert (scores.precision, scores.recall, scores.outside, scores.mean_window_s) == (0, 0, 1, 0)


def test_no_videos_give_no_tasks() -> None:
    assert score_windows(CORPUS, [], {}).to_json()["tasks"] == {}
