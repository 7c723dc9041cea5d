"""A failing disk or too little memory: one line of error, no incomplete file, and repeating the command gives the same bytes."""

import errno
import os
import re
from collections import Counter

import pytest

from faults.figures import record
from faults.verbs import VERBS, Workspace

MOST_CALLS = 60 if int(os.environ.get("CROSSTASK_KILLS", "20")) > 20 else 1  # of each kind that fail, one at a time
FAULTS = [
    ("open", errno.EROFS),
    ("open", errno.EACCES),
    ("write", errno.ENOSPC),
    ("write", errno.EIO),
    ("short write", errno.ENOSPC),
    ("pwrite", errno.ENOSPC),
    ("fsync", errno.EIO),
    ("fsync", errno.ENOSPC),
    ("rename", errno.EACCES),
    ("rename", errno.ENOSPC),
    ("unlink", errno.EACCES),
    ("lock", errno.EROFS),
    ("mmap", errno.ENOMEM),
    ("allocate", errno.ENOMEM),
]
pytestmark = pytest.mark.slow


def calls_to_fail(calls, number):
    """Which of the calls 1..n to fail: all of them, or as many as are tried, evenly spread; a single one differs between faults."""
    if MOST_CALLS == 1:
        return [1 + (5 * number) % calls]
    return sorted({1 + i * calls // min(calls, MOST_CALLS) for i in range(min(calls, MOST_CALLS))})


@pytest.mark.parametrize("verb", VERBS)
def test_disk_errors_are_reported_and_recoverable(verb, warm, tmp_path):
    warm.load(Workspace(tmp_path / "loading", verb).argv)
    workspace = Workspace(tmp_path / "bench", verb)
    workspace.clear()
    assert warm.run(workspace.argv)["code"] == 0
    workspace.expected = workspace.files()
    tried, output, counted, seen = 0, {}, {}, 0
    for i, (operation, number) in enumerate(FAULTS):
        if operation not in counted:
            workspace.clear()
            counted[operation] = warm.run(workspace.argv, fault=(operation, 0, number))["calls"]
        calls = counted[operation]
        seen += calls
        for nth in calls_to_fail(calls, i) if calls else []:
            workspace.clear()
            failed = warm.run(workspace.argv, fault=(operation, nth, number))
            where = f"{operation} {nth} of {calls}, {errno.errorcode[number]}"
            errors = [line for line in failed["output"].splitlines() if line.startswith("error: ")]
            assert failed["code"] in (0, 2) and "Traceback" not in failed["output"], (where, failed["output"])
            assert len(errors) == (failed["code"] == 2), (where, failed["output"])
            if (
                "cannot be read" not in failed["output"]
            ):  # a video that cannot be read is named and left out, until the next command
                workspace.check_files(where)
            again = warm.run(workspace.argv)
            assert again["code"] == 0 and workspace.files() == workspace.expected, (where, again["output"])
            tried += 1
            output.setdefault(f"exit code {failed['code']}", []).append(where)
    assert tried > 0
    by_operation = Counter(re.split(r" \d", where)[0] for failed_calls in output.values() for where in failed_calls)
    record(
        f"failing disk: {verb}",
        {
            "faults": tried,
            "calls": seen,
            "faults_by_operation": dict(by_operation),
            **{code: len(failed_calls) for code, failed_calls in output.items()},
        },
    )
