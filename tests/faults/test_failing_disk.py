"""A disk that is full, broken, read-only or closed to us at any call: one line, no half file, and the same command then ends with the same bytes."""

import errno
import os

import pytest

from faults.figures import record
from faults.verbs import VERBS, Bench

EVERY_CALL = int(os.environ.get("CROSSTASK_KILLS", "20")) > 20  # or one call of each kind
FAULTS = [
    ("open", errno.EROFS),
    ("open", errno.EACCES),
    ("write", errno.ENOSPC),
    ("write", errno.EIO),
    ("fsync", errno.EIO),
    ("fsync", errno.ENOSPC),
    ("rename", errno.EACCES),
    ("rename", errno.ENOSPC),
    ("unlink", errno.EACCES),
    ("lock", errno.EROFS),
    ("mmap", errno.ENOMEM),
]
pytestmark = pytest.mark.slow


def places(calls, number):
    """Which of the calls 1..n fail in turn: all, or one that moves on from fault to fault."""
    return list(range(1, calls + 1)) if EVERY_CALL else [1 + (5 * number) % calls]


@pytest.mark.parametrize("verb", VERBS)
def test_a_failing_disk_is_said_in_one_line_and_costs_nothing(verb, warm, tmp_path):
    warm.load(Bench(tmp_path / "loading", verb).argv)
    bench = Bench(tmp_path / "bench", verb)
    bench.clear()
    assert warm.run(bench.argv)["code"] == 0
    bench.whole = bench.left()
    tried, said = 0, {}
    for i, (operation, number) in enumerate(FAULTS):
        bench.clear()
        calls = warm.run(bench.argv, fault=(operation, 0, number))["calls"]
        for nth in places(calls, i) if calls else []:
            bench.clear()
            failed = warm.run(bench.argv, fault=(operation, nth, number))
            where = f"{operation} {nth} of {calls}, {errno.errorcode[number]}"
            errors = [line for line in failed["said"].splitlines() if line.startswith("error: ")]
            assert failed["code"] in (0, 2) and "Traceback" not in failed["said"], (where, failed["said"])
            assert len(errors) == (failed["code"] == 2), (where, failed["said"])
            bench.refuse_halves()
            again = warm.run(bench.argv)
            assert again["code"] == 0 and bench.left() == bench.whole, (where, again["said"])
            tried += 1
            said.setdefault(f"exit code {failed['code']}", []).append(where)
    assert tried > 0
    record(f"failing disk: {verb}", {"faults": tried, **{code: len(places) for code, places in said.items()}})
