"""SIGKILL at random moments of every verb that writes: the same command goes on, and ends with the bytes of an undisturbed run."""

import os
import random

import pytest

from faults.figures import record
from faults.verbs import VERBS, Bench

KILLS = int(os.environ.get("CROSSTASK_KILLS", "20"))
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork"),
]


@pytest.mark.parametrize("verb", VERBS)
def test_killed_at_random_it_ends_with_the_same_bytes(verb, warm, tmp_path):
    warm.load(Bench(tmp_path / "loading", verb).argv)
    bench = Bench(tmp_path / "bench", verb)
    bench.clear()
    undisturbed = warm.run(bench.argv)
    assert undisturbed["code"] == 0, undisturbed["said"]
    bench.whole = bench.left()
    bench.clear()
    rng = random.Random(f"{verb} {KILLS}")
    kills = finished = unfinished_seen = resumed = in_a_row = 0
    while kills < KILLS:
        # Several kills hit the same run before it may end; then it begins anew.
        patience = 1.15 if in_a_row < 6 else 10
        done = warm.run(bench.argv, rng.uniform(0, patience * undisturbed["seconds"]))
        resumed += "resumed at" in done["said"]
        if done["code"] is None:
            kills += 1
            in_a_row += 1
            unfinished_seen += bench.refuse_halves() > 0
            continue
        assert done["code"] == 0, done["said"]
        assert bench.left() == bench.whole
        finished, in_a_row = finished + 1, 0
        bench.clear()
    last = warm.run(bench.argv)
    assert last["code"] == 0 and bench.left() == bench.whole, last["said"]
    record(
        f"kills: {verb}",
        {"kills": kills, "finished": finished + 1, "kills_that_left_something_unfinished": unfinished_seen, "resumed": resumed},
    )
