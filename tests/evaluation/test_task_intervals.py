import numpy as np
import pytest

from crosstask.evaluation.task_intervals import mean_recall, recall_by_task, sign_flip_p, task_difference


def counts(recalls, present=20, groups=("P1", "P2")):
    return {task: dict.fromkeys(groups, (recall * present, present)) for task, recall in recalls.items()}


def test_recall_pools_groups_and_leaves_out_tasks_without_steps():
    assert recall_by_task({"a": {"P1": (1, 4), "P2": (3, 4)}, "b": {"P1": (0, 0)}}) == {"a": 0.5}


def test_a_difference_common_to_all_tasks_has_an_interval_without_zero():
    base = {str(i): 0.3 + 0.05 * i for i in range(8)}
    found = task_difference(counts({t: r + 0.1 for t, r in base.items()}), counts(base))
    assert found["mean"] == pytest.approx(0.1) and found["low"] == pytest.approx(0.1) and found["high"] == pytest.approx(0.1)
    assert found["p"] == pytest.approx(2 / 2**8) and found["tasks_won"] == 8


def test_one_large_task_does_not_make_an_interval():
    first = counts({"a": 0.9, "b": 0.3, "c": 0.3, "d": 0.3})
    found = task_difference(first, counts(dict.fromkeys("abcd", 0.3)))
    assert found["low"] == pytest.approx(0) and found["high"] > 0.3 and found["p"] == 1.0


def test_people_are_drawn_within_tasks():
    """One task of ten people: half of them won by all, half lost; the interval of two such tasks covers zero."""
    first = {t: {f"P{i}": ((1.0 if i % 2 else 0.0), 1.0) for i in range(10)} for t in "ab"}
    second = {t: {f"P{i}": (0.5, 1.0) for i in range(10)} for t in "ab"}
    found = task_difference(first, second)
    assert found["mean"] == pytest.approx(0) and found["low"] < -0.1 and found["high"] > 0.1


def test_the_interval_covers_the_truth_about_as_often_as_it_says():
    rng, covered = np.random.default_rng(0), 0
    for trial in range(60):
        gains = 0.05 + 0.1 * rng.standard_normal(12)
        first = counts({str(i): 0.4 + g for i, g in enumerate(gains)})
        found = task_difference(first, counts({str(i): 0.4 for i in range(12)}), seed=trial)
        covered += found["low"] <= 0.05 <= found["high"]
    assert covered >= 50


def test_many_tasks_use_drawn_sign_patterns():
    p = sign_flip_p(np.full(30, 0.1), np.random.default_rng(0))
    assert 0 < p < 0.001


def test_mean_recall_has_an_interval():
    found = mean_recall(counts({"a": 0.2, "b": 0.6}))
    assert found["mean"] == pytest.approx(0.4) and found["low"] < 0.4 < found["high"] and found["tasks"] == {"a": 0.2, "b": 0.6}


def test_no_common_task_has_no_mean():
    assert task_difference(counts({"a": 0.2}), counts({"b": 0.2}))["mean"] is None
