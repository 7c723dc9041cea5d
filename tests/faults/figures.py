"""What was counted and measured, kept where `make faults` asks for it."""

import fcntl
import json
import os
from pathlib import Path


def record(name: str, figures: dict[str, object]) -> None:
    """Add figures to the file that CROSSTASK_FAULT_FIGURES names; do nothing where it names none."""
    path = os.environ.get("CROSSTASK_FAULT_FIGURES")
    if path:
        with Path(path).open("a+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # tests run side by side
            file.seek(0)
            kept = json.loads(file.read() or "{}")
            file.truncate(0)
            file.write(json.dumps({**kept, name: figures}, indent=2, sort_keys=True) + "\n")
