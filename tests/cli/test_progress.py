"""Progress elsewhere than on a terminal: a line for every tenth of many pieces, or every few seconds, with the time that is left."""

import pytest

from crosstask.cli import progress as module
from crosstask.cli.progress import progress


@pytest.fixture
def clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(module, "perf_counter", lambda: now[0])
    monkeypatch.setattr(module.sys.stderr, "isatty", lambda: False, raising=False)
    return now


def lines(capsys, clock, total, seconds_each):
    with progress("packing", total) as advance:
        for _ in range(total):
            clock[0] += seconds_each
            advance()
    return capsys.readouterr().err.splitlines()


def test_every_tenth_of_many_pieces_is_told_with_an_estimate(capsys, clock):
    said = lines(capsys, clock, 1000, 0.1)
    assert said[:2] == ["packing: 100 of 1000, about 90 s left", "packing: 200 of 1000, about 80 s left"]
    assert said[-1] == "packing: 1000 of 1000" and len(said) > 9


def test_slow_pieces_are_told_every_fifteen_seconds(capsys, clock):
    assert lines(capsys, clock, 8, 10.0) == [
        "packing: 3 of 8, about 50 s left", "packing: 5 of 8, about 30 s left", "packing: 7 of 8, about 10 s left"
    ]  # fmt: skip


def test_quick_work_is_told_without_an_estimate_and_few_quick_pieces_not_at_all(capsys, clock):
    assert lines(capsys, clock, 100, 0.001)[0] == "packing: 10 of 100"
    assert lines(capsys, clock, 50, 0.001) == []
