"""Measurements of the fault tests, collected in a file by `make faults`."""

import fcntl
import json
import os
from pathlib import Path


def record(name: str, figures: dict[str, object]) -> None:
    """Add figures to the JSON file named by CROSSTASK_FAULT_FIGURES, if that variable is set."""
    path = os.environ.get("CROSSTASK_FAULT_FIGURES")
    if path:
        with Path(path).open("a+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # tests run in parallel
            file.seek(0)
            kept = json.loads(file.read() or "{}")
            file.truncate(0)
            file.write(json.dumps({**kept, name: figures}, indent=2, sort_keys=True) + "\n")
