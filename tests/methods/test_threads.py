"""Calls on threads: results in order, the first real error, and no call left running."""

from concurrent.futures import CancelledError
from threading import Event, Thread

import pytest

from crosstask.methods.threads import in_threads


def test_results_are_in_the_order_of_the_items():
    second = Event()

    def double(item):
        if item == 1:
            second.set()
        else:
            second.wait(10)  # the first ends after the second, which runs beside it
        return 2 * item

    assert in_threads(double, [0, 1], Event()) == [0, 2]


def test_an_error_stops_the_others_and_is_raised_itself():
    stopped, begun = Event(), []

    def run(item):
        begun.append(item)
        if item == 1:
            raise ValueError("the cause")
        if item == 0:
            assert stopped.wait(10)
            raise CancelledError
        return item

    with pytest.raises(ValueError, match="the cause"):
        in_threads(run, range(20), stopped)
    assert stopped.is_set() and len(begun) < 20


def test_nothing_runs_after_the_call():
    ended = []

    def run(item):
        ended.append(item)

    thread = Thread(target=lambda: in_threads(run, range(5), Event()))
    thread.start()
    thread.join(10)
    assert not thread.is_alive() and sorted(ended) == [0, 1, 2, 3, 4]
