"""SIGKILL at random moments of every verb that writes: repeating the command gives the bytes of an uninterrupted one."""

import os
import random
from statistics import median

import pytest

from faults.figures import record
from faults.verbs import SLOW, VERBS, Workspace

KILLS = int(os.environ.get("CROSSTASK_KILLS", "20"))
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"),
]


def undisturbed_seconds(workspace, warm):
    """The seconds that a whole command takes, from nothing."""
    workspace.clear()
    done = warm.run(workspace.argv)
    assert done["code"] == 0, done["output"]
    return done["seconds"]


@pytest.mark.parametrize("verb", VERBS)
def test_killed_and_repeated_writes_the_same_bytes(verb, warm, tmp_path):
    warm.load(Workspace(tmp_path / "loading", verb).argv)
    workspace = Workspace(tmp_path / "bench", verb)
    undisturbed_s = median(undisturbed_seconds(workspace, warm) for _ in range(3))  # one run may wait for a busy machine
    workspace.expected = workspace.files()
    workspace.clear()
    rng = random.Random(f"{verb} {KILLS}")
    kills = finished_after_kills = undisturbed_runs = unfinished_seen = resumed = in_a_row = 0
    while kills < -(-KILLS // SLOW.get(verb, 1)):
        # Up to six kills in a row interrupt the same work; then it may finish and starts again from nothing.
        patience = 1.15 if in_a_row < 6 else 10
        done = warm.run(workspace.argv, rng.uniform(0, patience * undisturbed_s))
        resumed += "resumed at" in done["output"]
        if done["code"] is None:
            kills += 1
            in_a_row += 1
            unfinished_seen += workspace.check_files() > 0
            continue
        assert done["code"] == 0, done["output"]
        assert workspace.files() == workspace.expected
        finished_after_kills += in_a_row > 0
        undisturbed_runs += in_a_row == 0
        in_a_row = 0
        workspace.clear()
    last = warm.run(workspace.argv)
    assert last["code"] == 0 and workspace.files() == workspace.expected, last["output"]
    record(
        f"kills: {verb}",
        {
            "kills": kills,
            "killed_commands_that_then_finished": finished_after_kills + (in_a_row > 0),
            "undisturbed_commands": undisturbed_runs + (in_a_row == 0),
            "kills_that_left_something_unfinished": unfinished_seen,
            "resumed": resumed,
        },
    )
