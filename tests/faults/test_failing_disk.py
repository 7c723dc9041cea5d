"""A full, broken, read-only or inaccessible disk: one line of error, no incomplete file, and repeating the command gives the same bytes."""

import errno
import os
from collections import Counter

import pytest

from faults.figures import record
from faults.verbs import VERBS, Workspace

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


def calls_to_fail(calls, number):
    """Which of the calls 1..n to fail: all of them, or one that differs between faults."""
    return list(range(1, calls + 1)) if EVERY_CALL else [1 + (5 * number) % calls]


@pytest.mark.parametrize("verb", VERBS)
def test_disk_errors_are_reported_and_recoverable(verb, warm, tmp_path):
    warm.load(Workspace(tmp_path / "loading", verb).argv)
    workspace = Workspace(tmp_path / "bench", verb)
    workspace.clear()
    assert warm.run(workspace.argv)["code"] == 0
    workspace.expected = workspace.files()
    tried, output = 0, {}
    for i, (operation, number) in enumerate(FAULTS):
        workspace.clear()
        calls = warm.run(workspace.argv, fault=(operation, 0, number))["calls"]
        for nth in calls_to_fail(calls, i) if calls else []:
            workspace.clear()
            failed = warm.run(workspace.argv, fault=(operation, nth, number))
            where = f"{operation} {nth} of {calls}, {errno.errorcode[number]}"
            errors = [line for line in failed["output"].splitlines() if line.startswith("error: ")]
            assert failed["code"] in (0, 2) and "Traceback" not in failed["output"], (where, failed["output"])
            assert len(errors) == (failed["code"] == 2), (where, failed["output"])
            workspace.check_files()
            again = warm.run(workspace.argv)
            assert again["code"] == 0 and workspace.files() == workspace.expected, (where, again["output"])
            tried += 1
            output.setdefault(f"exit code {failed['code']}", []).append(where)
    assert tried > 0
    by_operation = Counter(where.split(" ")[0] for failed_calls in output.values() for where in failed_calls)
    record(
        f"failing disk: {verb}",
        {
            "faults": tried,
            "every_call_failed_once": EVERY_CALL,
            "faults_by_operation": dict(by_operation),
            **{code: len(failed_calls) for code, failed_calls in output.items()},
        },
    )
