import os
import time

from faults.figures import record

BEGUN = time.monotonic()


def pytest_sessionfinish(session):
    """Record how long fuzzing took, for `make fuzz`; only in the process that sees all tests."""
    if not hasattr(session.config, "workerinput"):
        examples = int(os.environ.get("CROSSTASK_FUZZ_EXAMPLES", "60"))
        record(
            "fuzzing",
            {
                "examples": examples,
                "examples_in_viewer": min(examples, max(60, examples // 10)),
                "tests": session.testscollected,
                "failed": session.testsfailed,
                "seconds": round(time.monotonic() - BEGUN),
            },
        )
