import numpy as np
import pytest
from scipy import stats

from crosstask.evaluation.paired import METRICS, compare_methods, mean_interval, paired_difference, summarise_method


def test_the_interval_is_that_of_scipy():
    values = np.random.default_rng(0).normal(size=12)
    interval = mean_interval(values)
    low, high = stats.t.interval(0.95, 11, loc=values.mean(), scale=stats.sem(values))
    assert (interval["mean"], interval["low"], interval["high"]) == pytest.approx((values.mean(), low, high))
    assert paired_difference(values, np.zeros(12)) == interval


def test_a_single_run_has_no_interval():
    assert mean_interval([0.25]) == {"mean": 0.25, "low": None, "high": None}


def test_two_methods_are_compared_run_by_run_and_task_by_task():
    def result(a, b):
        measure = {"mean": (a + b) / 2, "tasks": {"a": a, "b": b}}
        return {**dict.fromkeys(METRICS, measure), "videos": 4, "trained_on": 2, "skipped": {}}

    first, second = summarise_method([result(0.5, 0.3), result(0.7, 0.3)]), summarise_method([result(0.4, 0.4), result(0.6, 0.4)])
    assert first["recall"]["tasks"]["a"]["mean"] == pytest.approx(0.6) and first["recall"]["runs"] == [0.4, 0.5]
    difference = compare_methods(first, second)["recall"]
    assert difference["mean"] == pytest.approx(0.0) and difference["tasks"] == pytest.approx({"a": 0.1, "b": -0.1})
    assert (difference["tasks_won"], difference["of_tasks"]) == (1, 2)
